//! The folder in which things are put together or taken apart, on the same file system as the vaults.
//!
//! What a crash left in it is never read; it is removed by the next process that enters while nobody else is inside.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};

use undercroft_crypto::Entropy;

use crate::error::{Error, Result};
use crate::home::{Home, make_private_folder};

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
                clear(&area)?;
                lock.unlock().map_err(Error::io("unlock", &path))?;
            }
            Err(TryLockError::WouldBlock) => {}
            Err(TryLockError::Error(source)) => return Err(Error::io("lock", &path)(source)),
        }
        lock.lock_shared().map_err(Error::io("lock", &path))?;
        Ok(Self { area, _lock: lock })
    }

    /// A name that is free, for something that is put together.
    pub(crate) fn fresh(&self, entropy: &dyn Entropy) -> PathBuf {
        let mut suffix = [0; 8];
        entropy.fill(&mut suffix);
        self.area.join(format!("{:016x}", u64::from_le_bytes(suffix)))
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

fn clear(area: &Path) -> Result<()> {
    for entry in fs::read_dir(area).map_err(Error::io("read the folder", area))?.flatten() {
        let path = entry.path();
        fs::remove_dir_all(&path).map_err(Error::io("remove", &path))?;
    }
    Ok(())
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
