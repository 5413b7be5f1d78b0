//! Files that a crash or a power loss leaves whole: the old bytes or the new ones, never a part.
//!
//! Temporary file in the same folder, write, fsync, rename (or link), fsync of the folder. This file knows
//! nothing of what it writes. A crash may leave a temporary file behind ([`is_temporary`]); it is never read.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// How the name of every temporary file ends.
pub const TEMPORARY_SUFFIX: &str = ".undercroft-tmp";

/// Makes temporary names unique within the process; the process id and `create_new` do the rest.
static NEXT_TEMPORARY: AtomicU64 = AtomicU64::new(0);

/// Writes `bytes` to `path`, whether or not a file is there. When it returns, the new bytes survive a power loss;
/// when it fails, what was there is untouched. `mode` is the Unix permission, set exactly.
///
/// # Errors
/// What the file system reports. An error from the last step, the fsync of the folder, means that the new bytes
/// are in place but may not survive a power loss.
pub fn replace(path: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
    let staged = Staged::write(path, bytes, mode)?;
    fs::rename(&staged.path, path)?;
    staged.disarm();
    sync_dir(folder_of(path))
}

/// Writes a file that must not exist yet. Of several racing callers exactly one succeeds, and no reader ever sees
/// a part of the bytes. `mode` is the Unix permission, set exactly.
///
/// # Errors
/// [`io::ErrorKind::AlreadyExists`] when something is at `path`, which is then untouched; otherwise what the file
/// system reports. The file system must have hard links, because `link` is the one portable step that both
/// publishes a finished file and refuses to replace another.
pub fn create_new(path: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
    let staged = Staged::write(path, bytes, mode)?;
    fs::hard_link(&staged.path, path)?;
    drop(staged);
    sync_dir(folder_of(path))
}

/// Makes the names in a folder durable: new files, renames and removals.
///
/// # Errors
/// What the file system reports.
pub fn sync_dir(folder: &Path) -> io::Result<()> {
    #[cfg(unix)]
    File::open(folder)?.sync_all()?;
    // Elsewhere a folder cannot be opened for syncing; its entries are durable with the files themselves.
    #[cfg(not(unix))]
    let _ = folder;
    Ok(())
}

/// Whether a file name is that of a temporary file which a crash left behind, to be swept by whoever owns the
/// folder.
#[must_use]
pub fn is_temporary(name: &OsStr) -> bool {
    name.as_encoded_bytes().ends_with(TEMPORARY_SUFFIX.as_bytes())
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// A written and synced temporary file, removed when dropped unless it was renamed into place.
struct Staged {
    path: PathBuf,
    armed: bool,
}

impl Staged {
    fn write(target: &Path, bytes: &[u8], mode: u32) -> io::Result<Self> {
        let name = target
            .file_name()
            .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "the path must end in a file name"))?;
        let (mut file, path) = open_unique(folder_of(target), name, mode)?;
        let staged = Self { path, armed: true };
        set_mode(&file, mode)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        Ok(staged)
    }

    fn disarm(mut self) {
        self.armed = false;
    }
}

impl Drop for Staged {
    fn drop(&mut self) {
        if self.armed {
            // Nothing better can be done here, and a leftover is never read.
            let _ = fs::remove_file(&self.path);
        }
    }
}

fn open_unique(folder: &Path, name: &OsStr, mode: u32) -> io::Result<(File, PathBuf)> {
    loop {
        let number = NEXT_TEMPORARY.fetch_add(1, Ordering::Relaxed);
        let mut unique = OsString::from(".");
        unique.push(name);
        unique.push(format!(".{}.{number}{TEMPORARY_SUFFIX}", std::process::id()));
        let path = folder.join(unique);
        match creation(mode).open(&path) {
            Ok(file) => return Ok((file, path)),
            // Left by an earlier process with our id: take the next number.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
}

fn creation(mode: u32) -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, mode);
    #[cfg(not(unix))]
    let _ = mode;
    options
}

/// The umask may have taken bits away when the file was created.
fn set_mode(file: &File, mode: u32) -> io::Result<()> {
    #[cfg(unix)]
    file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(mode))?;
    #[cfg(not(unix))]
    let _ = (file, mode);
    Ok(())
}

#[cfg(test)]
#[path = "durable_test.rs"]
mod durable_test;
