//! The vaults of an installation by name: one folder each, a manifest makes it a vault, a manifest or a database alone makes
//! it a damaged one.
//!
//! Names become paths here and nowhere else, and only after the guard. No manifest is believed and no key is used.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use undercroft_crypto::{durable, regular};

use crate::error::{Error, Result};
use crate::home::Home;
use crate::name;
use crate::staging::{Names, Staging};

/// The file whose presence makes a folder a vault.
pub const MANIFEST: &str = "vault.json";
/// The vault's database.
pub const DATABASE: &str = "vault.db";

/// What lies beside them in a vault's folder, once it was opened.
const BESIDE: [&str; 7] =
    ["use.lock", "writers.lock", "anchor.lock", "image.lock", "index.img", "vault.db-wal", "vault.db-shm"];

/// The folder of the vault called `name`, whether or not it exists.
///
/// # Errors
/// [`Error::VaultName`] for a name that the guard refuses.
pub fn folder(home: &Home, name: &str) -> Result<PathBuf> {
    Ok(home.vaults().join(name::vault(name)?))
}

/// What lies where a vault's folder belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Found {
    /// Nothing: the name is free.
    Nothing,
    /// A folder with a manifest.
    Vault,
    /// A folder with a database, or with something in the manifest's place, and without a manifest.
    WithoutManifest {
        /// What is there instead of the manifest.
        instead: &'static str,
    },
    /// A folder with neither, and with files that only a vault has beside them.
    Remains,
    /// An empty folder.
    EmptyFolder,
    /// Something that is no vault and never was one that can be told; says what.
    Stray(&'static str),
}

/// Looks at what lies at `folder`.
///
/// # Errors
/// [`Error::Io`] when it cannot be looked at.
pub fn look(folder: &Path) -> Result<Found> {
    let kind = match fs::symlink_metadata(folder) {
        Ok(metadata) => metadata.file_type(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Found::Nothing),
        Err(source) => return Err(Error::io("look for", folder)(source)),
    };
    let Some(target) = kind_of(folder)? else { return Ok(Found::Stray("a link that leads nowhere")) };
    if !target.is_dir() {
        return Ok(Found::Stray(regular::name_of(target)));
    }
    if let Some(manifest) = kind_of(&folder.join(MANIFEST))? {
        let instead = regular::name_of(manifest);
        return Ok(if manifest.is_file() { Found::Vault } else { Found::WithoutManifest { instead } });
    }
    if kind_of(&folder.join(DATABASE))?.is_some() {
        return Ok(Found::WithoutManifest { instead: "nothing" });
    }
    if kind.is_dir() && is_empty(folder)? {
        return Ok(Found::EmptyFolder);
    }
    if BESIDE.iter().any(|file| folder.join(file).is_file()) {
        return Ok(Found::Remains);
    }
    Ok(Found::Stray("a folder that holds no vault"))
}

/// The folder of an existing vault.
///
/// # Errors
/// [`Error::VaultName`]; [`Error::NoVault`] when nothing there is a vault; [`Error::ManifestMissing`] when one is there
/// that lost its manifest, [`Error::VaultLost`] when it lost its database too.
pub fn existing(home: &Home, name: &str) -> Result<PathBuf> {
    let folder = folder(home, name)?;
    match look(&folder)? {
        Found::Vault => Ok(folder),
        Found::WithoutManifest { instead } => {
            Err(Error::ManifestMissing { vault: name.trim().to_owned(), instead })
        }
        Found::Remains => Err(Error::VaultLost(name.trim().to_owned())),
        Found::Nothing | Found::EmptyFolder | Found::Stray(_) => Err(Error::NoVault(name.to_owned())),
    }
}

/// The refusal to make the vault `name` where something else lies.
pub(crate) fn taken(name: &str, folder: &Path, found: Found) -> Error {
    let found = if let Found::Stray(what) = found { what } else { "an empty folder" };
    Error::NameTaken { vault: name.trim().to_owned(), path: folder.to_path_buf(), found }
}

