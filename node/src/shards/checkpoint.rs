//! Moves a shard's floor: vaults are made durable without the journal, then the floor says so, then the journal may forget.
//!
//! Only vaults that have changed since are touched. The floor never passes an entry that some vault has not carried out, or
//! holds only in memory of the operating system: a vault that is stuck holds the journal's tail, and nothing else.

use std::collections::BTreeSet;
use std::io;
use std::sync::Arc;

use bytes::Bytes;
use undercroft_proto::VaultId;
use undercroft_vault::replica;

use super::healing::aside;
use super::replica::Replica;
use super::slot::Slot;
use super::types::{Raft, encode};
use crate::journal::{Floor, FloorChange, LogId};
use crate::{Error, Result};

/// Moves the floor now and then, until the group stops.
pub(super) async fn run(replica: Arc<Replica>, raft: Raft) {
    let mut due = tokio::time::interval(replica.shared.timing.checkpoint);
    due.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    due.tick().await;
    while !replica.is_stopped() {
        due.tick().await;
        if let Err(error) = advance(&replica, &raft).await {
            tracing::warn!(shard = %replica.shard, "the floor could not be moved; the journal keeps what it has: {error}");
        }
    }
}

/// Moves the floor as far as vaults allow. Where it is afterwards.
///
/// # Errors
/// What the journal's disk refuses.
pub(super) async fn advance(replica: &Arc<Replica>, raft: &Raft) -> Result<Option<LogId>> {
    let old = replica.log.floor();
    let Some(applied) = *replica.applied.borrow() else { return Ok(None) };
    let mut reach = applied.index;
    let (mut moved, mut there) = (Vec::new(), BTreeSet::new());
    for slot in replica.slots() {
        if let Err(error) = settle(replica, &slot).await {
            tracing::warn!(vault = %slot.id, "a vault could not be made durable: {error}");
        }
        let state = slot.state();
        let stuck =
            state.queue.front().map(|item| item.log_id.index).into_iter().chain(state.undurable).min();
        reach = stuck.map_or(reach, |stuck| reach.min(stuck.saturating_sub(1)));
        if let Some(durable) = state.durable.filter(|_| state.present) {
            there.insert(slot.id);
            if old.as_ref().and_then(|floor| floor.vaults.get(&slot.id)) != Some(&durable) {
                moved.push((slot.id, Some(durable)));
            }
        }
    }
    let gone = old.iter().flat_map(|floor| floor.vaults.keys()).filter(|vault| !there.contains(*vault));
    moved.extend(gone.map(|vault| (*vault, None)));
    if old.as_ref().is_some_and(|floor| floor.log_id.index >= reach) || reach == 0 {
        return Ok(old.map(|floor| floor.log_id));
    }
    let log_id = if reach == applied.index { applied } else { place(replica, reach).await? };
    set(replica, old.is_some(), log_id, moved).await.map_err(journal)?;
    replica.forget_memberships_before(log_id.index);
    replica.forget_absent();
    raft.trigger().snapshot().await.map_err(|error| Error::ShardStopped(error.to_string()))?;
    Ok(Some(log_id))
}

/// Makes a vault durable without the journal, between its transactions.
///
/// # Errors
/// What the disk refuses.
pub(super) async fn settle(replica: &Replica, slot: &Arc<Slot>) -> Result<()> {
    if slot.state().undurable.is_none() {
        return Ok(());
    }
    let _turn = slot.turn.lock().await;
    let (processed, present, is_out) = {
        let state = slot.state();
        (state.processed, state.present, state.health.is_out())
    };
    if is_out {
        return Ok(());
    }
    if present {
        let (owned, shared) = (Arc::clone(slot), Arc::clone(&replica.shared));
        aside(move || Ok(replica::checkpoint(&*owned.open(&shared)?)?)).await?;
    }
    let mut state = slot.state();
    state.durable = processed;
    state.undurable = match (state.processed, processed) {
        (Some(now), Some(then)) if now.index > then.index => Some(then.index + 1),
        _ => None,
    };
    Ok(())
}

async fn set(
    replica: &Replica,
    known: bool,
    log_id: LogId,
    moved: Vec<(VaultId, Option<LogId>)>,
) -> io::Result<()> {
    let membership = Bytes::from(encode(&replica.membership_at(log_id.index))?);
    if known {
        return replica
            .log
            .advance_floor(FloorChange { log_id, membership: Some(membership), vaults: moved })
            .await;
    }
    let vaults = moved.into_iter().filter_map(|(vault, at)| Some((vault, at?))).collect();
    replica.log.set_floor(Floor { log_id, membership, vaults }).await
}

/// The full name of a place in the log.
async fn place(replica: &Replica, index: u64) -> Result<LogId> {
    let found = replica.log.read_some(index, index + 1, 1).await.map_err(journal)?;
    let first = found.first().map(|(log_id, _)| *log_id);
    first.ok_or_else(|| Error::ShardStopped(format!("entry {index} is missing in the journal")))
}

fn journal(error: io::Error) -> Error {
    Error::ShardIo(error.to_string())
}
