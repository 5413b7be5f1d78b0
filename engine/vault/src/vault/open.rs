//! Opening a vault: manifest, keys, database, chain against anchor. Everything is checked before anything is served, and
//! a read-only open writes nothing.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use parking_lot::Mutex;
use rusqlite::Connection;
use undercroft_crypto::{
    ChainState, KeyGeneration, LabelKey, Manifest, MasterKey, Salt, Tag, TagDomain, UnverifiedManifest,
    VaultKeys,
};

use super::anchor::{self, Anchored};
use super::create::KEYCHECK;
use super::handle::Access;
use super::reconcile::{Recovery, reconcile};
use super::writer::Writer;
use super::{Vault, embedder, validate};
use crate::audit;
use crate::config::VaultOptions;
use crate::error::{Error, Result};
use crate::index::LiveIndex;
use crate::keyring::Keyring;
use crate::storage::lock::{Identity, UseLock, Writers};
use crate::storage::snapshot::Readers;
use crate::storage::{meta, schema, sqlite};

impl Vault {
    /// Opens the vault in the folder `dir`.
    ///
    /// # Errors
    /// [`Error::NoVault`]; an integrity error when manifest, keys, database and chain do not belong together; a wrong
    /// master key cannot be told from a changed manifest.
    pub fn open(dir: &Path, master: &MasterKey, options: VaultOptions) -> Result<Self> {
        Self::open_as(dir, master, options, Access::Local)
    }

    /// As [`Vault::open`], for those who write it as `access` says: a vault of a cluster is written by its shard alone, and
    /// opening it writes nothing.
    pub(crate) fn open_as(
        dir: &Path,
        master: &MasterKey,
        options: VaultOptions,
        access: Access,
    ) -> Result<Self> {
        let unverified = anchor::read(dir)?;
        let name = unverified.name().to_owned();
        // Before any file is touched.
        check_mark(&unverified, access, options.read_only)?;
        let use_lock = UseLock::join(dir, &name, options.read_only)?;
        // Before the manifest is read that counts: who stops writing in between has moved its anchor by then.
        let (writers, others_write) = Writers::join(dir, options.read_only)?;
        // Read again under the lock: a restore may just have replaced the folder's contents.
        let unverified = anchor::read(dir)?;
        check_mark(&unverified, access, options.read_only)?;
        let (generation, salt) = newest_generation(unverified.generations())?;
        let keys = VaultKeys::derive(master, unverified.seal_id(), generation, &salt);
        let manifest = unverified.verify(keys.manifest())?;
        validate::name("vault", &manifest.name)?;
        let path = sqlite::database_path(dir);
        if !path.try_exists().map_err(Error::io("look for", &path))? {
            return Err(Error::DatabaseMissing(name));
        }
        sqlite::check_files(dir)?;
        let database = Identity::at(&path);
        let log_found = sqlite::wal_bytes(dir) > 0;
        let loaded = load(dir, (keys, generation), &manifest, &options, access)
            .map_err(|error| if log_found && !others_write { error.beside_a_log(&name) } else { error })?;
        let Loaded { opened, keyring, embedder, state: (recovery, seen) } = loaded;
        let readers = Readers::new(dir, opened.immutable);
        let writer = if options.read_only {
            readers.adopt(opened.conn);
            None
        } else {
            Some(Writer::new(&name, opened.conn))
        };
        let vault = Self {
            dir: dir.to_path_buf(),
            keyring,
            options,
            manifest: Mutex::new(Anchored::new(manifest)),
            writer,
            access,
            readers,
            index: LiveIndex::default(),
            seen: Mutex::new(seen),
            proved: AtomicBool::new(false),
            deferred: Mutex::new(None),
            embedder: Mutex::new(embedder),
            recovery,
            unhealed: opened.notes,
            use_lock: Mutex::new(use_lock),
            writers,
            database,
        };
        vault.accept_log(log_found, others_write)?.heal(others_write)
    }

    /// Moves a lagging anchor forward, or says that it was left. While others write a lag is what is to be expected: it is
    /// told only where nobody is left who would have moved it.
    fn heal(mut self, others_wrote: bool) -> Result<Self> {
        let Recovery::Behind(records) = self.recovery else { return Ok(self) };
        if self.access == Access::Shard {
            // The manifest of a replica lags by design: it moves with a checkpoint.
            return Ok(self);
        }
        let what = format!("the manifest anchor was {records} record(s) behind the committed chain head");
        let (lags, done) = if self.is_read_only() {
            let manifest = anchor::read(&self.dir)?.verify(self.keyring.keys().manifest())?;
            (manifest.anchor.height < self.seen.lock().height, "was left so (read-only)")
        } else {
            (self.anchor()?.behind_by > 0, "was moved forward")
        };
        if lags && !others_wrote && !self.writers.others()? {
            self.unhealed.push(format!("{what} and {done}"));
        }
        Ok(self)
    }
}

/// A replica is written through its shard, and nothing else is. Whoever takes the mark away by hand breaks the manifest's MAC.
fn check_mark(manifest: &UnverifiedManifest, access: Access, read_only: bool) -> Result<()> {
    let name = || manifest.name().to_owned();
    match access {
        Access::Local if manifest.is_of_cluster() && !read_only => Err(Error::OfCluster(name())),
        Access::Shard if !manifest.is_of_cluster() => Err(Error::NotOfCluster(name())),
        _ => Ok(()),
    }
}

