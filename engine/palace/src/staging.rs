//! The folder in which things are put together or taken apart, on the same file system as what they are renamed to and from.
//!
//! What a crash left in it is removed by the next process that enters while nobody else is inside, with one exception: a
//! vault that was renamed aside to be replaced, and whose replacement never arrived, is put back under its name.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use undercroft_crypto::{Entropy, regular};

use crate::error::{Error, Result};
use crate::home::{Home, make_private_folder};
use crate::leftovers;
use crate::name;
use crate::registry::{self, Found};

/// In front of a vault's name: its old folder while a restored one takes its place.
const REPLACED: &str = "replaced-";

/// Held while something of this process lies in the staging folder.
pub(crate) struct Staging {
    /// For vaults.
    area: PathBuf,
    /// For backups; the same, unless they are kept elsewhere.
    backups_area: PathBuf,
    /// Where backups are kept.
    backups: PathBuf,
    /// Shared among those inside; whoever gets it alone knows that what lies there belongs to nobody.
    _lock: File,
}

impl Staging {
    /// Enters, and removes what crashed processes left when nobody else is inside.
    ///
    /// # Errors
    /// [`Error::StagingTaken`]; [`Error::Io`] when the folder cannot be made, locked or cleared.
    pub(crate) fn enter(home: &Home) -> Result<Self> {
        let [area, backups_area] = areas(home)?;
        make_private_folder(&area)?;
        let path = home.root().join("staging.lock");
        let lock = open_lock(&path)?;
        match lock.try_lock() {
            Ok(()) => {
                clear(home)?;
                leftovers::clear(home)?;
                lock.unlock().map_err(Error::io("unlock", &path))?;
            }
            Err(TryLockError::WouldBlock) => {}
            Err(TryLockError::Error(source)) => return Err(Error::io("lock", &path)(source)),
        }
        lock.lock_shared().map_err(Error::io("lock", &path))?;
        Ok(Self { area, backups_area, backups: home.backups(), _lock: lock })
    }

    /// A name that is free, for a vault that is put together.
    pub(crate) fn fresh(&self, entropy: &dyn Entropy) -> PathBuf {
        fresh_in(&self.area, entropy)
    }

    /// A name that is free, for a backup that is put together.
    ///
    /// # Errors
    /// [`Error::Io`] when the folder for it cannot be made.
    pub(crate) fn fresh_backup(&self, entropy: &dyn Entropy) -> Result<PathBuf> {
        make_private_folder(&self.backups_area)?;
        Ok(fresh_in(&self.backups_area, entropy))
    }

    /// Renames the vault `name` out of the way for its replacement and returns where it is now. Whoever calls holds the
    /// vault alone, and the [`Names`]; until another folder has its name, the next to open the installation after a crash
    /// puts it back.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub(crate) fn set_aside_replaced(&self, folder: &Path, name: &str) -> Result<PathBuf> {
        let target = self.area.join(format!("{REPLACED}{name}"));
        if target.try_exists().map_err(Error::io("look for", &target))? {
            // The vault is there, so an earlier replacement of it was completed and this is its waste, removed with the
            // rest of what crashes left.
            self.set_aside(&target)?;
        }
        fs::rename(folder, &target).map_err(Error::io("set aside", folder))?;
        Ok(target)
    }

    /// Renames what a completed replacement of the vault at `folder` left, if anything, and returns where it is now. Whoever
    /// calls holds the [`Names`].
    ///
    /// # Errors
    /// [`Error::Io`].
    pub(crate) fn discard_replaced(&self, folder: &Path) -> Result<Option<PathBuf>> {
        let Some(name) = folder.file_name().and_then(|name| name.to_str()) else { return Ok(None) };
        let waste = self.area.join(format!("{REPLACED}{name}"));
        match fs::symlink_metadata(&waste) {
            Ok(_) => self.set_aside(&waste).map(Some),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(source) => Err(Error::io("look for", &waste)(source)),
        }
    }

    /// Renames `folder` out of the way and returns where it is now.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub(crate) fn set_aside(&self, folder: &Path) -> Result<PathBuf> {
        let of_backups = folder.parent() == Some(&self.backups);
        let area = if of_backups { &self.backups_area } else { &self.area };
        make_private_folder(area)?;
        let mut number = 0_u32;
        loop {
            let target = area.join(format!("discarded-{}-{number}", std::process::id()));
            if target.try_exists().map_err(Error::io("look for", &target))? {
                number += 1;
                continue;
            }
            match fs::rename(folder, &target) {
                // Somebody else of this process took the name meanwhile.
                Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => number += 1,
                renamed => return renamed.map(|()| target).map_err(Error::io("set aside", folder)),
            }
        }
    }
}

