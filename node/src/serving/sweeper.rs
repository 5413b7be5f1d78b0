//! Looks for vaults that nobody uses or whose indexes take too much memory, and closes them. Decides nothing: the
//! cache does.

use std::sync::{Arc, Weak};

use tokio::sync::RwLock;
use tokio::time::{MissedTickBehavior, interval};

use super::cache::{self, Entry, Seen, State};
use super::front::Shared;
use crate::limits;

/// Runs until the serving part is dropped.
pub(super) fn start(shared: &Arc<Shared>) {
    tokio::spawn(run(Arc::downgrade(shared)));
}

async fn run(shared: Weak<Shared>) {
    let mut ticks = interval(limits::SWEEP);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        let Some(shared) = shared.upgrade() else { return };
        sweep(&shared).await;
    }
}

/// One look.
pub(super) async fn sweep(shared: &Arc<Shared>) {
    let (entries, seen): (Vec<Arc<Entry>>, Vec<Seen>) = shared
        .cache
        .oldest_first()
        .into_iter()
        .filter_map(|entry| see(shared, &entry).map(|seen| (entry, seen)))
        .unzip();
    let bounds = &shared.options.bounds;
    for at in cache::to_close(&seen, bounds.idle, bounds.index_bytes) {
        // Somebody may have come back to it meanwhile.
        if let Ok(alone) = RwLock::try_write_owned(entries[at].state.clone()) {
            shared.close(&entries[at], alone).await;
        }
    }
}

/// An entry that is being opened or closed right now is not looked at. One that an abandoned open left vacant counts as
/// a vault without memory, so that it goes when it is idle.
fn see(shared: &Shared, entry: &Arc<Entry>) -> Option<Seen> {
    let state = entry.state.try_read().ok()?;
    let index_bytes = match &*state {
        State::Open(running) => running.vault.index_bytes(),
        State::Vacant => 0,
        State::Gone => return None,
    };
    Some(Seen { unused: shared.cache.unused(entry), index_bytes })
}
