//! Bringing a backup back: copied aside, verified there, then swapped in by renaming.
//!
//! The vault is the one that the backup's manifest names, and the manifest is believed only after the copy was opened with
//! the master key. The backup itself is only read.

use std::fs;
use std::path::Path;

use undercroft_crypto::{MasterKey, durable};
use undercroft_vault::{Vault, VaultOptions};

use crate::backups;
use crate::error::{Error, Result};
use crate::home::{Home, make_private_folder};
use crate::registry::{self, DATABASE, MANIFEST};
use crate::staging::Staging;

/// See `Palace::restore_backup`.
pub(crate) fn restore(
    home: &Home,
    master: &MasterKey,
    options: &VaultOptions,
    name: &str,
    replace: bool,
    progress: &mut dyn FnMut(u64),
) -> Result<String> {
    let backup = backups::find(home, name)?;
    let vault = backups::manifest_of(&backup.path)?.name().to_owned();
    let target = registry::folder(home, &vault)?;
    if !replace && registry::is_vault(&target)? {
        return Err(Error::RestoreReplaces(vault));
    }
    let staging = Staging::enter(home)?;
    let staged = staging.fresh(options.entropy.as_ref());
    let prepared =
        copy(&backup.path, &staged).and_then(|()| verify(&staged, master, options, name, progress));
    let swapped = prepared.and_then(|()| {
        make_private_folder(&home.vaults())?;
        swap(home, &staging, &staged, &target, &vault, replace)
    });
    if swapped.is_err() {
        // The copy was never a vault; what is left of it is not read.
        let _ = fs::remove_dir_all(&staged);
    }
    swapped.map(|()| vault)
}

/// Copies what makes a vault, durably. The manifest comes last, so that a copy that was cut short is none.
fn copy(from: &Path, to: &Path) -> Result<()> {
    make_private_folder(to)?;
    for file in [DATABASE, MANIFEST] {
        let (source, target) = (from.join(file), to.join(file));
        fs::copy(&source, &target).map_err(Error::io("copy", &source))?;
        fs::File::open(&target).and_then(|copied| copied.sync_all()).map_err(Error::io("sync", &target))?;
    }
    durable::sync_dir(to).map_err(Error::io("sync the folder", to))
}

fn verify(
    staged: &Path,
    master: &MasterKey,
    options: &VaultOptions,
    name: &str,
    progress: &mut dyn FnMut(u64),
) -> Result<()> {
    let copy = Vault::open(staged, master, VaultOptions { read_only: true, ..options.clone() })?;
    if copy.verify(progress)?.ok {
        Ok(())
    } else {
        Err(Error::Unverified { what: "backup", name: name.to_owned(), done: "restored" })
    }
}

fn swap(
    home: &Home,
    staging: &Staging,
    staged: &Path,
    target: &Path,
    vault: &str,
    replace: bool,
) -> Result<()> {
    if !registry::is_vault(target)? {
        fs::rename(staged, target).map_err(Error::io("put in place", target))?;
        return registry::sync(&home.vaults());
    }
    if !replace {
        return Err(Error::RestoreReplaces(vault.to_owned()));
    }
    let mut swapped = Ok(());
    undercroft_vault::alone(target, vault, || {
        swapped = exchange(home, staging, staged, target, vault);
        Ok(())
    })?;
    swapped
}

/// Nobody has the old vault open. When the second renaming fails, the first is undone here; when the process dies between
/// them, by the next to enter the staging folder.
fn exchange(home: &Home, staging: &Staging, staged: &Path, target: &Path, vault: &str) -> Result<()> {
    let old = staging.set_aside_replaced(target, vault)?;
    if let Err(source) = fs::rename(staged, target) {
        fs::rename(&old, target).map_err(Error::io("put back", target))?;
        return Err(Error::io("put in place", target)(source));
    }
    registry::sync(&home.vaults())?;
    fs::remove_dir_all(&old).map_err(Error::io("remove", &old))
}
