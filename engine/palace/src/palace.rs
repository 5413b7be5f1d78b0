//! The façade of an installation: joins its key, its settings, its vaults and its backups.
//!
//! Decisions about files are made by the parts; what is true of one vault is decided by the vault.

use std::sync::Arc;

use undercroft_crypto::{Entropy, MasterKey, UnverifiedManifest, VaultKeys};
use undercroft_vault::{BackupInfo, Clock, Vault, VaultConfig, VaultOptions};

use crate::backups::{self, Backup};
use crate::env::parse::{Fusion, Limit};
use crate::error::{Error, Result};
use crate::home::Home;
use crate::keys::{CreateKeys, KeyOrigin, KeySource, load_master_key};
use crate::registry::{self, Found};
use crate::restore;
use crate::settings::VaultSettings;
use crate::staging::{self, Names, Staging};

pub use undercroft_crypto::Level;

/// Whether a vault is opened to be changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Reads and writes.
    Write,
    /// Writes nothing; what would be healed is reported.
    ReadOnly,
}

/// One installation with its master key in memory.
pub struct Palace {
    home: Home,
    master: MasterKey,
    origin: KeyOrigin,
    options: VaultOptions,
}

impl std::fmt::Debug for Palace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Palace").field("home", &self.home).finish_non_exhaustive()
    }
}

impl Palace {
    /// Loads the master key as [`load_master_key`] does. `tools` brings time, randomness and the embedder; its knobs are
    /// replaced by `settings`.
    ///
    /// # Errors
    /// Those of [`load_master_key`]; [`Error::ForeignKey`] where something may be made, and the key is not the one of what
    /// is there.
    pub fn open(
        home: Home,
        declared: &KeySource,
        create: CreateKeys,
        settings: &VaultSettings,
        tools: VaultOptions,
    ) -> Result<Self> {
        let (master, origin) = load_master_key(&home, declared, create, tools.entropy.as_ref())?;
        staging::recover(&home)?;
        let options = VaultOptions { config: config(settings), ..tools };
        let palace = Self { home, master, origin, options };
        if create == CreateKeys::IfEmpty {
            palace.refuse_foreign_key()?;
        }
        Ok(palace)
    }

    /// The data folder.
    #[must_use]
    pub fn home(&self) -> &Home {
        &self.home
    }

    /// Where the master key came from.
    #[must_use]
    pub fn key_origin(&self) -> &KeyOrigin {
        &self.origin
    }

