//! Files that survive a loss of power: written beside, flushed, renamed, the folder flushed. And a folder of one's own.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;

use super::Disk;

/// Folders and files are for the user that runs the member alone: the state names tenants and says who may do what.
const FOLDER_MODE: u32 = 0o700;
/// See above.
pub(super) const FILE_MODE: u32 = 0o600;

/// Flushes the names in a folder.
pub(super) fn sync(folder: &Path) -> io::Result<()> {
    // The parent of a name without a folder before it is the empty path.
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    File::open(folder)?.sync_all()
}

/// Makes a folder with its parents, so that it is still there after a loss of power.
pub(super) fn make(folder: &Path) -> io::Result<()> {
    if let Some(parent) = folder.parent() {
        fs::create_dir_all(parent)?;
    }
    fs::DirBuilder::new().recursive(true).mode(FOLDER_MODE).create(folder)?;
    folder.parent().map_or(Ok(()), sync)
}

/// Puts a file with these bytes in the place of whatever has its name. When that fails, what had the name is as it was, and
/// nothing half written is left to fill the disk.
pub(super) fn replace(disk: &dyn Disk, path: &Path, bytes: &[u8]) -> io::Result<()> {
    let beside = path.with_extension("new");
    let written = || -> io::Result<()> {
        let mut file =
            File::options().create(true).truncate(true).write(true).mode(FILE_MODE).open(&beside)?;
        disk.write(&mut file, bytes)?;
        disk.flush(&file)?;
        fs::rename(&beside, path)
    };
    written().inspect_err(|_| {
        // The first failure is the one to tell.
        let _ = fs::remove_file(&beside);
    })?;
    path.parent().map_or(Ok(()), sync)
}

/// Takes the folder for this process, until the file is dropped.
///
/// # Errors
/// `ResourceBusy` when another process has it.
pub(super) fn take(folder: &Path) -> io::Result<File> {
    let mut options = File::options();
    let file =
        options.create(true).truncate(false).write(true).mode(FILE_MODE).open(folder.join("in-use"))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(fs::TryLockError::WouldBlock) => Err(io::Error::new(
            io::ErrorKind::ResourceBusy,
            format!("{} is in use by another process; stop that one first", folder.display()),
        )),
        Err(fs::TryLockError::Error(error)) => Err(error),
    }
}
