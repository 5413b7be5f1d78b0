//! The vaults of an installation by name: one folder each, a manifest makes it a vault.
//!
//! Names become paths here and nowhere else, and only after the guard. No manifest is believed and no key is used.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use undercroft_crypto::durable;

use crate::error::{Error, Result};
use crate::home::Home;
use crate::name;
use crate::staging::Staging;

/// The file whose presence makes a folder a vault.
pub const MANIFEST: &str = "vault.json";
/// The vault's database.
pub const DATABASE: &str = "vault.db";

/// The folder of the vault called `name`, whether or not it exists.
///
/// # Errors
/// [`Error::VaultName`] for a name that the guard refuses.
pub fn folder(home: &Home, name: &str) -> Result<PathBuf> {
    Ok(home.vaults().join(name::vault(name)?))
}

/// The folder of an existing vault.
///
/// # Errors
/// [`Error::VaultName`], and [`Error::NoVault`] when it has no manifest.
pub fn existing(home: &Home, name: &str) -> Result<PathBuf> {
    let folder = folder(home, name)?;
    if is_vault(&folder)? { Ok(folder) } else { Err(Error::NoVault(name.to_owned())) }
}

/// Whether the vault called `name` exists.
///
/// # Errors
/// [`Error::VaultName`], and [`Error::Io`] when its folder cannot be looked at.
pub fn exists(home: &Home, name: &str) -> Result<bool> {
    is_vault(&folder(home, name)?)
}

/// The names of all vaults, in order. Folders whose names the guard refuses are none of ours and left out.
///
/// # Errors
/// [`Error::Io`] when the folder of vaults cannot be read; a missing one holds no vaults.
pub fn names(home: &Home) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for folder in folders_of(&home.vaults())? {
        let Some(name) = folder.file_name().and_then(|name| name.to_str()) else { continue };
        if name::vault(name).is_ok_and(|guarded| guarded == name) && is_vault(&folder)? {
            names.push(name.to_owned());
        }
    }
    names.sort();
    Ok(names)
}

/// Whether anything in the folder of vaults needs the installation's key: a manifest or a database, under any name.
pub(crate) fn holds_any(home: &Home) -> Result<bool> {
    any_sealed(&home.vaults())
}

/// Whether any folder below `parent` holds a manifest or a database.
pub(crate) fn any_sealed(parent: &Path) -> Result<bool> {
    for folder in folders_of(parent)? {
        if is_vault(&folder)? || is_file(&folder.join(DATABASE))? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The folders directly below `parent`; none when it does not exist.
pub(crate) fn folders_of(parent: &Path) -> Result<Vec<PathBuf>> {
    let entries = match fs::read_dir(parent) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(source) => return Err(Error::io("read the folder", parent)(source)),
    };
    let mut folders = Vec::new();
    for entry in entries {
        let path = entry.map_err(Error::io("read the folder", parent))?.path();
        // Through links: somebody may keep a vault on another disk.
        if path.is_dir() {
            folders.push(path);
        }
    }
    Ok(folders)
}

pub(crate) fn is_vault(folder: &Path) -> Result<bool> {
    is_file(&folder.join(MANIFEST))
}

fn is_file(path: &Path) -> Result<bool> {
    match fs::metadata(path) {
        Ok(metadata) => Ok(metadata.is_file()),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            Ok(false)
        }
        Err(source) => Err(Error::io("look for", path)(source)),
    }
}

/// Removes the folder of a vault so that a crash at any point leaves the vault whole or gone: it is renamed out of the
/// registry first. Whoever calls makes sure that nobody uses it.
pub(crate) fn remove(home: &Home, name: &str, staging: &Staging) -> Result<()> {
    let folder = existing(home, name)?;
    let discarded = staging.set_aside(&folder)?;
    sync(&home.vaults())?;
    fs::remove_dir_all(&discarded).map_err(Error::io("remove", &discarded))
}

/// Makes the names in `folder` durable.
pub(crate) fn sync(folder: &Path) -> Result<()> {
    durable::sync_dir(folder).map_err(Error::io("sync the folder", folder))
}

#[cfg(test)]
#[path = "registry_test.rs"]
mod registry_test;
