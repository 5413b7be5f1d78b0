//! Files that a process was putting together among the vaults when it died: vaults that were never finished, manifests and
//! index images that were never renamed into place.
//!
//! Only names that this program gives are looked at, and only under the lock that whoever is making such a file holds.

use std::fs::{self, OpenOptions};
use std::path::Path;

use undercroft_crypto::{durable, regular};

use crate::error::{Error, Result};
use crate::home::Home;
use crate::registry;
use crate::staging::Names;

/// In front of eight bytes in hexadecimal: a vault that is being made.
const UNFINISHED: &str = ".new-";

/// Removes them. What is in use is left for another time, and so is what cannot be removed: nothing depends on it.
///
/// # Errors
/// [`Error::Io`] when the vaults cannot be listed.
pub(crate) fn clear(home: &Home) -> Result<()> {
    let folders = registry::folders_of(&home.vaults())?;
    if folders.iter().any(|folder| is_unfinished(folder)) {
        // Vaults are made under this lock.
        let _names = Names::hold(home)?;
        for folder in folders.iter().filter(|folder| is_unfinished(folder) && !folder.is_symlink()) {
            if folder.is_dir() {
                fs::remove_dir_all(folder).map_err(Error::io("remove", folder))?;
            }
        }
    }
    folders.iter().filter(|folder| !is_unfinished(folder)).for_each(|folder| clear_vault(folder));
    Ok(())
}

fn is_unfinished(folder: &Path) -> bool {
    let suffix = folder.file_name().and_then(|name| name.to_str()?.strip_prefix(UNFINISHED));
    suffix.is_some_and(|suffix| suffix.len() == 16 && suffix.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

fn clear_vault(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        let Some(lock) = path.file_name().and_then(|name| lock_of(name.to_str()?)) else { continue };
        let lock = regular::open_with(&folder.join(lock), OpenOptions::new().read(true).write(true));
        if lock.is_ok_and(|lock| lock.try_lock().is_ok() && path.is_file()) {
            let _ = fs::remove_file(&path);
        }
    }
}

/// The lock under which a file of this name is put together.
fn lock_of(name: &str) -> Option<&'static str> {
    let is_manifest = name.starts_with(".vault.json.") && name.ends_with(durable::TEMPORARY_SUFFIX);
    if is_manifest { Some("anchor.lock") } else { (name == "index.img.tmp").then_some("image.lock") }
}
