//! The folder in which things are put together or taken apart, on the same file system as the vaults.
//!
//! What a crash left in it is removed by the next process that enters while nobody else is inside, with one exception: a
//! vault that was renamed aside to be replaced, and whose replacement never arrived, is put back under its name.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};

use undercroft_crypto::Entropy;

use crate::error::{Error, Result};
use crate::home::{Home, make_private_folder};
use crate::{name, registry};

/// In front of a vault's name: its old folder while a restored one takes its place.
const REPLACED: &str = "replaced-";

/// Held while something of this process lies in the staging folder.
pub(crate) struct Staging {
    area: PathBuf,
    /// Shared among those inside; whoever gets it alone knows that what lies there belongs to nobody.
    _lock: File,
}

impl Staging {
    /// Enters, and removes what crashed processes left when nobody else is inside.
    ///
    /// # Errors
    /// [`Error::Io`] when the folder cannot be made, locked or cleared.
    pub(crate) fn enter(home: &Home) -> Result<Self> {
        let area = home.root().join(".staging");
        make_private_folder(&area)?;
        let path = home.root().join("staging.lock");
        let lock = open_lock(&path)?;
        match lock.try_lock() {
            Ok(()) => {
                clear(home, &area)?;
                lock.unlock().map_err(Error::io("unlock", &path))?;
            }
            Err(TryLockError::WouldBlock) => {}
            Err(TryLockError::Error(source)) => return Err(Error::io("lock", &path)(source)),
        }
        lock.lock_shared().map_err(Error::io("lock", &path))?;
        Ok(Self { area, _lock: lock })
    }

    /// Puts back what an interrupted replacement left here. Does nothing, and writes nothing, when there is no such thing.
    ///
    /// # Errors
    /// Those of [`Staging::enter`].
    pub(crate) fn recover(home: &Home) -> Result<()> {
        let area = home.root().join(".staging");
        for folder in registry::folders_of(&area)? {
            if replaced_vault(&folder).is_some() {
                return Self::enter(home).map(drop);
            }
        }
        Ok(())
    }

    /// A name that is free, for something that is put together.
    pub(crate) fn fresh(&self, entropy: &dyn Entropy) -> PathBuf {
        let mut suffix = [0; 8];
        entropy.fill(&mut suffix);
        self.area.join(format!("{:016x}", u64::from_le_bytes(suffix)))
    }

    /// Renames the vault `name` out of the way for its replacement and returns where it is now. Whoever calls holds the
    /// vault alone; until another folder has its name, the next to enter after a crash puts it back.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub(crate) fn set_aside_replaced(&self, folder: &Path, name: &str) -> Result<PathBuf> {
        let target = self.area.join(format!("{REPLACED}{name}"));
        if target.try_exists().map_err(Error::io("look for", &target))? {
            // The vault is there, so an earlier replacement of it was completed and this is its waste.
            self.set_aside(&target)?;
        }
        fs::rename(folder, &target).map_err(Error::io("set aside", folder))?;
        Ok(target)
    }

    /// Renames `folder` out of the way and returns where it is now.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub(crate) fn set_aside(&self, folder: &Path) -> Result<PathBuf> {
        let mut number = 0_u32;
        loop {
            let target = self.area.join(format!("discarded-{}-{number}", std::process::id()));
            if target.try_exists().map_err(Error::io("look for", &target))? {
                number += 1;
                continue;
            }
            fs::rename(folder, &target).map_err(Error::io("set aside", folder))?;
            return Ok(target);
        }
    }
}

fn open_lock(path: &Path) -> Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path).map_err(Error::io("open", path))
}

/// The vault whose old folder this is, when it was set aside to be replaced.
fn replaced_vault(path: &Path) -> Option<String> {
    let vault = path.file_name()?.to_str()?.strip_prefix(REPLACED)?;
    name::vault(vault).ok().filter(|kept| kept == vault)
}

