//! The manifest as a rollback anchor: it lags the chain, never leads it, and is written off the acknowledgement path.

use std::io::Read as _;
use std::path::Path;
use std::time::Instant;

use serde::Serialize;
use undercroft_crypto::{Anchor, ChainState, Manifest, ManifestKey, UnverifiedManifest, durable, regular};

use super::Vault;
use crate::audit;
use crate::error::{Error, Result};
use crate::limits;
use crate::storage::{lock, sqlite};

/// Name of the manifest in a vault's folder.
pub(crate) const MANIFEST: &str = "vault.json";

/// The manifest as this handle last wrote or read it.
#[derive(Debug)]
pub(crate) struct Anchored {
    manifest: Manifest,
    written: Instant,
}

/// What anchoring did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct AnchorReport {
    /// Whether the manifest now names the committed head.
    pub anchored: bool,
    /// Records that the manifest lagged before.
    pub behind_by: u64,
    /// The committed head, hex; `None` while nothing was written.
    #[cfg_attr(feature = "schema", schema(required))]
    pub chain_head: Option<String>,
    /// Height of the chain.
    pub writes: u64,
}

impl Anchored {
    pub(super) fn new(manifest: Manifest) -> Self {
        Self { manifest, written: Instant::now() }
    }

    pub(super) fn manifest(&self) -> &Manifest {
        &self.manifest
    }
}

impl Vault {
    /// Writes the committed chain head into the manifest, durably.
    ///
    /// # Errors
    /// When the vault is read-only, its state fails a check, or the manifest cannot be written.
    pub fn anchor(&self) -> Result<AnchorReport> {
        self.writing()?;
        let seen = *self.seen.lock();
        let snapshot = self.readers.snapshot()?;
        let chain = snapshot.with(|conn| {
            let chain = audit::state::load(conn, &self.keyring)?;
            self.check_extends(conn, &seen, &chain).map(|()| chain)
        })?;
        drop(snapshot);
        let behind_by = self.write_anchor(&chain)?;
        let writes = chain.height.get();
        Ok(AnchorReport {
            anchored: true,
            behind_by,
            chain_head: (writes > 0).then(|| chain.head.to_hex()),
            writes,
        })
    }

    /// After a commit: at most once an interval.
    pub(super) fn anchor_if_due(&self, chain: &ChainState) -> Result<()> {
        if self.manifest.lock().written.elapsed() < limits::ANCHOR_INTERVAL {
            return Ok(());
        }
        self.write_anchor(chain).map(|_| ())
    }

    /// Advances the anchor to `chain` unless another process has it further already; gives the lag that there was.
    fn write_anchor(&self, chain: &ChainState) -> Result<u64> {
        // Another vault's manifest, or that of an earlier copy, must not be given this chain's head.
        self.check_in_place()?;
        let mut anchored = self.manifest.lock();
        if anchored.manifest.anchor.height == chain.height {
            anchored.written = Instant::now();
            return Ok(0);
        }
        let _lock = lock::lock_anchor(&self.dir)?;
        let key = self.keyring.keys().manifest();
        let mut manifest = read(&self.dir)?.verify(key)?;
        let behind = chain.height.get().saturating_sub(manifest.anchor.height.get());
        if behind > 0 {
            manifest.anchor = Anchor { height: chain.height, head: chain.head };
            write(&self.dir, &manifest, key)?;
        }
        *anchored = Anchored::new(manifest);
        Ok(behind)
    }

    /// Advances the anchor to a chain that is durable in the database as of an entry of a log. It never goes back.
    pub(crate) fn anchor_at(&self, chain: &ChainState, log_id: String) -> Result<()> {
        self.check_in_place()?;
        let mut anchored = self.manifest.lock();
        if anchored.manifest.log_id.as_ref() == Some(&log_id) {
            return Ok(());
        }
        let _lock = lock::lock_anchor(&self.dir)?;
        let key = self.keyring.keys().manifest();
        let mut manifest = read(&self.dir)?.verify(key)?;
        if manifest.anchor.height <= chain.height {
            manifest.anchor = Anchor { height: chain.height, head: chain.head };
            manifest.log_id = Some(log_id);
            write(&self.dir, &manifest, key)?;
        }
        *anchored = Anchored::new(manifest);
        Ok(())
    }

    /// Rewrites the manifest with another embedder identity.
    pub(super) fn write_embedder(&self, name: &str, dimension: u32) -> Result<()> {
        let mut anchored = self.manifest.lock();
        let _lock = lock::lock_anchor(&self.dir)?;
        let key = self.keyring.keys().manifest();
        let mut manifest = read(&self.dir)?.verify(key)?;
        manifest.embedder = Some(undercroft_crypto::EmbedderIdentity { name: name.to_owned(), dimension });
        write(&self.dir, &manifest, key)?;
        *anchored = Anchored::new(manifest);
        Ok(())
    }
}

/// Reads the manifest of the vault in `dir`, unverified.
pub(crate) fn read(dir: &Path) -> Result<UnverifiedManifest> {
    let path = dir.join(MANIFEST);
    let file = match regular::open(&path) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Err(if sqlite::database_path(dir).exists() {
                Error::ManifestMissing(dir.to_path_buf())
            } else {
                Error::NoVault(dir.to_path_buf())
            });
        }
        Err(error) if regular::is_refusal(&error) => {
            return Err(Error::Damaged(format!("{MANIFEST} cannot be read: {error}")));
        }
        Err(error) => return Err(Error::io("read", &path)(error)),
    };
    // One byte more than a manifest can have: a longer file is refused by its parser, unread.
    let mut bytes = Vec::new();
    let most = undercroft_crypto::manifest::MANIFEST_MAX_BYTES as u64 + 1;
    file.take(most).read_to_end(&mut bytes).map_err(Error::io("read", &path))?;
    let text = String::from_utf8(bytes).map_err(|_| Error::record("manifest", MANIFEST, "it is not text"))?;
    Ok(UnverifiedManifest::parse(&text)?)
}

/// Writes the manifest durably: the old one or the new one is there, whatever happens.
pub(crate) fn write(dir: &Path, manifest: &Manifest, key: &ManifestKey) -> Result<()> {
    manifest.check()?;
    let path = dir.join(MANIFEST);
    durable::replace(&path, manifest.to_json(key).as_bytes(), 0o600).map_err(Error::io("write", &path))
}
