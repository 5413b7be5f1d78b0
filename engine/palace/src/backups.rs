//! Backups as folders: their names, the list, what is kept and what is dropped.
//!
//! A backup belongs to the vault that its own manifest names; no folder name is ever split to find out, because a vault's
//! name may end in what looks like a time. How a database is copied and verified is not decided here.

use std::cmp::Reverse;
use std::io::Read;
use std::path::{Path, PathBuf};

use undercroft_crypto::manifest::MANIFEST_MAX_BYTES;
use undercroft_crypto::{SealId, UnverifiedManifest, regular};

use crate::error::{Error, Result};
use crate::home::{Home, make_private_folder};
use crate::registry::{self, Found, MANIFEST};
use crate::staging::Staging;
use crate::{name, stamp};

/// How many backups of one vault are kept.
pub const KEPT: usize = 10;

/// One backup.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Backup {
    /// Its folder's name, by which it is restored.
    pub name: String,
    /// The vault that its manifest names; `None` when the manifest cannot be read or is missing.
    pub vault: Option<String>,
    /// Its folder.
    pub path: PathBuf,
}

impl Backup {
    fn at(path: PathBuf) -> Option<Self> {
        let name = path.file_name()?.to_str()?.to_owned();
        let vault = manifest_of(&path).ok().map(|manifest| manifest.name().to_owned());
        Some(Self { name, vault, path })
    }

    /// Whether it is a copy of the vault in `folder`, and not of an earlier one that had the same name.
    #[must_use]
    pub fn is_of(&self, folder: &Path) -> bool {
        let life = manifest_of(folder).ok().map(|manifest| *manifest.seal_id());
        life.is_some() && life_of(self) == life
    }

    /// The time in the folder's name, when the name is one that a backup of this vault is given.
    #[must_use]
    pub fn stamp(&self) -> Option<&str> {
        let stamp = self.name.strip_prefix(self.vault.as_deref()?)?.strip_prefix('-')?;
        stamp::is_stamp(stamp).then_some(stamp)
    }
}

/// Every folder of the backups that has a manifest or a database, oldest name first.
///
/// # Errors
/// [`Error::Io`] when the folder of backups cannot be read; a missing one holds none.
pub fn list(home: &Home) -> Result<Vec<Backup>> {
    let mut backups = Vec::new();
    for folder in registry::folders_of(&home.backups())? {
        // One that cannot be looked at is named too, without its vault.
        if registry::is_vault(&folder).unwrap_or(true) {
            backups.extend(Backup::at(folder));
        }
    }
    backups.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(backups)
}

/// Whether anything in the folder of backups needs the installation's key.
pub(crate) fn holds_any(home: &Home) -> Result<bool> {
    registry::any_sealed(&home.backups())
}

/// The backup called `name`.
///
/// # Errors
/// [`Error::NoBackup`] when there is none, also for a name that is a path; [`Error::BackupWithoutManifest`].
pub fn find(home: &Home, name: &str) -> Result<Backup> {
    let missing = || Error::NoBackup(name.to_owned());
    if !name::is_plain(name) {
        return Err(missing());
    }
    let folder = home.backups().join(name);
    match registry::look(&folder)? {
        Found::Vault => Backup::at(folder).ok_or_else(missing),
        Found::WithoutManifest { .. } => Err(Error::BackupWithoutManifest(name.to_owned())),
        Found::Nothing | Found::EmptyFolder | Found::Remains | Found::Stray(_) => Err(missing()),
    }
}

/// A folder name for a backup of `vault` taken at `micros`, and free: of two in one microsecond the later is named for the
/// next.
pub(crate) fn reserve(home: &Home, vault: &str, micros: i64) -> Result<PathBuf> {
    make_private_folder(&home.backups())?;
    let mut moment = micros;
    loop {
        let folder = home.backups().join(format!("{vault}-{}", stamp::render(moment)));
        if !folder.try_exists().map_err(Error::io("look for", &folder))? {
            return Ok(folder);
        }
        moment += 1;
    }
}

/// Drops all but the newest [`KEPT`] backups of `vault` and returns the names of those dropped. The one that was just made,
/// in the folder `made`, is the newest, whatever the clock said when the others were. A folder that was named by hand, or
/// put elsewhere and linked, is not counted and never dropped.
pub(crate) fn prune(home: &Home, vault: &str, made: &Path, staging: &Staging) -> Result<Vec<String>> {
    let mut own: Vec<Backup> = list(home)?;
    own.retain(|backup| {
        backup.vault.as_deref() == Some(vault) && backup.stamp().is_some() && !backup.path.is_symlink()
    });
    own.sort_by_cached_key(|backup| Reverse((backup.path == made, backup.stamp().map(str::to_owned))));
    // A vault that was deleted and made again has another seal id: the copies of its earlier life are not its own.
    let life = own.first().and_then(life_of);
    own.retain(|backup| life_of(backup) == life);
    let mut dropped = Vec::new();
    for backup in own.into_iter().skip(KEPT) {
        drop_one(home, &backup.path, staging)?;
        dropped.push(backup.name);
    }
    Ok(dropped)
}

/// Drops one backup. One that somebody else just dropped is dropped.
fn drop_one(home: &Home, folder: &Path, staging: &Staging) -> Result<()> {
    let discarded = match staging.set_aside(folder) {
        Err(Error::Io { source, .. }) if source.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        discarded => discarded?,
    };
    registry::sync(&home.backups())?;
    registry::discard(&discarded)
}

/// Which vault a backup is of, whatever its name.
fn life_of(backup: &Backup) -> Option<SealId> {
    manifest_of(&backup.path).ok().map(|manifest| *manifest.seal_id())
}

/// The manifest in `folder`, read but not believed.
///
/// # Errors
/// [`Error::Io`] when it cannot be read, [`Error::Crypto`] with an integrity class when it is no manifest.
pub(crate) fn manifest_of(folder: &Path) -> Result<UnverifiedManifest> {
    let path = folder.join(MANIFEST);
    let file = regular::open(&path).map_err(Error::io("read", &path))?;
    let mut bytes = Vec::new();
    // One byte more than allowed, so that the parser sees that it is too long.
    file.take(MANIFEST_MAX_BYTES as u64 + 1).read_to_end(&mut bytes).map_err(Error::io("read", &path))?;
    // What is not text cannot be a manifest either, and the parser says so.
    Ok(UnverifiedManifest::parse(&String::from_utf8_lossy(&bytes))?)
}

#[cfg(test)]
#[path = "backups_test.rs"]
mod backups_test;
