//! Bringing a backup back: copied aside, verified there, then swapped in by renaming.
//!
//! The vault is the one that the backup's manifest names, and the manifest is believed only after the copy was opened with
//! the master key. The backup itself is only read.

use std::fs;
use std::io;
use std::path::Path;

use undercroft_crypto::{MasterKey, durable, regular};
use undercroft_vault::{Vault, VaultOptions, VerifyReport};

use crate::backups;
use crate::error::{Error, Result};
use crate::home::{Home, make_private_folder};
use crate::registry::{self, DATABASE, Found, MANIFEST};
use crate::staging::{self, Names, Staging};
use crate::stamp;

/// How many findings of one kind are named.
const NAMED: usize = 3;

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
    if registry::is_vault(&target)? {
        refuse_renamed(name, &vault)?;
    }
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

/// Whoever restores by a name that names another vault does not expect this one to be replaced. A name given by hand names
/// none.
fn refuse_renamed(backup: &str, holds: &str) -> Result<()> {
    let Some((named, stamp)) = stamp::split(backup).filter(|(named, _)| *named != holds) else {
        return Ok(());
    };
    let right = format!("{holds}-{stamp}");
    Err(Error::BackupRenamed {
        backup: backup.to_owned(),
        named: named.to_owned(),
        holds: holds.to_owned(),
        right,
    })
}

/// What a folder that was copied by hand may hold besides: the log has what was written last, and the journal what was not.
/// A backup that was made here has neither.
const BESIDE: [&str; 2] = ["vault.db-wal", "vault.db-journal"];

/// Copies what makes a vault, durably. The manifest comes last, so that a copy that was cut short is none.
fn copy(from: &Path, to: &Path) -> Result<()> {
    make_private_folder(to)?;
    for file in BESIDE.into_iter().chain([DATABASE, MANIFEST]) {
        let (source, target) = (from.join(file), to.join(file));
        let mut read = match regular::open(&source) {
            Err(error) if BESIDE.contains(&file) && error.kind() == io::ErrorKind::NotFound => continue,
            opened => opened.map_err(Error::io("copy", &source))?,
        };
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

/// Opened as it will be: what a log holds is moved into the database, which is left as a vault's own.
fn verify(
    staged: &Path,
    master: &MasterKey,
    options: &VaultOptions,
    name: &str,
    progress: &mut dyn FnMut(u64),
) -> Result<()> {
    // A replica is changed by its shard alone.
    let read_only = backups::manifest_of(staged)?.is_of_cluster();
    let copy = Vault::open(staged, master, VaultOptions { read_only, ..options.clone() })?;
    let report = copy.verify(progress)?;
    if report.ok {
        return Ok(copy.close()?);
    }
    Err(Error::BackupUnverified { name: name.to_owned(), findings: findings(&report) })
}

/// How much is wrong with a copy that nothing else can look into, and the first of it.
fn findings(report: &VerifyReport) -> String {
    let lists = [
        ("records fail their check", &report.bad_records),
        ("orphan labels", &report.orphan_labels),
        ("mirror drift", &report.mirror_drift),
        ("version replay", &report.version_replay),
        ("label drift", &report.label_drift),
        ("ledger drift", &report.ledger_drift),
        ("false supersession links", &report.bad_supersessions),
    ];
    let chain = (!report.chain_ok).then(|| "its audit chain is broken".to_owned());
    let told = lists.into_iter().filter_map(|(what, list)| {
        let first = list.iter().take(NAMED).map(String::as_str).collect::<Vec<_>>().join(", ");
        let more = if list.len() > NAMED { ", …" } else { "" };
        (!list.is_empty()).then(|| format!("{what}: {} ({first}{more})", list.len()))
    });
    chain.into_iter().chain(told).collect::<Vec<_>>().join("; ")
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
    if registry::is_vault(target)? {
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
        _ if replace => registry::refuse_link(target, vault, "replaced"),
        Found::Vault | Found::WithoutManifest { .. } | Found::Remains => {
            Err(Error::RestoreReplaces(vault.to_owned()))
        }
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
