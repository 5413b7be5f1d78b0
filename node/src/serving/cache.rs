//! Which vaults are open, and which of them to close first. Owns the entries and the decision; opens and closes nothing.
//!
//! An entry's lock is the protocol: whoever works with a vault holds it shared, whoever opens, closes, deletes or replaces
//! the vault holds it alone. It is fair, so a deletion is not starved by readers.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::RwLock;
use tokio::time::Instant;

use super::handle::Running;

/// What an entry holds.
pub(super) enum State {
    /// Nothing is open; whoever needs the vault opens it here.
    Vacant,
    /// The open vault.
    Open(Box<Running>),
    /// The entry was taken out of the cache: look again.
    Gone,
}

/// One vault's place in the cache.
pub(super) struct Entry {
    /// The vault's folder name, by which no vault is in the cache twice.
    pub(super) name: String,
    pub(super) state: Arc<RwLock<State>>,
    /// When somebody last asked for it, in milliseconds since the cache was made.
    used: AtomicU64,
}

/// The open vaults of a process.
pub(super) struct Cache {
    entries: Mutex<HashMap<String, Arc<Entry>>>,
    since: Instant,
}

/// An open vault as the decision about closing sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Seen {
    /// For how long nobody asked for it.
    pub(super) unused: Duration,
    /// Memory of its index, in bytes.
    pub(super) index_bytes: usize,
}

impl Cache {
    pub(super) fn new() -> Self {
        Self { entries: Mutex::new(HashMap::new()), since: Instant::now() }
    }

    /// The entry of the vault `name`, made when it is missing, and noted as used now.
    pub(super) fn entry(&self, name: &str) -> Arc<Entry> {
        let mut entries = self.entries.lock();
        let entry = match entries.get(name) {
            Some(entry) => entry.clone(),
            None => {
                let entry = Arc::new(Entry {
                    name: name.to_owned(),
                    state: Arc::new(RwLock::new(State::Vacant)),
                    used: AtomicU64::new(0),
                });
                entries.insert(name.to_owned(), entry.clone());
                entry
            }
        };
        entry.used.store(self.now(), Ordering::Relaxed);
        entry
    }

    /// The entry of the vault `name`, if there is one.
    pub(super) fn find(&self, name: &str) -> Option<Arc<Entry>> {
        self.entries.lock().get(name).cloned()
    }

    /// Takes the entry out. Its holder has it alone and has marked it [`State::Gone`].
    pub(super) fn remove(&self, entry: &Arc<Entry>) {
        let mut entries = self.entries.lock();
        if entries.get(&entry.name).is_some_and(|found| Arc::ptr_eq(found, entry)) {
            entries.remove(&entry.name);
        }
    }

    /// Every entry, the one that was used longest ago first.
    pub(super) fn oldest_first(&self) -> Vec<Arc<Entry>> {
        let mut all: Vec<_> = self.entries.lock().values().cloned().collect();
        all.sort_by_cached_key(|entry| entry.used.load(Ordering::Relaxed));
        all
    }

    /// For how long nobody asked for the entry.
    pub(super) fn unused(&self, entry: &Entry) -> Duration {
        Duration::from_millis(self.now().saturating_sub(entry.used.load(Ordering::Relaxed)))
    }

    fn now(&self) -> u64 {
        u64::try_from(self.since.elapsed().as_millis()).unwrap_or(u64::MAX)
    }
}

/// Which of the vaults to close, given the one used longest ago first: those that nobody used for `idle`, then further
/// ones until the indexes of the rest fit into `index_bytes`.
pub(super) fn to_close(seen: &[Seen], idle: Duration, index_bytes: usize) -> Vec<usize> {
    let mut total: usize = seen.iter().map(|vault| vault.index_bytes).sum();
    let mut close = Vec::new();
    for (at, vault) in seen.iter().enumerate() {
        let relieves = total > index_bytes && vault.index_bytes > 0;
        if vault.unused >= idle || relieves {
            total -= vault.index_bytes;
            close.push(at);
        }
    }
    close
}
