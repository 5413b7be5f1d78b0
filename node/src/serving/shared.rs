//! What everything in this folder shares, and how an open vault is closed.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use tokio::sync::{OwnedRwLockWriteGuard, RwLock};
use undercroft_palace::{ErrorClass, Palace};

use super::cache::{Cache, Entry, State};
use super::counts::Counts;
use super::crowd::Crowd;
use super::front::ServingOptions;
use super::handle::Running;
use super::health::Health;
use super::lanes::{Lane, Lanes, blocking};
use crate::error::Error;

/// What everything in this folder shares.
pub(super) struct Shared {
    pub(super) palace: Palace,
    pub(super) options: ServingOptions,
    pub(super) lanes: Lanes,
    pub(super) cache: Cache,
    pub(super) health: Health,
    pub(super) crowd: Crowd,
    pub(super) counts: Counts,
    /// Places for open vaults.
    pub(super) places: Lane,
    pub(super) draining: AtomicBool,
}

impl Shared {
    /// Notes and counts the error if it is a verdict on the bytes of the vault `name`.
    pub(super) fn judge(&self, name: &str, error: &Error) {
        if error.class() == ErrorClass::Integrity {
            self.counts.failed(error);
            self.health.note(name, error.to_string());
        }
    }

    /// The same for a vault that could not be opened: the finding ends with the next open that succeeds.
    pub(super) fn judge_open(&self, name: &str, error: &Error) {
        if error.class() == ErrorClass::Integrity {
            self.counts.failed(error);
            self.health.note_unopened(name, error.to_string());
        }
    }

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

    /// Closes a vault that is not what lies under its name any more, once whoever works with it is done. Whoever asks for it
    /// later waits for that and opens what is there.
    pub(super) fn close_displaced(self: &Arc<Self>, name: &str) {
        self.health.displace(name);
        let (Some(entry), Ok(runtime)) = (self.cache.find(name), tokio::runtime::Handle::try_current())
        else {
            return;
        };
        let shared = self.clone();
        runtime.spawn(async move { shared.close_left(&entry).await });
    }

    /// Closes the displaced vault of the entry, unless somebody did.
    pub(super) async fn close_left(self: &Arc<Self>, entry: &Arc<Entry>) {
        let alone = entry.state.clone().write_owned().await;
        if matches!(&*alone, State::Open(running) if running.has_left()) {
            self.close(entry, alone).await;
        }
    }

    /// Closes the vault that was used longest ago among those that nobody works with; says whether there was one.
    pub(super) async fn close_oldest(self: &Arc<Self>) -> bool {
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
    pub(super) fn forget(&self, entry: &Arc<Entry>, mut alone: OwnedRwLockWriteGuard<State>) {
        *alone = State::Gone;
        self.cache.remove(entry);
    }
}

/// Anchors, keeps the index image, closes. The words are safe by then; what failed is healed by the next open.
pub(super) fn settle(state: State) {
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