fn clear(home: &Home, area: &Path) -> Result<()> {
    for entry in fs::read_dir(area).map_err(Error::io("read the folder", area))? {
        let entry = entry.map_err(Error::io("read the folder", area))?;
        let path = entry.path();
        if put_back(home, &path)? {
            continue;
        }
        // A link is removed as itself, like a file that some other program left.
        let folder = entry.file_type().map_err(Error::io("look at", &path))?.is_dir();
        let removed = if folder { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
        removed.map_err(Error::io("remove", &path))?;
    }
    Ok(())
}

/// Undoes a replacement that stopped between its two renamings, and says whether it did.
fn put_back(home: &Home, path: &Path) -> Result<bool> {
    let Some(vault) = replaced_vault(path) else { return Ok(false) };
    let target = home.vaults().join(vault);
    if target.try_exists().map_err(Error::io("look for", &target))? {
        return Ok(false);
    }
    fs::rename(path, &target).map_err(Error::io("put back", &target))?;
    registry::sync(&home.vaults())?;
    Ok(true)
}

#[cfg(test)]
mod tests {
    use undercroft_crypto::OsEntropy;

    use super::*;

    fn home() -> (tempfile::TempDir, Home) {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::at(dir.path());
        (dir, home)
    }

    #[test]
    fn what_a_crash_left_is_removed_by_the_next_one_to_enter() {
        let (_dir, home) = home();
        let left = home.root().join(".staging/0123/deep");
        fs::create_dir_all(&left).unwrap();
        let staging = Staging::enter(&home).unwrap();
        assert!(!left.exists());
        assert!(staging.fresh(&OsEntropy) != staging.fresh(&OsEntropy));
    }

    #[test]
    fn a_vault_whose_replacement_never_arrived_is_put_back_and_a_replaced_one_removed() {
        let (_dir, home) = home();
        let vault = home.vaults().join("work");
        fs::create_dir_all(&vault).unwrap();
        fs::write(vault.join("old"), "x").unwrap();
        let staging = Staging::enter(&home).unwrap();
        let aside = staging.set_aside_replaced(&vault, "work").unwrap();
        drop(staging);
        Staging::recover(&home).unwrap();
        assert!(vault.join("old").exists() && !aside.exists());
        let staging = Staging::enter(&home).unwrap();
        staging.set_aside_replaced(&vault, "work").unwrap();
        fs::create_dir_all(&vault).unwrap();
        drop(staging);
        Staging::recover(&home).unwrap();
        assert!(!vault.join("old").exists() && !aside.exists());
    }

    #[test]
    fn a_stray_file_is_removed_like_a_folder() {
        let (_dir, home) = home();
        let stray = home.root().join(".staging/.DS_Store");
        fs::create_dir_all(stray.parent().unwrap()).unwrap();
        fs::write(&stray, "x").unwrap();
        Staging::enter(&home).unwrap();
        assert!(!stray.exists());
    }

    #[test]
    fn nothing_is_removed_under_somebody_who_is_inside() {
        let (_dir, home) = home();
        let first = Staging::enter(&home).unwrap();
        let work = first.fresh(&OsEntropy);
        fs::create_dir_all(&work).unwrap();
        let second = Staging::enter(&home).unwrap();
        assert!(work.exists());
        drop((first, second));
        Staging::enter(&home).unwrap();
        assert!(!work.exists());
    }

    #[test]
    fn what_is_set_aside_gets_a_name_of_its_own() {
        let (_dir, home) = home();
        let staging = Staging::enter(&home).unwrap();
        let moved: Vec<PathBuf> = ["a", "b"]
            .map(|name| {
                fs::create_dir_all(home.root().join(name)).unwrap();
                staging.set_aside(&home.root().join(name)).unwrap()
            })
            .to_vec();
        assert!(moved[0] != moved[1] && moved.iter().all(|path| path.exists()));
    }
}
