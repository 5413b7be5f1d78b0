//! The handle of one open vault: what it holds, and what it does when it is closed. What can be done with a vault stands
//! in the files beside.

use std::path::{Path, PathBuf};

use std::sync::atomic::AtomicBool;

use parking_lot::Mutex;
use undercroft_crypto::{ChainState, Level, Manifest};

use super::anchor::Anchored;
use super::embedder::Recorded;
use super::reconcile::Recovery;
use super::writer::Writer;
use crate::config::VaultOptions;
use crate::error::{Error, Result};
use crate::index::LiveIndex;
use crate::keyring::Keyring;
use crate::storage::lock::{Identity, UseLock, Writers};
use crate::storage::snapshot::Readers;
use crate::storage::sqlite;

/// Through whom a vault is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    /// Through the write door, by whoever has the folder.
    Local,
    /// Through the log of a shard alone. What a log holds is durable there: commits do not wait for the disk, and the
    /// manifest follows only what a checkpoint made durable.
    Shard,
}

/// One open vault. Shared between threads; writes queue on the one writing connection, reads do not.
pub struct Vault {
    pub(super) dir: PathBuf,
    pub(super) keyring: Keyring,
    pub(super) options: VaultOptions,
    pub(super) manifest: Mutex<Anchored>,
    /// `None` when the vault is open read-only.
    pub(super) writer: Option<Writer>,
    /// Through whom this handle is written.
    pub(super) access: Access,
    pub(super) readers: Readers,
    pub(super) index: LiveIndex,
    /// The chain as this handle last saw it committed: a file put back under an open handle shows.
    pub(super) seen: Mutex<ChainState>,
    /// Whether the chain was replayed from its beginning up to `seen`, so that its labels can be decided from.
    pub(super) proved: AtomicBool,
    /// What failed after a commit; refuses the next write.
    pub(super) deferred: Mutex<Option<Error>>,
    /// The embedder that the vault records, as of the opening or the last repair.
    pub(super) embedder: Mutex<Recorded>,
    pub(super) recovery: Recovery,
    pub(super) unhealed: Vec<String>,
    pub(super) use_lock: Mutex<UseLock>,
    pub(super) writers: Writers,
    /// The database that was opened.
    pub(super) database: Option<Identity>,
}

impl std::fmt::Debug for Vault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Vault")
            .field("name", &self.name())
            .field("level", &self.level())
            .finish_non_exhaustive()
    }
}

impl Vault {
    /// The vault's name.
    #[must_use]
    pub fn name(&self) -> String {
        self.manifest.lock().manifest().name.clone()
    }

    /// The vault's folder.
    #[must_use]
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Whether texts are sealed or only tagged.
    #[must_use]
    pub fn level(&self) -> Level {
        self.keyring.level()
    }

    /// Whether this handle can write.
    #[must_use]
    pub fn is_read_only(&self) -> bool {
        self.writer.is_none()
    }

    /// What opening found.
    #[must_use]
    pub fn recovery(&self) -> &Recovery {
        &self.recovery
    }

    /// What this handle saw and left as it is because it may not write, or healed and reports once.
    #[must_use]
    pub fn unhealed(&self) -> &[String] {
        &self.unhealed
    }

    /// The manifest as last written.
    #[must_use]
    pub fn manifest(&self) -> Manifest {
        self.manifest.lock().manifest().clone()
    }

    /// Bytes of the in-memory index; 0 while it is not loaded.
    #[must_use]
    pub fn index_bytes(&self) -> usize {
        self.index.memory_bytes()
    }

    /// Whether the folder still holds the database that is open, and neither another one nor none.
    #[must_use]
    pub fn is_in_place(&self) -> bool {
        self.database.is_some() && Identity::at(&sqlite::database_path(&self.dir)) == self.database
    }

    /// Anchors what was written, keeps the index image, and closes. Dropping does the same and swallows errors.
    ///
    /// # Errors
    /// When the manifest or the image cannot be written; the data itself is safe by then.
    pub fn close(self) -> Result<()> {
        self.settle()
    }

    pub(super) fn settle(&self) -> Result<()> {
        if self.writer.is_none() {
            return Ok(());
        }
        if self.access == Access::Local {
            self.anchor()?;
        }
        self.index.persist_if_due(self)?;
        self.readers.clear();
        Ok(())
    }

    pub(crate) fn keyring(&self) -> &Keyring {
        &self.keyring
    }

    pub(crate) fn index(&self) -> &LiveIndex {
        &self.index
    }

    pub(crate) fn readers(&self) -> &Readers {
        &self.readers
    }

    pub(crate) fn options(&self) -> &VaultOptions {
        &self.options
    }

    /// The writing connection, for changes that are made here.
    pub(super) fn writing(&self) -> Result<&Writer> {
        match self.access {
            Access::Local => self.writer.as_ref().ok_or(Error::ReadOnly),
            Access::Shard => Err(Error::OfCluster(self.name())),
        }
    }

    /// The writing connection, for changes that a shard's log holds.
    pub(crate) fn replicating(&self) -> Result<&Writer> {
        match self.access {
            Access::Local => Err(Error::NotOfCluster(self.name())),
            Access::Shard => self.writer.as_ref().ok_or(Error::ReadOnly),
        }
    }

    /// Whether the folder is marked as a replica of a cluster.
    #[must_use]
    pub fn is_of_cluster(&self) -> bool {
        self.manifest.lock().manifest().log_id.is_some()
    }

    /// Before something is written: the folder still holds the database that is open, and the lock on it still counts.
    /// What went into a file that was removed or exchanged would be acknowledged and lost.
    ///
    /// # Errors
    /// [`Error::Displaced`], or [`Error::InUse`] while somebody deletes or replaces the vault.
    pub(crate) fn check_in_place(&self) -> Result<()> {
        if !self.is_in_place() {
            return Err(Error::Displaced(self.name()));
        }
        self.use_lock.lock().keep()
    }

    pub(super) fn now(&self) -> i64 {
        self.options.clock.now_micros()
    }
}

impl Drop for Vault {
    fn drop(&mut self) {
        // A lagging anchor or a missing image is healed at the next open.
        let _ = self.settle();
    }
}