fn fresh_in(area: &Path, entropy: &dyn Entropy) -> PathBuf {
    let mut suffix = [0; 8];
    entropy.fill(&mut suffix);
    area.join(format!("{:016x}", u64::from_le_bytes(suffix)))
}

/// The staging folders for vaults and for backups, which are one unless either is kept elsewhere.
fn areas(home: &Home) -> Result<[PathBuf; 2]> {
    Ok([area_for(home, &home.vaults())?, area_for(home, &home.backups())?])
}

/// Where vaults are put together.
fn area(home: &Home) -> Result<PathBuf> {
    area_for(home, &home.vaults())
}

/// Where the staging folder is, or is to be made, for what is renamed into `place` and out of it: in the installation, or in
/// `place` where that is kept on another file system, because renaming reaches no further. A link is not followed: whatever
/// it leads to would be cleared.
///
/// # Errors
/// [`Error::StagingTaken`] when something else lies there.
fn area_for(home: &Home, place: &Path) -> Result<PathBuf> {
    let elsewhere = matches!((mount_of(home.root()), mount_of(place)), (Some(a), Some(b)) if a != b);
    let area = if elsewhere { place } else { home.root() }.join(".staging");
    match fs::symlink_metadata(&area) {
        Ok(found) if found.is_dir() => Ok(area),
        Ok(found) => Err(Error::StagingTaken { found: regular::name_of(found.file_type()), path: area }),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(area),
        Err(source) => Err(Error::io("look for", &area)(source)),
    }
}

/// The file system of what lies at `path`, and which of its mounts where the system tells: renaming crosses neither. `None`
/// when nothing lies there.
#[cfg(unix)]
fn mount_of(path: &Path) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt as _;
    let device = fs::metadata(path).ok()?.dev();
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::{AtFlags, CWD, StatxFlags, statx};
        let asked = StatxFlags::MNT_ID;
        let told = statx(CWD, path, AtFlags::empty(), asked).ok();
        let mount = told.filter(|told| told.stx_mask & asked.bits() != 0).map_or(0, |told| told.stx_mnt_id);
        Some((device, mount))
    }
    #[cfg(not(target_os = "linux"))]
    Some((device, 0))
}

#[cfg(not(unix))]
fn mount_of(_: &Path) -> Option<(u64, u64)> {
    None
}

fn open_lock(path: &Path) -> Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    regular::open_with(path, &options).map_err(Error::io("open", path))
}

/// Held while a folder of a vault gets its name or loses it: between the look at a name and the renaming nobody else gives
/// it away, and between the two renamings of a replacement nobody takes the vault for gone. The innermost of the locks.
pub(crate) struct Names {
    _lock: File,
}

impl Names {
    /// Waits for it.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub(crate) fn hold(home: &Home) -> Result<Self> {
        let path = home.root().join("names.lock");
        let lock = open_lock(&path)?;
        lock.lock().map_err(Error::io("lock", &path))?;
        Ok(Self { _lock: lock })
    }
}

