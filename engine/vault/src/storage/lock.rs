//! Three advisory locks in a vault's folder: who has it open (shared by every handle, exclusive for deletion and
//! replacement), who rewrites the manifest, and who rewrites the index image. The operating system releases them when a process dies.

use std::fs::{File, OpenOptions, TryLockError};
use std::path::Path;

use crate::error::{Error, Result};

const USE: &str = "use.lock";
const ANCHOR: &str = "anchor.lock";
const IMAGE: &str = "image.lock";

/// Held for as long as a handle is open.
#[derive(Debug)]
pub(crate) struct UseLock {
    _file: Option<File>,
}

impl UseLock {
    /// Joins the users of the vault. A read-only handle of a folder without lock file takes none and writes none.
    pub(crate) fn join(dir: &Path, name: &str, read_only: bool) -> Result<Self> {
        let Some(file) = open(dir, USE, read_only)? else { return Ok(Self { _file: None }) };
        match file.try_lock_shared() {
            Ok(()) => Ok(Self { _file: Some(file) }),
            Err(TryLockError::WouldBlock) => Err(Error::InUse(name.to_owned())),
            Err(TryLockError::Error(source)) => Err(Error::io("lock", &dir.join(USE))(source)),
        }
    }

    /// Takes the vault for oneself, or says that it is in use.
    pub(crate) fn alone(dir: &Path, name: &str) -> Result<Self> {
        let Some(file) = open(dir, USE, false)? else { return Ok(Self { _file: None }) };
        match file.try_lock() {
            Ok(()) => Ok(Self { _file: Some(file) }),
            Err(TryLockError::WouldBlock) => Err(Error::InUse(name.to_owned())),
            Err(TryLockError::Error(source)) => Err(Error::io("lock", &dir.join(USE))(source)),
        }
    }
}

/// Waits for the manifest lock; released on drop.
pub(crate) fn lock_anchor(dir: &Path) -> Result<File> {
    let path = dir.join(ANCHOR);
    let file = lock_options().open(&path).map_err(Error::io("open", &path))?;
    file.lock().map_err(Error::io("lock", &path))?;
    Ok(file)
}

/// Takes the image lock, or nothing when somebody else has it; released on drop.
pub(crate) fn try_lock_image(dir: &Path) -> Result<Option<File>> {
    let path = dir.join(IMAGE);
    let file = lock_options().open(&path).map_err(Error::io("open", &path))?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(source)) => Err(Error::io("lock", &path)(source)),
    }
}

fn open(dir: &Path, name: &str, read_only: bool) -> Result<Option<File>> {
    let path = dir.join(name);
    let opened = if read_only { File::open(&path) } else { lock_options().open(&path) };
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
