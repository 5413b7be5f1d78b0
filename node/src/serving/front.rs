//! The vaults of one process: opened when somebody asks, closed when nobody does, each on its own.
//!
//! Joins cache, lanes, writers and health. What is true of a vault is decided by the vault, what is true of the
//! installation by the palace.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::sync::{OwnedRwLockWriteGuard, RwLock};
use undercroft_palace::backups::Backup;
use undercroft_palace::{Access, CreatedBackup, Home, Level, Palace, registry};
use undercroft_vault::Vault;

use super::bounds::Bounds;
use super::cache::{Cache, Entry, State};
use super::counts::{Counted, Counts};
use super::handle::{Running, VaultHandle};
use super::health::{Damaged, Health};
use super::lanes::{Lane, Lanes, blocking};
use super::{sweeper, writer};
use crate::error::{Error, Result};
use crate::limits;

/// How vaults are served.
#[derive(Debug, Clone)]
pub struct ServingOptions {
    /// Whether vaults are opened to be changed.
    pub access: Access,
    /// The vault that the process was started for: it cannot be deleted from under it.
    pub resident: Option<String>,
    /// How much is held at once.
    pub bounds: Bounds,
}

/// The vaults of one process. Cheap to clone; all clones are the same.
#[derive(Clone)]
pub struct Serving {
    shared: Arc<Shared>,
}

/// What everything in this folder shares.
pub(super) struct Shared {
    palace: Palace,
    pub(super) options: ServingOptions,
    pub(super) lanes: Lanes,
    pub(super) cache: Cache,
    pub(super) health: Health,
    pub(super) counts: Counts,
    /// Places for open vaults.
    places: Lane,
    draining: AtomicBool,
}

impl std::fmt::Debug for Serving {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Serving").field("options", &self.shared.options).finish_non_exhaustive()
    }
}

impl Serving {
    /// Serves the vaults of `palace`. To be called inside a Tokio runtime, on which idle vaults are looked for.
    #[must_use]
    pub fn start(palace: Palace, options: ServingOptions) -> Self {
        let shared = Arc::new(Shared {
            palace,
            lanes: Lanes::new(&options.bounds),
            places: Lane::new(options.bounds.open_vaults),
            options,
            cache: Cache::new(),
            health: Health::default(),
            counts: Counts::default(),
            draining: AtomicBool::new(false),
        });
        sweeper::start(&shared);
        Self { shared }
    }

    /// The data folder.
    #[must_use]
    pub fn home(&self) -> &Home {
        self.shared.palace.home()
    }

    /// The vault that the process was started for.
    #[must_use]
    pub fn resident(&self) -> Option<&str> {
        self.shared.options.resident.as_deref()
    }

    /// Whether vaults are only read.
    #[must_use]
    pub fn is_read_only(&self) -> bool {
        self.shared.options.access == Access::ReadOnly
    }

    /// Whether the process is finishing.
    #[must_use]
    pub fn is_draining(&self) -> bool {
        self.shared.draining.load(Ordering::Acquire)
    }

    /// How many vaults are open.
    #[must_use]
    pub fn open_vaults(&self) -> usize {
        self.shared.options.bounds.open_vaults.saturating_sub(self.shared.places.free())
    }

    /// Vaults whose bytes were found wanting since the process started.
    #[must_use]
    pub fn damaged(&self) -> Vec<Damaged> {
        self.shared.health.damaged()
    }

    /// What was counted since the process started.
    #[must_use]
    pub fn counted(&self) -> Counted {
        self.shared.counts.now()
    }

    /// The open vaults that nobody is opening or closing right now, with the heights of their audit chains.
    #[must_use]
    pub fn heights(&self) -> Vec<(String, u64)> {
        let entries = self.shared.cache.oldest_first().into_iter();
        entries
            .filter_map(|entry| match &*entry.state.try_read().ok()? {
                State::Open(running) => Some((entry.name.clone(), running.height())),
                State::Vacant | State::Gone => None,
            })
            .collect()
    }

