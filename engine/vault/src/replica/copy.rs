//! Whole copies of a copy: made from one committed state, proved where they arrive, put in the place of one that is missing,
//! behind or suspect. Moves no bytes between machines.

use std::fs::{self, File};
use std::path::Path;

use undercroft_crypto::{MasterKey, durable};

use super::files::{aside, sync_parents};
use super::state::{self, State};
use crate::config::VaultOptions;
use crate::error::{Error, Result};
use crate::storage::lock::UseLock;
use crate::vault::{Vault, make_folder, make_new};

/// Writes the vault, as one committed state shows it, into the folder `dir`, which must not exist. A read transaction on a
/// connection of its own does it, so writes go on. What comes back says what the copy holds.
///
/// # Errors
/// [`Error::Backup`] when the folder exists; what the file system refuses: nothing is left then.
pub fn copy_to(vault: &Vault, dir: &Path) -> Result<State> {
    if !vault.is_of_cluster() {
        return Err(Error::NotOfCluster(vault.name()));
    }
    vault.write_new_copy(dir, State::load)
}

/// Proves that the folder `dir` holds the whole copy that its sender named: every row, the chain, and where it stands.
///
/// # Errors
/// An integrity error when it does not.
pub fn verify_copy(
    dir: &Path,
    master: &MasterKey,
    options: &VaultOptions,
    expected: &State,
) -> Result<State> {
    let options = VaultOptions { read_only: true, ..options.clone() };
    let copy = state::open(dir, master, options)?;
    let found = state::state(&copy)?;
    if found != *expected {
        return Err(Error::record("copy", dir.display(), "it is not at the state that its sender named"));
    }
    if !copy.verify(&mut |_| {})?.ok {
        return Err(Error::record("copy", dir.display(), "it does not verify"));
    }
    Ok(found)
}

/// Puts the verified copy in `staged` into the place `dir`, durably; what was there is removed. At every moment, a crash
/// included, the one or the other is whole and in the place, where the file system can exchange two names.
///
/// # Errors
/// [`Error::InUse`] while somebody has the old one open; what the file system refuses.
pub fn install(staged: &Path, dir: &Path) -> Result<()> {
    if !dir.exists() {
        fs::rename(staged, dir).map_err(Error::io("rename", staged))?;
        return sync_parents(staged, dir);
    }
    let _alone = UseLock::alone(dir, &dir.display().to_string())?;
    let old = match exchange(staged, dir) {
        Ok(()) => staged.to_path_buf(),
        Err(_) => {
            let old = aside(dir, ".gone-")?;
            fs::rename(dir, &old).map_err(Error::io("rename", dir))?;
            fs::rename(staged, dir).map_err(Error::io("rename", staged))?;
            old
        }
    };
    sync_parents(staged, dir)?;
    fs::remove_dir_all(&old).map_err(Error::io("remove", &old))?;
    sync_parents(staged, dir)
}

#[cfg(target_os = "linux")]
fn exchange(one: &Path, other: &Path) -> std::io::Result<()> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    Ok(renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE)?)
}

#[cfg(not(target_os = "linux"))]
fn exchange(_: &Path, _: &Path) -> std::io::Result<()> {
    Err(std::io::ErrorKind::Unsupported.into())
}

/// Keeps the files of the folder `dir` as they are, for whoever looks into what happened to them, in the folder `to`, which
/// must not exist and is made for its owner alone. Nothing is opened as a database, so nothing changes by looking.
///
/// # Errors
/// What the file system refuses.
pub fn evidence_copy(dir: &Path, to: &Path) -> Result<()> {
    let parent = to.parent().unwrap_or(Path::new("."));
    make_folder(parent)?;
    make_new(to)?;
    for entry in fs::read_dir(dir).map_err(Error::io("read", dir))? {
        let entry = entry.map_err(Error::io("read", dir))?;
        // Links and devices are not followed: what counts is what lies in the folder.
        if !entry.file_type().map_err(Error::io("read", &entry.path()))?.is_file() {
            continue;
        }
        let target = to.join(entry.file_name());
        fs::copy(entry.path(), &target).map_err(Error::io("copy", &entry.path()))?;
        File::open(&target).and_then(|file| file.sync_all()).map_err(Error::io("sync", &target))?;
    }
    durable::sync_dir(to).map_err(Error::io("sync", to))?;
    durable::sync_dir(parent).map_err(Error::io("sync", parent))
}