/// Whether the vault called `name` exists, whole or damaged.
///
/// # Errors
/// [`Error::VaultName`], and [`Error::Io`] when its folder cannot be looked at.
pub fn exists(home: &Home, name: &str) -> Result<bool> {
    is_vault(&folder(home, name)?)
}

/// The names of all vaults, damaged ones too, in order. Folders whose names the guard refuses are none of ours and left out.
///
/// # Errors
/// [`Error::Io`] when the folder of vaults cannot be read; a missing one holds no vaults.
pub fn names(home: &Home) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for folder in folders_of(&home.vaults())? {
        let Some(name) = folder.file_name().and_then(|name| name.to_str()) else { continue };
        // One that cannot be looked at is named too: it hides no other, and opening it says what is wrong.
        if name::vault(name).is_ok_and(|guarded| guarded == name) && is_vault(&folder).unwrap_or(true) {
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
        if matches!(look(&folder)?, Found::Vault | Found::WithoutManifest { .. }) {
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

/// Whether `folder` holds a vault, whole or damaged.
pub(crate) fn is_vault(folder: &Path) -> Result<bool> {
    Ok(matches!(look(folder)?, Found::Vault | Found::WithoutManifest { .. } | Found::Remains))
}

/// What lies at `path`, through links; `None` for nothing.
fn kind_of(path: &Path) -> Result<Option<fs::FileType>> {
    match fs::metadata(path) {
        Ok(metadata) => Ok(Some(metadata.file_type())),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            Ok(None)
        }
        // A circle of links, or one through a file, is what lies there; a folder that may not be read is another matter.
        Err(error) if path.is_symlink() && error.kind() != io::ErrorKind::PermissionDenied => {
            Ok(fs::symlink_metadata(path).ok().map(|link| link.file_type()))
        }
        Err(source) => Err(Error::io("look for", path)(source)),
    }
}

fn is_empty(folder: &Path) -> Result<bool> {
    Ok(fs::read_dir(folder).map_err(Error::io("read the folder", folder))?.next().is_none())
}

/// Removes the folder of a vault so that a crash at any point leaves the vault whole or gone: it is renamed out of the
/// registry first. Whoever calls makes sure that nobody uses it.
pub(crate) fn remove(home: &Home, name: &str, staging: &Staging) -> Result<()> {
    let folder = existing(home, name)?;
    let names = Names::hold(home)?;
    // Waste of an earlier replacement must not be taken for the vault once its name is free.
    let waste = staging.discard_replaced(&folder)?;
    let discarded = staging.set_aside(&folder)?;
    sync(&home.vaults())?;
    drop(names);
    waste.iter().chain([&discarded]).try_for_each(|path| discard(path))
}

/// Refuses what would take away only the link to a vault that is kept elsewhere. One that leads nowhere is all there is.
///
/// # Errors
/// [`Error::KeptElsewhere`].
pub(crate) fn refuse_link(folder: &Path, vault: &str, done: &'static str) -> Result<()> {
    match fs::read_link(folder) {
        Ok(target) if kind_of(folder)?.is_some_and(|kind| kind.is_dir()) => {
            let vault = vault.trim().to_owned();
            Err(Error::KeptElsewhere { vault, link: folder.to_path_buf(), target, done })
        }
        // What is no link cannot be read as one.
        _ => Ok(()),
    }
}

/// Removes what was set aside, whatever it is; a link as itself.
pub(crate) fn discard(path: &Path) -> Result<()> {
    let kind = fs::symlink_metadata(path).map_err(Error::io("look at", path))?.file_type();
    let removed = if kind.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
    removed.map_err(Error::io("remove", path))
}

/// Makes the names in `folder` durable.
pub(crate) fn sync(folder: &Path) -> Result<()> {
    durable::sync_dir(folder).map_err(Error::io("sync the folder", folder))
}

#[cfg(test)]
#[path = "registry_test.rs"]
mod registry_test;
