//! Advisory locks in a vault's folder: who has it open (shared by every handle, exclusive for deletion and replacement), who
//! writes (shared by every writing handle), who rewrites the manifest, and who rewrites the index image. The operating
//! system releases them when a process dies.
//!
//! A lock is on a file and not on its name: a file that was removed or exchanged is noticed by its identity.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};

use undercroft_crypto::regular;

use crate::error::{Error, Result};

const USE: &str = "use.lock";
const WRITERS: &str = "writers.lock";
const ANCHOR: &str = "anchor.lock";
const IMAGE: &str = "image.lock";
/// How often a lock is taken again because its file was exchanged meanwhile.
const TRIES: usize = 8;

/// Which file a path or a handle leads to: device and number on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Identity(u64, u64);

impl Identity {
    fn of(metadata: &fs::Metadata) -> Self {
        use std::os::unix::fs::MetadataExt as _;
        Self(metadata.dev(), metadata.ino())
    }

    /// Of the file at `path`, `None` when there is none that can be looked at.
    pub(crate) fn at(path: &Path) -> Option<Self> {
        fs::metadata(path).ok().map(|metadata| Self::of(&metadata))
    }

    fn of_file(file: &File) -> Option<Self> {
        file.metadata().ok().map(|metadata| Self::of(&metadata))
    }
}

/// Held for as long as a handle is open.
#[derive(Debug)]
pub(crate) struct UseLock {
    dir: PathBuf,
    name: String,
    read_only: bool,
    file: Option<File>,
}

impl UseLock {
    /// Joins the users of the vault. A read-only handle of a folder without lock file takes none and writes none.
    pub(crate) fn join(dir: &Path, name: &str, read_only: bool) -> Result<Self> {
        Self::take(dir, name, read_only, File::try_lock_shared)
    }

    /// Takes the vault for oneself, or says that it is in use.
    pub(crate) fn alone(dir: &Path, name: &str) -> Result<Self> {
        Self::take(dir, name, false, File::try_lock)
    }

    fn take(
        dir: &Path,
        name: &str,
        read_only: bool,
        lock: fn(&File) -> Result<(), TryLockError>,
    ) -> Result<Self> {
        let path = dir.join(USE);
        let taken = |file| Self { dir: dir.to_path_buf(), name: name.to_owned(), read_only, file };
        for _ in 0..TRIES {
            let Some(file) = open(dir, USE, read_only)? else { return Ok(taken(None)) };
            match lock(&file) {
                Ok(()) if is_at(&path, &file) => return Ok(taken(Some(file))),
                // Exchanged between opening and locking: what is locked is not what others will lock.
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => return Err(Error::InUse(name.to_owned())),
                Err(TryLockError::Error(source)) => return Err(Error::io("lock", &path)(source)),
            }
        }
        Err(Error::InUse(name.to_owned()))
    }

    /// Joins again when the lock file was removed or exchanged: the lock on the old one keeps nobody away.
    pub(crate) fn keep(&mut self) -> Result<()> {
        match &self.file {
            Some(file) if !is_at(&self.dir.join(USE), file) => {
                *self = Self::join(&self.dir, &self.name, self.read_only)?;
                Ok(())
            }
            _ => Ok(()),
        }
    }
}

/// Among those who write, for as long as a writing handle is open; tells whether others do.
#[derive(Debug)]
pub(crate) struct Writers {
    path: PathBuf,
    read_only: bool,
    file: Option<File>,
}

impl Writers {
    /// Joins, unless only to look, and says whether somebody else was there.
    pub(crate) fn join(dir: &Path, read_only: bool) -> Result<(Self, bool)> {
        let writers = Self { path: dir.join(WRITERS), read_only, file: open(dir, WRITERS, read_only)? };
        let others = writers.others()?;
        Ok((writers, others))
    }

    /// Whether somebody else has the vault open for writing. Two that ask at one moment may both be told so, which is true.
    pub(crate) fn others(&self) -> Result<bool> {
        let Some(file) = &self.file else { return Ok(false) };
        let failed = |source| Error::io("lock", &self.path)(source);
        file.unlock().map_err(failed)?;
        let others = match file.try_lock() {
            Ok(()) => {
                file.unlock().map_err(failed)?;
                false
            }
            Err(TryLockError::WouldBlock) => true,
            Err(TryLockError::Error(source)) => return Err(failed(source)),
        };
        if !self.read_only {
            // Waits at most for somebody who asks the same.
            file.lock_shared().map_err(failed)?;
        }
        Ok(others)
    }
}

/// Waits for the manifest lock; released on drop.
pub(crate) fn lock_anchor(dir: &Path) -> Result<File> {
    let path = dir.join(ANCHOR);
    let file = regular::open_with(&path, &lock_options()).map_err(Error::io("open", &path))?;
    file.lock().map_err(Error::io("lock", &path))?;
    Ok(file)
}

/// Takes the image lock, or nothing when somebody else has it; released on drop.
pub(crate) fn try_lock_image(dir: &Path) -> Result<Option<File>> {
    let path = dir.join(IMAGE);
    let file = regular::open_with(&path, &lock_options()).map_err(Error::io("open", &path))?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(source)) => Err(Error::io("lock", &path)(source)),
    }
}

fn is_at(path: &Path, file: &File) -> bool {
    let own = Identity::of_file(file);
    own.is_some() && own == Identity::at(path)
}

fn open(dir: &Path, name: &str, read_only: bool) -> Result<Option<File>> {
    let path = dir.join(name);
    let opened = if read_only { regular::open(&path) } else { regular::open_with(&path, &lock_options()) };
    match opened {
        Ok(file) => Ok(Some(file)),
        Err(error) if read_only && error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(Error::io("open", &path)(source)),
    }
}

fn lock_options() -> OpenOptions {
    use std::os::unix::fs::OpenOptionsExt as _;
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false).mode(0o600);
    options
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_whose_file_was_removed_is_taken_again_on_the_new_one() {
        let dir = tempfile::tempdir().unwrap();
        let mut held = UseLock::join(dir.path(), "v", false).unwrap();
        fs::remove_file(dir.path().join(USE)).unwrap();
        assert!(UseLock::alone(dir.path(), "v").is_ok(), "the old lock keeps nobody away");
        held.keep().unwrap();
        assert!(matches!(UseLock::alone(dir.path(), "v"), Err(Error::InUse(_))));
        fs::remove_file(dir.path().join(USE)).unwrap();
        let _taken = UseLock::alone(dir.path(), "v").unwrap();
        assert!(matches!(held.keep(), Err(Error::InUse(_))));
    }

    #[test]
    fn a_writer_knows_of_others_and_a_reader_writes_nothing() {
        let dir = tempfile::tempdir().unwrap();
        assert!(!Writers::join(dir.path(), true).unwrap().1);
        assert!(!dir.path().join(WRITERS).exists());
        let (first, others) = Writers::join(dir.path(), false).unwrap();
        assert!(!others && !first.others().unwrap());
        let (second, others) = Writers::join(dir.path(), false).unwrap();
        assert!(others && first.others().unwrap() && second.others().unwrap());
        assert!(Writers::join(dir.path(), true).unwrap().1);
        drop(first);
        assert!(!second.others().unwrap());
    }
}
