//! Looks for vaults that nobody uses, whose indexes take too much memory, or whose files were exchanged, and closes them;
//! anchors what was committed and not anchored yet. Which to close for room is decided by the cache.

use std::sync::{Arc, Weak};

use tokio::sync::RwLock;
use tokio::time::{MissedTickBehavior, interval};
use undercroft_palace::registry;

use super::cache::{self, Entry, Seen, State};
use super::lanes::blocking;
use super::shared::Shared;
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
        displaced(&shared);
        absent(&shared);
        sweep(&shared).await;
        anchor(&shared).await;
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

/// Closes the vaults that are no longer what lies under their names. A write notices by itself; somebody who only reads would
/// read the old files until the process ends.
pub(super) fn displaced(shared: &Arc<Shared>) {
    for entry in shared.cache.oldest_first() {
        let left = match entry.state.try_read().as_deref() {
            Ok(State::Open(running)) => !running.vault.is_in_place() && running.leave(),
            _ => false,
        };
        if left {
            shared.close_displaced(&entry.name);
        }
    }
}

/// Forgets the findings of vaults that are not there any more.
pub(super) fn absent(shared: &Arc<Shared>) {
    for found in shared.health.damaged() {
        if registry::exists(shared.palace.home(), &found.vault).is_ok_and(|exists| !exists) {
            shared.health.clear(&found.vault);
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

/// Anchors every vault whose manifest lags. A vault anchors itself while writes go on; the last ones before a pause are
/// anchored here, so that they are no longer without an anchor than two looks take.
pub(super) async fn anchor(shared: &Arc<Shared>) {
    let lags = |state: &State| match state {
        State::Open(running) => running.lags(),
        State::Vacant | State::Gone => false,
    };
    for entry in shared.cache.oldest_first() {
        // Who has it alone opens or closes it, and anchors it by that.
        let Ok(held) = entry.state.clone().try_read_owned() else { continue };
        if !lags(&held) {
            continue;
        }
        let (shared, name) = (shared.clone(), entry.name.clone());
        // What went wrong is noted; the next look tries again.
        let _ = blocking(move || {
            if let State::Open(running) = &*held
                && let Err(error) = running.vault.anchor()
            {
                tracing::warn!(vault = name, class = error.class().as_str(), "could not be anchored");
                shared.judge(&name, &error.into());
            }
            Ok(())
        })
        .await;
    }
}