    /// The names of all vaults, in order.
    ///
    /// # Errors
    /// When the folder of vaults cannot be read.
    pub async fn vaults(&self) -> Result<Vec<String>> {
        let shared = self.shared.clone();
        blocking(move || Ok(shared.palace.vaults()?)).await
    }

    /// The vault `name`, opened if it is not.
    ///
    /// # Errors
    /// Not found, an integrity verdict of its open, [`Error::Draining`], or [`Error::Busy`] when as many vaults are in use
    /// as may be open.
    pub async fn vault(&self, name: &str) -> Result<VaultHandle> {
        let key = self.key(name)?;
        loop {
            self.check_accepting()?;
            let entry = self.shared.cache.entry(&key);
            let guard = entry.state.clone().read_owned().await;
            match &*guard {
                State::Open(_) => return self.handle(guard, &key),
                State::Gone => continue,
                State::Vacant => drop(guard),
            }
            let alone = entry.state.clone().write_owned().await;
            if matches!(*alone, State::Vacant) {
                // Before a place is taken: a name that stands for nothing closes no other vault.
                if let Err(missing) = self.existing(&key) {
                    self.shared.forget(&entry, alone);
                    return Err(missing);
                }
                let (access, opened) = (self.shared.options.access, key.clone());
                let open = move |palace: &Palace| palace.open_vault(&opened, access);
                let alone = self.fill(&entry, alone, open).await?;
                return self.handle(alone.downgrade(), &key);
            }
        }
    }

    /// Makes the vault `name` and opens it.
    ///
    /// # Errors
    /// What is wrong with the name, a conflict when it exists, a denial when this process only reads.
    pub async fn create(&self, name: &str, level: Level) -> Result<VaultHandle> {
        self.check_writing()?;
        let key = self.key(name)?;
        let alone = self.alone(&key).await?;
        if matches!(*alone.guard, State::Open(_)) {
            return Err(undercroft_palace::Error::VaultExists(key).into());
        }
        let made = key.clone();
        let create = move |palace: &Palace| palace.create_vault(&made, level);
        let guard = self.fill(&alone.entry, alone.guard, create).await?;
        self.handle(guard.downgrade(), &key)
    }

    /// Deletes the vault `name` once the requests that use it are done.
    ///
    /// # Errors
    /// Not found; [`Error::CoResident`]; [`Error::InUse`] when requests do not end in time, or another process has it open.
    pub async fn delete(&self, name: &str) -> Result<()> {
        self.check_writing()?;
        let key = self.key(name)?;
        if self.shared.options.resident.as_deref() == Some(key.as_str()) {
            return Err(Error::CoResident(key));
        }
        let deleted = key.clone();
        self.instead(&key, move |palace| Ok(palace.delete_vault(&deleted)?)).await
    }

    /// Copies the verified vault into a new backup.
    ///
    /// # Errors
    /// Not found; an integrity verdict when it does not verify.
    pub async fn back_up(&self, name: &str) -> Result<CreatedBackup> {
        self.check_writing()?;
        let handle = self.vault(name).await?;
        let place = self.shared.lanes.long().await?;
        let shared = self.shared.clone();
        blocking(move || {
            let made = shared.palace.create_backup(handle.name(), &mut |_| {});
            drop(place);
            made.map_err(|error| handle.judged(error.into()))
        })
        .await
    }

    /// The backups of the vault, oldest name first.
    ///
    /// # Errors
    /// Not found, or when the folder of backups cannot be read.
    pub async fn backups(&self, name: &str) -> Result<Vec<Backup>> {
        let key = self.existing(name)?;
        let shared = self.shared.clone();
        blocking(move || {
            let mut all = shared.palace.backups()?;
            all.retain(|backup| backup.vault.as_deref() == Some(key.as_str()));
            Ok(all)
        })
        .await
    }