/// Puts back every vault whose replacement was interrupted. Does nothing, and writes nothing, when there is no such thing;
/// waits for nobody who only works in the staging folder.
///
/// # Errors
/// [`Error::StagingTaken`], [`Error::Io`].
pub(crate) fn recover(home: &Home) -> Result<()> {
    let area = area(home)?;
    let mut is_waste = false;
    for folder in registry::folders_of(&area)? {
        let Some(vault) = replaced_vault(&folder) else { continue };
        let target = home.vaults().join(vault);
        if registry::look(&target)? == Found::Nothing {
            let _names = Names::hold(home)?;
            put_back(home, &target)?;
        } else {
            is_waste = true;
        }
    }
    if is_waste { Staging::enter(home).map(drop) } else { Ok(()) }
}

/// Undoes a replacement of the vault at `target` that stopped between its two renamings. Whoever calls holds the [`Names`]:
/// so does a replacement over both, hence one that is found half done is not going on.
///
/// # Errors
/// [`Error::StagingTaken`], [`Error::Io`].
pub(crate) fn put_back(home: &Home, target: &Path) -> Result<()> {
    let Some(name) = target.file_name().and_then(|name| name.to_str()) else { return Ok(()) };
    let old = area(home)?.join(format!("{REPLACED}{name}"));
    let is_there = |path: &Path| registry::look(path).map(|found| found != Found::Nothing);
    if is_there(target)? || !is_there(&old)? {
        return Ok(());
    }
    fs::rename(&old, target).map_err(Error::io("put back", target))?;
    registry::sync(&home.vaults())
}

/// The vault whose old folder this is, when it was set aside to be replaced.
fn replaced_vault(path: &Path) -> Option<String> {
    let vault = path.file_name()?.to_str()?.strip_prefix(REPLACED)?;
    name::vault(vault).ok().filter(|kept| kept == vault)
}

/// Removes everything in the staging folder, whose lock the caller holds alone, but a vault that has to be put back.
fn clear(home: &Home) -> Result<()> {
    let [area, backups_area] = areas(home)?;
    clear_area(home, &area)?;
    if backups_area == area { Ok(()) } else { clear_area(home, &backups_area) }
}

fn clear_area(home: &Home, area: &Path) -> Result<()> {
    let entries = match fs::read_dir(area) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries.map_err(Error::io("read the folder", area))?,
    };
    for entry in entries {
        let path = entry.map_err(Error::io("read the folder", area))?.path();
        if let Some(vault) = replaced_vault(&path) {
            let _names = Names::hold(home)?;
            put_back(home, &home.vaults().join(vault))?;
        }
        if registry::look(&path)? != Found::Nothing {
            registry::discard(&path)?;
        }
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
    fn a_vault_whose_replacement_never_arrived_is_put_back_and_a_replaced_one_removed() {
        let (_dir, home) = home();
        let vault = home.vaults().join("work");
        fs::create_dir_all(&vault).unwrap();
        fs::write(vault.join("old"), "x").unwrap();
        let staging = Staging::enter(&home).unwrap();
        let aside = staging.set_aside_replaced(&vault, "work").unwrap();
        drop(staging);
        recover(&home).unwrap();
        assert!(vault.join("old").exists() && !aside.exists());
        let staging = Staging::enter(&home).unwrap();
        staging.set_aside_replaced(&vault, "work").unwrap();
        fs::create_dir_all(&vault).unwrap();
        drop(staging);
        recover(&home).unwrap();
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
    fn a_vault_is_put_back_although_somebody_else_is_inside() {
        let (_dir, home) = home();
        let vault = home.vaults().join("work");
        fs::create_dir_all(&vault).unwrap();
        fs::write(vault.join("old"), "x").unwrap();
        let busy = Staging::enter(&home).unwrap();
        busy.set_aside_replaced(&vault, "work").unwrap();
        recover(&home).unwrap();
        assert!(vault.join("old").exists());
        drop(busy);
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