/// What the database says, and the keys that it opens with.
struct Loaded {
    opened: OpenedDatabase,
    keyring: Keyring,
    embedder: embedder::Recorded,
    state: (Recovery, ChainState),
}

/// Opens the database and checks everything in it that an open depends on.
fn load(
    dir: &Path,
    (keys, generation): (VaultKeys, KeyGeneration),
    manifest: &Manifest,
    options: &VaultOptions,
    access: Access,
) -> Result<Loaded> {
    let mut opened = open_database(dir, options.read_only, access)?;
    let keyring = unlock(&opened.conn, keys, manifest, generation, options)?;
    check_schema(&opened, &keyring)?;
    let embedder = check_embedder(&opened.conn, &keyring, manifest, options, &mut opened.notes)?;
    let state = settle_state(&opened.conn, &keyring, manifest)?;
    Ok(Loaded { opened, keyring, embedder, state })
}

struct OpenedDatabase {
    conn: Connection,
    /// As the file is marked, which anybody can change.
    version: u32,
    immutable: bool,
    notes: Vec<String>,
}

fn open_database(dir: &Path, read_only: bool, access: Access) -> Result<OpenedDatabase> {
    let mut notes = Vec::new();
    let (conn, immutable) = match access {
        _ if read_only => sqlite::open_reader_anywhere(dir)?,
        Access::Local => (sqlite::open_writer(dir, false)?, false),
        Access::Shard => (sqlite::open_replica(dir)?, false),
    };
    if immutable {
        notes.push(String::from(
            "nothing can be written beside it, so the database is read as an immutable file",
        ));
    }
    let version = schema::version(&conn)?;
    Ok(OpenedDatabase { conn, version, immutable, notes })
}

fn newest_generation(generations: &[(KeyGeneration, Salt)]) -> Result<(KeyGeneration, Salt)> {
    let newest = generations.last().cloned();
    newest.ok_or_else(|| Error::record("manifest", anchor::MANIFEST, "it names no key generation"))
}

/// Proves that the database was sealed under these keys, and opens the label key.
fn unlock(
    conn: &Connection,
    keys: VaultKeys,
    manifest: &Manifest,
    generation: KeyGeneration,
    options: &VaultOptions,
) -> Result<Keyring> {
    let foreign = || Error::KeyCheck(manifest.name.clone());
    let (check, _) = meta::raw(conn, meta::key::KEYCHECK)?.ok_or_else(foreign)?;
    let check = Tag::from_slice(&check).map_err(|_| foreign())?;
    if check != keys.mac().tag(TagDomain::Keycheck, &[KEYCHECK]) {
        return Err(foreign());
    }
    let sealed = meta::get(conn, keys.mac(), meta::key::LABEL_KEY)?
        .ok_or_else(|| Error::record("meta", meta::key::LABEL_KEY, "its row is missing"))?;
    let label_key = LabelKey::open_from(keys.enc(), &manifest.seal_id, generation, &sealed)?;
    Ok(Keyring::new(keys, label_key, manifest.seal_id, generation, manifest.level, options.entropy.clone()))
}

/// The mark in the file's header must be the tagged one; then a version that is not known is a newer program's.
fn check_schema(opened: &OpenedDatabase, keyring: &Keyring) -> Result<()> {
    let tagged = meta::get(&opened.conn, keyring.mac(), meta::key::SCHEMA)?;
    if tagged.as_deref() == Some(&opened.version.to_le_bytes()) {
        return match opened.version {
            schema::SCHEMA_VERSION => Ok(()),
            found => Err(Error::Schema { found, known: schema::SCHEMA_VERSION }),
        };
    }
    Err(Error::record(
        "meta",
        meta::key::SCHEMA,
        "it is not the version that the database file is marked with",
    ))
}

/// Another embedder than the recorded one is refused unless forced.
fn check_embedder(
    conn: &Connection,
    keyring: &Keyring,
    manifest: &Manifest,
    options: &VaultOptions,
    unhealed: &mut Vec<String>,
) -> Result<embedder::Recorded> {
    let recorded = embedder::recorded(conn, keyring)?;
    let given = embedder::Recorded::given(options)?;
    if recorded != given {
        if !options.config.force_embedder {
            return Err(recorded.mismatch(options));
        }
        let (old, new) = (&recorded.name, &given.name);
        unhealed.push(format!("vectors are those of '{old}', not of '{new}'; run: undercroft repair"));
    }
    let stated = manifest.embedder.as_ref().map_or("none", |embedder| embedder.name.as_str());
    if stated != recorded.name {
        let held = &recorded.name;
        unhealed.push(format!(
            "the manifest names embedder '{stated}', the database '{held}'; run: undercroft repair"
        ));
    }
    Ok(recorded)
}

fn settle_state(conn: &Connection, keyring: &Keyring, manifest: &Manifest) -> Result<(Recovery, ChainState)> {
    conn.execute_batch("BEGIN")?;
    let result = audit::state::load(conn, keyring).and_then(|state| {
        let recovery = reconcile(conn, keyring, &manifest.name, &manifest.anchor, &state)?;
        Ok((recovery, state))
    });
    conn.execute_batch("ROLLBACK")?;
    result
}
