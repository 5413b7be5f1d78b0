//! Replaces copies that are suspect, missing or too old by ones that other replicas send, each proved before it is put in place.
//!
//! A suspect copy is not served, its files are kept as evidence once, and nobody has to do anything for it to come back.

use std::io;
use std::path::Path;
use std::sync::Arc;

use undercroft_vault::replica::{self, DropVault, State};

use super::replica::Replica;
use super::settings::Wanted;
use super::slot::{Health, Slot, SlotState};
use super::{checkpoint, limits, worker};
use crate::journal::Floor;
use crate::{Error, Result};

/// Takes a copy out of service that was found to be unlike the others, and has it replaced.
pub(super) fn accuse(replica: &Arc<Replica>, slot: &Arc<Slot>, reason: String) {
    take_out(replica, slot, Health::Suspect(reason));
}

fn take_out(replica: &Arc<Replica>, slot: &Arc<Slot>, health: Health) {
    let mut state = slot.state();
    if state.health.is_out() {
        return;
    }
    state.health = health;
    // A worker that is at it finds that out and hands it over.
    let is_free = !std::mem::replace(&mut state.running, true);
    drop(state);
    slot.changed();
    if is_free {
        send(replica, slot);
    }
}

/// Sends somebody to replace a copy that is out of service, whose worker has gone.
pub(super) fn send(replica: &Arc<Replica>, slot: &Arc<Slot>) {
    tokio::spawn(heal(Arc::clone(replica), Arc::clone(slot)));
}

async fn heal(replica: Arc<Replica>, slot: Arc<Slot>) {
    let health = slot.state().health.clone();
    let owned = Arc::clone(&slot);
    let closed = aside(move || {
        let parked = owned.state().parked.take();
        drop(parked);
        owned.close();
        Ok(())
    });
    if let Err(error) = closed.await {
        tracing::warn!(vault = %slot.id, "a copy could not be closed in order: {error}");
    }
    if let Health::Suspect(reason) = &health {
        tracing::error!(shard = %replica.shard, vault = %slot.id, "a copy is suspect and no longer served: {reason}");
        replica.shared.watch.suspect(replica.shard, slot.id, reason);
        replica.lead_no_more();
        if let Err(error) = keep_evidence(&replica, &slot).await {
            tracing::error!(vault = %slot.id, "no evidence of the suspect copy could be kept: {error}");
        }
    }
    while !replica.is_stopped() {
        match replace(&replica, &slot).await {
            Ok(()) => {
                if health != Health::Behind {
                    replica.shared.watch.healed(replica.shard, slot.id);
                }
                return worker::send(&replica, &slot);
            }
            Err(error) => tracing::warn!(vault = %slot.id, "a copy could not be replaced yet: {error}"),
        }
        tokio::time::sleep(limits::RETRY).await;
    }
}

async fn keep_evidence(replica: &Replica, slot: &Slot) -> Result<()> {
    let (dir, folder, vault) = (slot.dir.clone(), replica.shared.evidence(), slot.id);
    aside(move || {
        let free = (1..=limits::EVIDENCE).map(|count| folder.join(format!("{vault}-{count}")));
        match free.into_iter().find(|to| !to.exists()) {
            Some(to) if dir.exists() => Ok(replica::evidence_copy(&dir, &to)?),
            _ => Ok(()),
        }
    })
    .await
}

/// Puts a proved copy that holds at least what this one held in its place.
async fn replace(replica: &Replica, slot: &Arc<Slot>) -> Result<()> {
    let shared = &replica.shared;
    let at_least = slot.state().at_least().map_or(0, |at| at.index);
    let staged = shared.incoming(slot.id);
    clear(staged.clone()).await?;
    let wanted = Wanted {
        shard: replica.shard,
        vault: slot.id,
        at_least,
        into: staged.clone(),
        from: replica.peers(),
    };
    let fetched = shared.copies.fetch(wanted).await;
    let named = fetched.map_err(|error| Error::NoCopy(slot.id, error.to_string()))?;
    if named.applied.shard != replica.shard.get() || named.applied.index < at_least {
        return Err(Error::NoCopy(
            slot.id,
            String::from("the one that was sent is older than what is needed"),
        ));
    }
    // Nobody begins a transaction or makes the old copy durable meanwhile.
    let _turn = slot.turn.lock().await;
    let (master, options, owned) = (Arc::clone(&shared.master), shared.options.clone(), Arc::clone(slot));
    let state = aside(move || {
        owned.close();
        let dir = owned.dir.clone();
        let state = replica::verify_copy(&staged, &master, &options, &named)?;
        replica::install(&staged, &dir)?;
        Ok(state)
    })
    .await?;
    settle(slot, state);
    Ok(())
}

/// The copy that is in place is proved and durable. Entries that it holds are skipped by their place in the log.
fn settle(slot: &Slot, found: State) {
    let mut state = slot.state();
    state.health = Health::Good;
    state.state = Some(found);
    state.present = true;
    state.undurable = None;
    state.processed = state.at_least();
    state.durable = state.processed;
    state.replaced += 1;
    drop(state);
    slot.changed();
}

/// Brings every vault of a floor to where the floor is, durably, and removes those that it no longer has.
pub(super) async fn reach(replica: &Arc<Replica>, floor: &Floor) -> io::Result<()> {
    for (vault, at) in &floor.vaults {
        let slot = replica.slot_of_entry(*vault);
        slot.state().needed = Some(*at);
        let is_there = |state: &SlotState| {
            state.health == Health::Good && state.processed.is_some_and(|done| done.index >= at.index)
        };
        // What is queued already goes on; only what can go no further is replaced.
        slot.until(|state| replica.is_stopped() || !state.running || state.health != Health::Good).await;
        if !is_there(&slot.state()) {
            take_out(replica, &slot, Health::Behind);
        }
        slot.until(|state| replica.is_stopped() || is_there(state)).await;
        while let Err(error) = checkpoint::settle(replica, &slot).await {
            if replica.is_stopped() {
                return Err(io::ErrorKind::Interrupted.into());
            }
            tracing::warn!(vault = %vault, "a vault of the floor is not durable yet: {error}");
            tokio::time::sleep(limits::RETRY).await;
        }
    }
    if replica.is_stopped() {
        return Err(io::ErrorKind::Interrupted.into());
    }
    for slot in replica.slots() {
        if slot.state().present && !floor.vaults.contains_key(&slot.id) {
            remove(replica, &slot, floor).await.map_err(io::Error::other)?;
        }
    }
    Ok(())
}

async fn remove(replica: &Replica, slot: &Arc<Slot>, floor: &Floor) -> Result<()> {
    let (log_id, shared) = (replica.log_id(floor.log_id), Arc::clone(&replica.shared));
    let owned = Arc::clone(slot);
    let gone = DropVault { epoch: u64::MAX };
    aside(move || {
        owned.close();
        replica::drop_vault(&gone, &owned.dir, &shared.master, &shared.options, log_id)?;
        Ok(())
    })
    .await?;
    let mut state = slot.state();
    (state.present, state.state, state.undurable) = (false, None, None);
    Ok(())
}

async fn clear(folder: impl AsRef<Path> + Send + 'static) -> Result<()> {
    aside(move || match std::fs::remove_dir_all(&folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(Error::ShardIo(error.to_string())),
        _ => Ok(()),
    })
    .await
}

/// Runs what waits for the disk away from the threads that serve.
pub(super) async fn aside<T: Send + 'static>(work: impl FnOnce() -> Result<T> + Send + 'static) -> Result<T> {
    tokio::task::spawn_blocking(work).await.unwrap_or(Err(Error::Lost))
}
