//! The vaults of one process: opened when somebody asks, closed when nobody does, each on its own.
//!
//! Joins cache, lanes, writers and health. What is true of a vault is decided by the vault, what is true of the
//! installation by the palace. What needs a vault alone is in `lifecycle`.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::sync::OwnedRwLockWriteGuard;
use undercroft_palace::{Access, Home, Palace, registry};
use undercroft_vault::Vault;

use super::bounds::Bounds;
use super::cache::{Cache, Entry, State};
use super::counts::{Counted, Counts};
use super::crowd::Crowd;
use super::handle::{Running, VaultHandle};
use super::health::{Damaged, Health};
use super::lanes::{Lane, Lanes, blocking};
use super::shared::Shared;
use super::{sweeper, writer};
use crate::error::{Error, Result};

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
    pub(super) shared: Arc<Shared>,
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
            crowd: Crowd::new(std::thread::available_parallelism().map_or(1, usize::from)),
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
                State::Open(running) if !running.has_left() => return self.handle(guard, &key),
                State::Open(_) => {
                    drop(guard);
                    self.shared.close_left(&entry).await;
                    continue;
                }
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

    /// Opens a vault into its vacant entry, or takes the entry out again.
    pub(super) async fn fill(
        &self,
        entry: &Arc<Entry>,
        mut alone: OwnedRwLockWriteGuard<State>,
        open: impl FnOnce(&Palace) -> undercroft_palace::Result<Vault> + Send + 'static,
    ) -> Result<OwnedRwLockWriteGuard<State>> {
        match self.open(open).await {
            Ok(running) => {
                self.shared.health.opened(&entry.name);
                *alone = State::Open(Box::new(running));
                Ok(alone)
            }
            Err(error) => {
                self.shared.judge_open(&entry.name, &error);
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
            let lanes = (Lane::new(bounds.reads_per_vault.max(2)), Lane::new(bounds.waiting_reads));
            Ok(Running::new(vault, writes, lanes, shared.crowd.number(), place))
        })
        .await
    }

    pub(super) fn handle(
        &self,
        guard: tokio::sync::OwnedRwLockReadGuard<State>,
        key: &str,
    ) -> Result<VaultHandle> {
        let running = tokio::sync::OwnedRwLockReadGuard::try_map(guard, |state| match state {
            State::Open(running) => Some(&**running),
            State::Vacant | State::Gone => None,
        });
        // The state was looked at under this very guard.
        let running = running.map_err(|_| Error::Lost)?;
        Ok(VaultHandle::new(running, self.shared.clone(), key))
    }

    /// The vault's folder name, under which it is in the cache once, however the name was spelt.
    pub(super) fn key(&self, name: &str) -> Result<String> {
        let folder = registry::folder(self.home(), name)?;
        let key = folder.file_name().and_then(|key| key.to_str()).map(str::to_owned);
        Ok(key.ok_or_else(|| undercroft_palace::Error::VaultName(String::from("a vault needs a name")))?)
    }

    pub(super) fn existing(&self, name: &str) -> Result<String> {
        let key = self.key(name)?;
        if registry::exists(self.home(), &key)? {
            Ok(key)
        } else {
            // What is not there is not damaged.
            self.shared.health.clear(&key);
            Err(undercroft_palace::Error::NoVault(key).into())
        }
    }

    pub(super) fn check_accepting(&self) -> Result<()> {
        if self.is_draining() { Err(Error::Draining) } else { Ok(()) }
    }

    pub(super) fn check_writing(&self) -> Result<()> {
        if self.is_read_only() {
            Err(undercroft_vault::Error::ReadOnly.into())
        } else {
            self.check_accepting()
        }
    }
}
