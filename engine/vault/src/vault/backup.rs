//! A consistent copy of a vault: database as of one moment, manifest anchored at that moment, verified after it was
//! written. Where copies lie and how many are kept is the palace's.

use std::fs::{self, File};
use std::path::Path;

use rusqlite::Connection;
use serde::Serialize;
use undercroft_crypto::{Anchor, MasterKey, durable};

use super::{Vault, anchor, create};
use crate::audit;
use crate::config::VaultOptions;
use crate::error::{Error, Result};
use crate::keyring::Keyring;
use crate::replica::applied;
use crate::storage::lock::UseLock;
use crate::storage::sqlite;

/// What a copy holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct BackupInfo {
    /// Drawers in it.
    pub records: u64,
    /// Height of its audit chain.
    pub chain_records: u64,
}

impl Vault {
    /// Writes a copy into the folder `dir`, which must not exist, and verifies what was written.
    ///
    /// # Errors
    /// [`Error::Backup`] when the folder exists or the copy does not verify; what the file system says.
    pub fn copy_to(&self, dir: &Path, master: &MasterKey) -> Result<BackupInfo> {
        self.keep_whole(dir, || {
            self.write_copy(dir, |_, _| Ok(()))?;
            self.check_copy(dir, master)
        })
    }

    /// As [`Vault::copy_to`], for a copy that is verified where it arrives; gives what `look` reads of it.
    pub(crate) fn write_new_copy<T>(
        &self,
        dir: &Path,
        look: impl FnOnce(&Connection, &Keyring) -> Result<T>,
    ) -> Result<T> {
        self.keep_whole(dir, || self.write_copy(dir, look))
    }

    /// Makes the folder, which must not exist, lets `work` fill it, and removes it when that fails: a copy that is not whole
    /// must not be taken for one.
    fn keep_whole<T>(&self, dir: &Path, work: impl FnOnce() -> Result<T>) -> Result<T> {
        let parent = dir.parent().unwrap_or(Path::new("."));
        create::make_folder(parent)?;
        make_new(dir)?;
        let copied = work();
        if copied.is_err() {
            let _ = fs::remove_dir_all(dir);
        }
        copied.and_then(|made| durable::sync_dir(parent).map(|()| made).map_err(Error::io("sync", parent)))
    }

    fn write_copy<T>(&self, dir: &Path, look: impl FnOnce(&Connection, &Keyring) -> Result<T>) -> Result<T> {
        let target = sqlite::database_path(dir);
        let text = target
            .to_str()
            .ok_or_else(|| Error::Backup(format!("{} is not a UTF-8 path", target.display())))?;
        // One statement is one read transaction; unlike the online backup it does not start again when writes go on.
        let conn = self.readers.connect()?;
        conn.pragma_update(None, "query_only", false)?;
        conn.execute("VACUUM INTO ?1", [text])?;
        drop(conn);
        sync_file(&target)?;
        let copy = sqlite::open_reader(dir)?;
        let chain = audit::state::load(&copy, &self.keyring)?;
        let seen = look(&copy, &self.keyring)?;
        let mut manifest = self.manifest();
        if manifest.log_id.is_some() {
            // The copy stands where its own rows say, whatever the manifest lags.
            manifest.log_id = Some(applied(&copy, self.keyring.mac())?.to_string());
        }
        drop(copy);
        manifest.anchor = Anchor { height: chain.height, head: chain.head };
        anchor::write(dir, &manifest, self.keyring.keys().manifest())?;
        durable::sync_dir(dir).map_err(Error::io("sync", dir))?;
        Ok(seen)
    }

    fn check_copy(&self, dir: &Path, master: &MasterKey) -> Result<BackupInfo> {
        let options = VaultOptions { read_only: true, ..self.options.clone() };
        let copy = Self::open(dir, master, options)?;
        let report = copy.verify(&mut |_| {})?;
        if !report.ok {
            return Err(Error::record("backup", dir.display(), "the copy does not verify"));
        }
        let stats = copy.stats()?;
        Ok(BackupInfo { records: stats.records, chain_records: stats.chain_records })
    }
}

/// Takes the vault in `dir` for oneself while `work` runs: for deleting and replacing it.
///
/// # Errors
/// [`Error::InUse`] when any handle is open on it; [`Error::OfCluster`] for a replica.
pub fn alone<T>(dir: &Path, name: &str, work: impl FnOnce() -> Result<T>) -> Result<T> {
    if anchor::read(dir).is_ok_and(|manifest| manifest.is_of_cluster()) {
        return Err(Error::OfCluster(name.to_owned()));
    }
    let _lock = UseLock::alone(dir, name)?;
    // The lock is one on a file that somebody may have removed under those who hold it.
    if sqlite::is_open_elsewhere(dir) {
        return Err(Error::InUse(name.to_owned()));
    }
    work()
}

/// Makes the folder, which must not exist: what stands there already is somebody's and stays.
pub(crate) fn make_new(dir: &Path) -> Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    fs::DirBuilder::new().mode(0o700).create(dir).map_err(|error| match error.kind() {
        std::io::ErrorKind::AlreadyExists => Error::Backup(format!("{} exists already", dir.display())),
        _ => Error::io("create", dir)(error),
    })
}

fn sync_file(path: &Path) -> Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    let file = File::options().write(true).open(path).map_err(Error::io("open", path))?;
    file.set_permissions(fs::Permissions::from_mode(0o600)).map_err(Error::io("restrict", path))?;
    file.sync_all().map_err(Error::io("sync", path))
}
