//! Bringing a backup back: copied aside, verified there, then swapped in by renaming.
//!
//! The vault is the one that the backup's manifest names, and the manifest is believed only after the copy was opened with
//! the master key. The backup itself is only read.

use std::fs;
use std::path::Path;

use undercroft_crypto::{MasterKey, durable, regular};
use undercroft_vault::{Vault, VaultOptions};

use crate::backups;
use crate::error::{Error, Result};
use crate::home::{Home, make_private_folder};
use crate::registry::{self, DATABASE, Found, MANIFEST};
use crate::staging::{self, Names, Staging};

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
    refuse_replacing(&target, &vault, replace)?;
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
        let mut read = regular::open(&source).map_err(Error::io("copy", &source))?;
        let mut options = fs::OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut written = options.open(&target).map_err(Error::io("make", &target))?;
        std::io::copy(&mut read, &mut written).map_err(Error::io("copy", &source))?;
        written.sync_all().map_err(Error::io("sync", &target))?;
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
    refuse_replacing(target, vault, replace)?;
    if matches!(registry::look(target)?, Found::Vault | Found::WithoutManifest { .. }) {
        let mut swapped = Ok(());
        undercroft_vault::alone(target, vault, || {
            swapped = exchange(home, staging, staged, target, vault, replace);
            Ok(())
        })?;
        return swapped;
    }
    exchange(home, staging, staged, target, vault, replace)
}

/// What lies at the vault's place is replaced only when that is asked for. An empty folder holds nothing to lose.
fn refuse_replacing(target: &Path, vault: &str, replace: bool) -> Result<()> {
    match registry::look(target)? {
        Found::Nothing | Found::EmptyFolder => Ok(()),
        _ if replace => Ok(()),
        Found::Vault | Found::WithoutManifest { .. } => Err(Error::RestoreReplaces(vault.to_owned())),
        found => Err(registry::taken(vault, target, found)),
    }
}

/// Nobody has the old vault open, and nobody else gives its name away meanwhile. When the second renaming fails, the first
/// is undone here; when the process dies between them, by the next that opens the installation.
fn exchange(
    home: &Home,
    staging: &Staging,
    staged: &Path,
    target: &Path,
    vault: &str,
    replace: bool,
) -> Result<()> {
    let names = Names::hold(home)?;
    staging::put_back(home, target)?;
    // Looked at again: somebody may have been quicker.
    refuse_replacing(target, vault, replace)?;
    if registry::look(target)? == Found::Nothing {
        fs::rename(staged, target).map_err(Error::io("put in place", target))?;
        return registry::sync(&home.vaults());
    }
    let old = staging.set_aside_replaced(target, vault)?;
    if let Err(source) = fs::rename(staged, target) {
        fs::rename(&old, target).map_err(Error::io("put back", target))?;
        return Err(Error::io("put in place", target)(source));
    }
    registry::sync(&home.vaults())?;
    // No longer under a name that would be put back once the vault is deleted.
    let waste = staging.set_aside(&old)?;
    drop(names);
    registry::discard(&waste)
}