    /// Replaces the vault by one of its backups, once the requests that use it are done.
    ///
    /// # Errors
    /// [`Error::ForeignBackup`], not found, an integrity verdict on the backup, [`Error::InUse`].
    pub async fn restore(&self, name: &str, backup: &str) -> Result<()> {
        self.check_writing()?;
        let key = self.existing(name)?;
        let (vault, backup) = (key.clone(), backup.to_owned());
        let place = self.shared.lanes.long().await?;
        self.instead(&key, move |palace| {
            let found = undercroft_palace::backups::find(palace.home(), &backup)?;
            if found.vault.as_deref() != Some(vault.as_str()) {
                return Err(Error::ForeignBackup { backup, vault });
            }
            palace.restore_backup(&backup, true, &mut |_| {})?;
            drop(place);
            Ok(())
        })
        .await
    }

    /// Finishes what was accepted, anchors and closes every vault. Nothing new is accepted from the first moment on.
    /// Vaults that are still in use when `patience` is over are left to the end of the process and counted.
    pub async fn drain(&self, patience: Duration) -> usize {
        self.shared.draining.store(true, Ordering::Release);
        let end = tokio::time::Instant::now() + patience;
        let mut left = 0;
        for entry in self.shared.cache.oldest_first() {
            match tokio::time::timeout_at(end, entry.state.clone().write_owned()).await {
                Ok(alone) => self.shared.close(&entry, alone).await,
                Err(_) => left += 1,
            }
        }
        left
    }

    #[cfg(test)]
    pub(super) fn shared(&self) -> Arc<Shared> {
        self.shared.clone()
    }

    #[cfg(test)]
    pub(super) fn entries(&self) -> usize {
        self.shared.cache.oldest_first().len()
    }

    /// Does `work` while nobody has the vault open in this process.
    async fn instead(
        &self,
        key: &str,
        work: impl FnOnce(&Palace) -> Result<()> + Send + 'static,
    ) -> Result<()> {
        let mut alone = self.alone(key).await?;
        let shared = self.shared.clone();
        let open = std::mem::replace(&mut *alone.guard, State::Vacant);
        // The guard goes with the work: it ends alone even when the request is given up.
        blocking(move || {
            settle(open);
            let done = work(&shared.palace);
            if done.is_ok() {
                shared.health.clear(&alone.entry.name);
            }
            shared.forget(&alone.entry, alone.guard);
            done
        })
        .await
    }

    async fn alone(&self, key: &str) -> Result<Alone> {
        loop {
            self.check_accepting()?;
            let entry = self.shared.cache.entry(key);
            let waiting = entry.state.clone().write_owned();
            let guard = tokio::time::timeout(limits::ALONE_WAIT, waiting)
                .await
                .map_err(|_| Error::InUse(key.to_owned()))?;
            if !matches!(*guard, State::Gone) {
                return Ok(Alone { entry, guard });
            }
        }
    }

    /// Opens a vault into its vacant entry, or takes the entry out again.
    async fn fill(
        &self,
        entry: &Arc<Entry>,
        mut alone: OwnedRwLockWriteGuard<State>,
        open: impl FnOnce(&Palace) -> undercroft_palace::Result<Vault> + Send + 'static,
    ) -> Result<OwnedRwLockWriteGuard<State>> {
        match self.open(open).await {
            Ok(running) => {
                *alone = State::Open(Box::new(running));
                Ok(alone)
            }
            Err(error) => {
                self.shared.health.judge(&entry.name, &error);
                self.shared.forget(entry, alone);
                Err(error)
            }
        }
    }

