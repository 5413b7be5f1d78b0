//! Making a vault: built in a folder beside, durable, then renamed into place, so that a crash leaves none or a whole one.

use std::fs;
use std::path::{Path, PathBuf};

use rusqlite::Connection;
use undercroft_crypto::{
    Anchor, ChainState, EmbedderIdentity, Entropy, KeyGeneration, LabelKey, Level, MacKey, Manifest,
    MasterKey, Salt, SealId, TagDomain, VaultKeys, durable,
};

use super::embedder::{self, Recorded};
use super::{Vault, anchor, validate};
use undercroft_crypto::manifest::MANIFEST_VERSION;

use crate::audit;
use crate::clock::rfc3339;
use crate::config::VaultOptions;
use crate::error::{Error, Result};
use crate::keyring::Keyring;
use crate::storage::{counters, meta, schema, sqlite};

/// What every key check is a tag over.
pub(super) const KEYCHECK: &[u8] = b"undercroft/keycheck";

impl Vault {
    /// Makes the vault `name` in the folder `dir`, which must not exist, and opens it.
    ///
    /// # Errors
    /// [`Error::VaultExists`], an invalid name, or what the file system says.
    pub fn create(
        dir: &Path,
        name: &str,
        level: Level,
        master: &MasterKey,
        options: VaultOptions,
    ) -> Result<Self> {
        let name = validate::name("vault", name)?;
        let entropy = options.entropy.as_ref();
        let making = Making {
            stage: stage_path(dir.parent().unwrap_or(Path::new(".")), entropy),
            name,
            level,
            seal_id: SealId::generate(entropy),
            generation: KeyGeneration::first(),
            salt: Salt::generate(entropy),
            created_at: options.clock.now_micros(),
            log_id: None,
            entropy,
        };
        make_vault(dir, &making, master, &options, &|_, _| Ok(()))?;
        Self::open(dir, master, options)
    }
}

/// What a vault is made from.
pub(crate) struct Making<'a> {
    pub(crate) name: String,
    pub(crate) level: Level,
    pub(crate) seal_id: SealId,
    pub(crate) generation: KeyGeneration,
    pub(crate) salt: Salt,
    /// Microseconds since the epoch.
    pub(crate) created_at: i64,
    /// Its position in a log, which marks it as one of a cluster.
    pub(crate) log_id: Option<String>,
    /// Where the label key and the nonce around it are drawn from.
    pub(crate) entropy: &'a dyn Entropy,
    /// The folder in which it is put together, beside its place.
    pub(crate) stage: PathBuf,
}

/// Further rows of a new vault, written in the transaction that makes the others.
pub(crate) type MoreRows<'a> = &'a dyn Fn(&Connection, &MacKey) -> Result<()>;

/// Makes a vault in the folder `dir`, which must not exist, durably.
pub(crate) fn make_vault(
    dir: &Path,
    making: &Making<'_>,
    master: &MasterKey,
    options: &VaultOptions,
    more: MoreRows<'_>,
) -> Result<()> {
    let name = validate::name("vault", &making.name)?;
    if dir.exists() {
        return Err(Error::VaultExists(name));
    }
    let parent = dir.parent().unwrap_or(Path::new("."));
    make_folder(parent)?;
    let staged = &making.stage;
    make_folder(staged)?;
    let made = fill(staged, making, master, options, more).and_then(|()| put_in_place(staged, dir, &name));
    if made.is_err() {
        // What is left is not a vault: nothing lists it.
        let _ = fs::remove_dir_all(staged);
    }
    made?;
    durable::sync_dir(parent).map_err(Error::io("sync", parent))
}

/// A rename onto an existing vault would be refused by the system because the folder is not empty.
fn put_in_place(staged: &Path, dir: &Path, name: &str) -> Result<()> {
    fs::rename(staged, dir).map_err(|error| {
        if dir.exists() { Error::VaultExists(name.to_owned()) } else { Error::io("rename", staged)(error) }
    })
}

fn stage_path(parent: &Path, entropy: &dyn Entropy) -> PathBuf {
    let mut suffix = [0; 8];
    entropy.fill(&mut suffix);
    parent.join(format!(".new-{}", hex::encode(suffix)))
}

pub(crate) fn make_folder(path: &Path) -> Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    fs::DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(Error::io("create", path))
}

fn fill(
    dir: &Path,
    making: &Making<'_>,
    master: &MasterKey,
    options: &VaultOptions,
    more: MoreRows<'_>,
) -> Result<()> {
    let Making { level, seal_id, generation, salt, entropy, .. } = *making;
    let keys = VaultKeys::derive(master, &seal_id, generation, &salt);
    let label_key = LabelKey::generate(entropy);
    let sealed_label_key = label_key.seal_under(keys.enc(), &seal_id, generation, entropy);
    let dimension = u32::try_from(options.embedder.dimension())
        .map_err(|_| Error::invalid("embedder", "its dimension is over the limit"))?;
    let embedder = EmbedderIdentity { name: options.embedder.name().to_owned(), dimension };
    let keyring = Keyring::new(keys, label_key, seal_id, generation, level, options.entropy.clone());
    let conn = sqlite::open_writer(dir, true)?;
    restrict(&sqlite::database_path(dir))?;
    write_ledgers(&conn, &keyring, &sealed_label_key, &embedder, more)?;
    // Closing would move the log into the database too, and keep silent when it could not.
    sqlite::keep_log(&conn, false)?;
    if !sqlite::truncate_wal(&conn)? {
        return Err(Error::InUse(making.name.clone()));
    }
    conn.close().map_err(|(_, error)| error)?;
    let manifest = Manifest {
        version: MANIFEST_VERSION,
        name: making.name.clone(),
        level,
        seal_id,
        generations: vec![(generation, salt)],
        embedder: Some(embedder),
        created_at: rfc3339(making.created_at),
        anchor: genesis_anchor(),
        log_id: making.log_id.clone(),
    };
    anchor::write(dir, &manifest, keyring.keys().manifest())
}

fn write_ledgers(
    conn: &Connection,
    keyring: &Keyring,
    label_key: &[u8],
    identity: &EmbedderIdentity,
    more: MoreRows<'_>,
) -> Result<()> {
    conn.execute_batch("BEGIN IMMEDIATE")?;
    schema::create(conn, keyring.level())?;
    let mac = keyring.mac();
    meta::put(conn, mac, meta::key::SCHEMA, &schema::SCHEMA_VERSION.to_le_bytes())?;
    meta::put(conn, mac, meta::key::LABEL_KEY, label_key)?;
    meta::put(conn, mac, meta::key::KEYCHECK, mac.tag(TagDomain::Keycheck, &[KEYCHECK]).as_bytes())?;
    let recorded = Recorded { name: identity.name.clone(), dimension: identity.dimension };
    embedder::record(conn, keyring, &recorded)?;
    counters::create(conn, mac)?;
    audit::state::create(conn, keyring)?;
    more(conn, mac)?;
    conn.execute_batch("COMMIT")?;
    Ok(())
}

fn genesis_anchor() -> Anchor {
    let genesis = ChainState::genesis();
    Anchor { height: genesis.height, head: genesis.head }
}

/// Only the owner reads the database, whatever the process's file mask.
fn restrict(path: &Path) -> Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(path, fs::Permissions::from_mode(0o600)).map_err(Error::io("restrict", path))
}
