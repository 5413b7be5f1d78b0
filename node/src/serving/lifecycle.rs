//! What needs a vault alone, or makes, copies or replaces one: create, delete, back up, restore.
//!
//! Decides who waits for whom, in the order that `lanes` has for long works; what is done to the files is the palace's.

use std::sync::Arc;

use tokio::sync::OwnedRwLockWriteGuard;
use undercroft_palace::backups::Backup;
use undercroft_palace::{CreatedBackup, Level, Palace, registry};

use super::cache::{Entry, State};
use super::front::Serving;
use super::handle::VaultHandle;
use super::lanes::{LongPlace, blocking};
use super::shared::settle;
use crate::error::{Error, Result};
use crate::limits;

/// An entry that nobody else works with.
struct Alone {
    entry: Arc<Entry>,
    guard: OwnedRwLockWriteGuard<State>,
}

impl Serving {
    /// Makes the vault `name` and opens it.
    ///
    /// # Errors
    /// What is wrong with the name, a conflict when it exists, a denial when this process only reads.
    pub async fn create(&self, name: &str, level: Level) -> Result<VaultHandle> {
        self.check_writing()?;
        let key = self.key(name)?;
        // Before it is waited for: what exists is not disturbed.
        if registry::exists(self.home(), &key)? {
            return Err(undercroft_palace::Error::VaultExists(key).into());
        }
        let alone = self.alone(&key).await?;
        if matches!(*alone.guard, State::Open(_)) {
            return Err(undercroft_palace::Error::VaultExists(key).into());
        }
        let made = key.clone();
        let create = move |palace: &Palace| palace.create_vault(&made, level);
        let guard = self.fill(&alone.entry, alone.guard, create).await?;
        self.handle(guard.downgrade(), &key)
    }

    /// Deletes the vault `name` once the requests that use it are done, and says how many copies of it stay.
    ///
    /// # Errors
    /// Not found; [`Error::CoResident`]; [`Error::InUse`] when requests do not end in time, or another process has it open.
    pub async fn delete(&self, name: &str) -> Result<usize> {
        self.check_writing()?;
        let key = self.key(name)?;
        if self.shared.options.resident.as_deref() == Some(key.as_str()) {
            return Err(Error::CoResident(key));
        }
        let turn = tokio::time::timeout(limits::ALONE_WAIT, self.shared.lanes.turn(&key))
            .await
            .map_err(|_| Error::InUse(key.clone()))??;
        let deleted = key.clone();
        self.instead(&key, move |palace| {
            let kept = own_backups(palace, &deleted)?.len();
            palace.delete_vault(&deleted)?;
            drop(turn);
            Ok(kept)
        })
        .await
    }

    /// Copies the verified vault into a new backup.
    ///
    /// # Errors
    /// Not found; an integrity verdict when it does not verify.
    pub async fn back_up(&self, name: &str) -> Result<CreatedBackup> {
        self.check_writing()?;
        let place = self.long_place(name).await?;
        let handle = self.vault(name).await?;
        let shared = self.shared.clone();
        blocking(move || {
            let made = shared.palace.create_backup(handle.name(), &mut |_| {});
            let made = made.map_err(|error| handle.judged(error.into()));
            drop((handle, place));
            made
        })
        .await
    }

    /// The backups of the vault that is there now, oldest name first.
    ///
    /// # Errors
    /// Not found, or when the folder of backups cannot be read.
    pub async fn backups(&self, name: &str) -> Result<Vec<Backup>> {
        let key = self.existing(name)?;
        let shared = self.shared.clone();
        blocking(move || own_backups(&shared.palace, &key)).await
    }

    /// Replaces the vault by one of its backups, once the requests that use it are done.
    ///
    /// # Errors
    /// [`Error::ForeignBackup`], [`Error::EarlierBackup`], not found, an integrity verdict on the backup, [`Error::InUse`].
    pub async fn restore(&self, name: &str, backup: &str) -> Result<()> {
        self.check_writing()?;
        let key = self.existing(name)?;
        let (vault, named) = (key.clone(), backup.to_owned());
        let shared = self.shared.clone();
        // A name that stands for nothing closes nothing.
        blocking(move || check_own(&shared.palace, &vault, &named)).await?;
        let place = self.long_place(&key).await?;
        let (vault, backup) = (key.clone(), backup.to_owned());
        self.instead(&key, move |palace| {
            check_own(palace, &vault, &backup)?;
            palace.restore_backup(&backup, true, &mut |_| {})?;
            drop(place);
            Ok(())
        })
        .await
    }

    /// Waits for a place for long work on the vault `name`. To be taken before the vault is opened for it: whoever waits for
    /// a place with the vault in hand would be waited for by whoever has the place and wants the vault alone.
    ///
    /// # Errors
    /// Not found; [`Error::VaultBusy`] or [`Error::Busy`] when too many long works wait.
    pub async fn long_place(&self, name: &str) -> Result<LongPlace> {
        let key = self.existing(name)?;
        self.check_accepting()?;
        self.shared.lanes.long(&key).await
    }

    /// Does `work` while nobody has the vault open in this process.
    async fn instead<T: Send + 'static>(
        &self,
        key: &str,
        work: impl FnOnce(&Palace) -> Result<T> + Send + 'static,
    ) -> Result<T> {
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
}

/// Refuses a backup that is not one of the vault that is there now.
fn check_own(palace: &Palace, vault: &str, backup: &str) -> Result<()> {
    let found = undercroft_palace::backups::find(palace.home(), backup)?;
    let (vault, backup) = (vault.to_owned(), backup.to_owned());
    if found.vault.as_deref() != Some(vault.as_str()) {
        return Err(Error::ForeignBackup { backup, vault });
    }
    if !found.is_of(&registry::folder(palace.home(), &vault)?) {
        return Err(Error::EarlierBackup { backup, vault });
    }
    Ok(())
}

/// The backups of the vault `name` as it is now: those of an earlier one of that name are not its own.
fn own_backups(palace: &Palace, name: &str) -> Result<Vec<Backup>> {
    let folder = registry::folder(palace.home(), name)?;
    let mut all = palace.backups()?;
    all.retain(|backup| backup.vault.as_deref() == Some(name) && backup.is_of(&folder));
    Ok(all)
}