    /// The names of all vaults, in order.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn vaults(&self) -> Result<Vec<String>> {
        registry::names(&self.home)
    }

    /// Makes the vault `name` and opens it.
    ///
    /// # Errors
    /// [`Error::VaultName`], [`Error::VaultExists`], [`Error::NameTaken`] when something else lies there,
    /// [`Error::ManifestMissing`], [`Error::ForeignKey`] when there are vaults and the master key opens none of them, or
    /// what the vault says.
    pub fn create_vault(&self, name: &str, level: Level) -> Result<Vault> {
        let folder = registry::folder(&self.home, name)?;
        // From the look to the making nobody else gives the name to another folder, and a vault of this name whose
        // replacement was interrupted is put back first: it would be waste once another has its name.
        let _names = Names::hold(&self.home)?;
        staging::put_back(&self.home, &folder)?;
        match registry::look(&folder)? {
            Found::Nothing => {}
            Found::Vault => return Err(Error::VaultExists(name.trim().to_owned())),
            Found::WithoutManifest { instead } => {
                return Err(Error::ManifestMissing { vault: name.trim().to_owned(), instead });
            }
            Found::Remains => return Err(Error::VaultLost(name.trim().to_owned())),
            found => return Err(registry::taken(name, &folder, found)),
        }
        self.refuse_foreign_key()?;
        crate::home::make_private_folder(&self.home.vaults())?;
        Ok(Vault::create(&folder, name, level, &self.master, self.options.clone())?)
    }

    /// Opens the vault `name`.
    ///
    /// # Errors
    /// [`Error::VaultName`], [`Error::NoVault`], [`Error::Misplaced`] when the folder holds another vault, or what the vault
    /// says.
    pub fn open_vault(&self, name: &str, access: Access) -> Result<Vault> {
        let folder = registry::existing(&self.home, name)?;
        let options = VaultOptions { read_only: access == Access::ReadOnly, ..self.options.clone() };
        let vault = Vault::open(&folder, &self.master, options)?;
        refuse_misplaced(&folder, &vault.name())?;
        Ok(vault)
    }

    /// Deletes the vault `name` durably. Backups of it stay.
    ///
    /// # Errors
    /// [`Error::VaultName`], [`Error::NoVault`], [`Error::NotOpened`] when its manifest does not verify with the master key,
    /// [`Error::Misplaced`], [`Error::KeptElsewhere`], or a conflict while anybody has it open.
    pub fn delete_vault(&self, name: &str) -> Result<()> {
        let folder = registry::existing(&self.home, name)?;
        let manifest = match backups::manifest_of(&folder) {
            // One that does not parse is vouched for by no key.
            Err(Error::Crypto(_)) => return Err(Error::NotOpened(name.trim().to_owned())),
            read => read?,
        };
        if !is_ours(&manifest, &self.master) {
            return Err(Error::NotOpened(name.trim().to_owned()));
        }
        refuse_misplaced(&folder, manifest.name())?;
        registry::refuse_link(&folder, name, "deleted")?;
        let staging = Staging::enter(&self.home)?;
        let mut removed = Ok(());
        undercroft_vault::alone(&folder, name, || {
            removed = registry::remove(&self.home, name, &staging);
            Ok(())
        })?;
        removed
    }

    /// Verifies the vault, copies it into a new backup folder, and drops its oldest backups beyond the kept number.
    ///
    /// # Errors
    /// [`Error::Unverified`] when the vault fails its verification, and then nothing is copied; or what the vault says.
    pub fn create_backup(&self, vault: &str, progress: &mut dyn FnMut(u64)) -> Result<CreatedBackup> {
        let opened = self.open_vault(vault, Access::Write)?;
        let name = opened.name();
        if !opened.verify(progress)?.ok {
            return Err(Error::Unverified(name));
        }
        let target = backups::reserve(&self.home, &name, self.now())?;
        // Put together aside: what lies among the backups is whole and verified.
        let staging = Staging::enter(&self.home)?;
        let staged = staging.fresh_backup(self.options.entropy.as_ref())?;
        let info = opened.copy_to(&staged, &self.master)?;
        if let Err(source) = std::fs::rename(&staged, &target) {
            // It is whole, and nothing will look for it there.
            let _ = std::fs::remove_dir_all(&staged);
            return Err(Error::io("put in place", &target)(source));
        }
        registry::sync(&self.home.backups())?;
        let dropped = backups::prune(&self.home, &name, &target, &staging)?;
        Ok(CreatedBackup { path: target, info, dropped })
    }

    /// Every backup, oldest name first.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn backups(&self) -> Result<Vec<Backup>> {
        backups::list(&self.home)
    }

    /// Brings the backup `name` back as the vault that its manifest names, and says which that is. It is copied aside,
    /// verified, and swapped in by renaming; a crash leaves the old vault or the new one.
    ///
    /// # Errors
    /// [`Error::NoBackup`], [`Error::RestoreReplaces`] when the vault exists and `replace` is not given,
    /// [`Error::BackupUnverified`], [`Error::BackupRenamed`], [`Error::KeptElsewhere`], or a conflict while anybody has the vault open.
    pub fn restore_backup(&self, name: &str, replace: bool, progress: &mut dyn FnMut(u64)) -> Result<String> {
        restore::restore(&self.home, &self.master, &self.options, name, replace, progress)
    }

    /// A key that opens no vault of this installation would make one that the others' key cannot open. A vault that
    /// lost its manifest tells nothing about keys.
    fn refuse_foreign_key(&self) -> Result<()> {
        let mut judged = 0;
        for name in registry::names(&self.home)? {
            let folder = registry::folder(&self.home, &name)?;
            if registry::look(&folder)? != Found::Vault {
                continue;
            }
            judged += 1;
            if backups::manifest_of(&folder).is_ok_and(|manifest| is_ours(&manifest, &self.master)) {
                return Ok(());
            }
        }
        if judged == 0 { Ok(()) } else { Err(Error::ForeignKey { vaults: judged }) }
    }

    fn now(&self) -> i64 {
        self.options.clock.now_micros()
    }
}

/// A backup that was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CreatedBackup {
    /// Its folder.
    pub path: std::path::PathBuf,
    /// What it holds.
    pub info: BackupInfo,
    /// Names of older backups that were dropped for it.
    pub dropped: Vec<String>,
}

/// The standard tools of a process: its clock, its randomness, the built-in embedder.
#[must_use]
pub fn standard_tools() -> VaultOptions {
    VaultOptions::default()
}

/// The standard embedder with time and randomness of the caller's choice, for tests and simulations.
#[must_use]
pub fn tools_with(clock: Arc<dyn Clock>, entropy: Arc<dyn Entropy>) -> VaultOptions {
    VaultOptions { clock, entropy, ..VaultOptions::default() }
}

/// A folder that was swapped or copied would serve one vault's contents under another's name.
fn refuse_misplaced(folder: &std::path::Path, holds: &str) -> Result<()> {
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    if name == holds {
        return Ok(());
    }
    Err(Error::Misplaced { folder: name.into_owned(), holds: holds.to_owned() })
}

fn is_ours(manifest: &UnverifiedManifest, master: &MasterKey) -> bool {
    let (generation, salt) = manifest.newest();
    let keys = VaultKeys::derive(master, manifest.seal_id(), *generation, salt);
    manifest.verify(keys.manifest()).is_ok()
}

/// The settings in the vault's own terms.
fn config(settings: &VaultSettings) -> VaultConfig {
    VaultConfig {
        fusion: match settings.fusion {
            Fusion::Bm25 => undercroft_search::FusionMode::Bm25,
            Fusion::Legacy => undercroft_search::FusionMode::Legacy,
        },
        semantic_weight: settings.fusion_weight as f32,
        gate: settings.semantic_gate.map(|limit| match limit {
            Limit::Off => undercroft_search::Gate::Off,
            Limit::At(gate) => undercroft_search::Gate::At(gate as f32),
        }),
        floor: settings.semantic_floor.map(|floor| floor as f32),
        force_embedder: settings.force_embedder,
    }
}

#[cfg(test)]
#[path = "palace_test.rs"]
mod palace_test;