    async fn open(
        &self,
        open: impl FnOnce(&Palace) -> undercroft_palace::Result<Vault> + Send + 'static,
    ) -> Result<Running> {
        let place = loop {
            if let Some(place) = self.shared.places.try_enter() {
                break place;
            }
            if !self.shared.close_oldest().await {
                return Err(Error::Busy("as many vaults in use as may be open"));
            }
        };
        let opening = self.shared.lanes.openings.enter().await?;
        let shared = self.shared.clone();
        let runtime = tokio::runtime::Handle::current();
        blocking(move || {
            let vault = open(&shared.palace)?;
            drop(opening);
            shared.counts.opened();
            let bounds = &shared.options.bounds;
            let _runtime = runtime.enter();
            let writes = (!vault.is_read_only()).then(|| writer::start(bounds.waiting_writes));
            let lanes = (Lane::new(limits::READS_PER_VAULT), Lane::new(bounds.waiting_reads));
            Running::new(vault, writes, lanes, place)
        })
        .await
    }

    fn handle(&self, guard: tokio::sync::OwnedRwLockReadGuard<State>, key: &str) -> Result<VaultHandle> {
        let running = tokio::sync::OwnedRwLockReadGuard::try_map(guard, |state| match state {
            State::Open(running) => Some(&**running),
            State::Vacant | State::Gone => None,
        });
        // The state was looked at under this very guard.
        let running = running.map_err(|_| Error::Lost)?;
        Ok(VaultHandle::new(running, self.shared.clone(), key))
    }

    /// The vault's folder name, under which it is in the cache once, however the name was spelt.
    fn key(&self, name: &str) -> Result<String> {
        let folder = registry::folder(self.home(), name)?;
        let key = folder.file_name().and_then(|key| key.to_str()).map(str::to_owned);
        Ok(key.ok_or_else(|| undercroft_palace::Error::VaultName(String::from("a vault needs a name")))?)
    }

    fn existing(&self, name: &str) -> Result<String> {
        let key = self.key(name)?;
        if registry::exists(self.home(), &key)? {
            Ok(key)
        } else {
            Err(undercroft_palace::Error::NoVault(key).into())
        }
    }

    fn check_accepting(&self) -> Result<()> {
        if self.is_draining() { Err(Error::Draining) } else { Ok(()) }
    }

    fn check_writing(&self) -> Result<()> {
        if self.is_read_only() {
            Err(undercroft_vault::Error::ReadOnly.into())
        } else {
            self.check_accepting()
        }
    }
}

/// An entry that nobody else works with.
struct Alone {
    entry: Arc<Entry>,
    guard: OwnedRwLockWriteGuard<State>,
}

impl Shared {
    /// Closes what the entry holds and takes it out of the cache.
    pub(super) async fn close(self: &Arc<Self>, entry: &Arc<Entry>, mut alone: OwnedRwLockWriteGuard<State>) {
        let open = std::mem::replace(&mut *alone, State::Vacant);
        let (shared, entry) = (self.clone(), entry.clone());
        // An answer was logged by then, and there is nobody else to tell.
        let _ = blocking(move || {
            settle(open);
            shared.forget(&entry, alone);
            Ok(())
        })
        .await;
    }

    /// Closes the vault that was used longest ago among those that nobody works with; says whether there was one.
    async fn close_oldest(self: &Arc<Self>) -> bool {
        for entry in self.cache.oldest_first() {
            let Ok(alone) = RwLock::try_write_owned(entry.state.clone()) else { continue };
            if matches!(*alone, State::Open(_)) {
                self.close(&entry, alone).await;
                return true;
            }
        }
        false
    }

    /// Takes the entry out of the cache; those who wait for it look again.
    fn forget(&self, entry: &Arc<Entry>, mut alone: OwnedRwLockWriteGuard<State>) {
        *alone = State::Gone;
        self.cache.remove(entry);
    }
}

/// Anchors, keeps the index image, closes. The words are safe by then; what failed is healed by the next open.
fn settle(state: State) {
    let State::Open(running) = state else { return };
    let Running { vault, .. } = *running;
    let name = vault.name();
    if let Err(error) = vault.close() {
        tracing::warn!(
            vault = name,
            class = error.class().as_str(),
            "closing left something to the next open"
        );
    }
}
