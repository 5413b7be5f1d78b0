//! Applies what waits for a vault, batched, on a bounded number of threads. A disk that refuses stalls its vault, which is tried
//! again; a copy that is not like the others is handed over to be healed. Neither is told to the shard.

use std::sync::Arc;
use std::time::Duration;

use undercroft_crypto::{ErrorClass, Segment};
use undercroft_vault::replica::{self, Entry, NoOp, Outcome};

use super::entry::{ShardEntry, What};
use super::replica::Replica;
use super::slot::{Health, Item, Slot};
use super::types::{Proposal, Reply, Types, Verdict};
use super::{commands, healing, limits};
use crate::journal::{GroupTypes as _, LogId};
use crate::{Error, Result};

/// What comes after a batch.
enum Next {
    More,
    /// Nothing waits.
    Rest,
    Later(Duration),
    Heal,
}

/// Sends a worker to a vault whose state says that one is there.
pub(super) fn send(replica: &Arc<Replica>, slot: &Arc<Slot>) {
    tokio::spawn(run(Arc::clone(replica), Arc::clone(slot)));
}

async fn run(replica: Arc<Replica>, slot: Arc<Slot>) {
    while !replica.is_stopped() {
        let next = {
            let Ok(_permit) = replica.shared.workers.acquire().await else { return };
            let (replica, slot) = (Arc::clone(&replica), Arc::clone(&slot));
            let done = tokio::task::spawn_blocking(move || batch(&replica, &slot)).await;
            done.unwrap_or(Next::Later(limits::RETRY))
        };
        match next {
            Next::More => {}
            Next::Rest => return,
            Next::Later(pause) => tokio::time::sleep(pause).await,
            Next::Heal => return healing::send(&replica, &slot),
        }
    }
}

/// An entry that waits, with what it says.
type Waiting = (LogId, Arc<What>);

fn batch(replica: &Replica, slot: &Slot) -> Next {
    let done = match waiting(replica, slot) {
        Ok(waiting) if waiting.is_empty() => {
            if slot.state().health.is_out() {
                return Next::Heal;
            }
            replica.close_idle();
            return Next::Rest;
        }
        Ok(waiting) => carry_out(replica, slot, &waiting),
        Err(error) => Err(error),
    };
    match done {
        Ok(None) => {
            let mut state = slot.state();
            if matches!(state.health, Health::Stalled(_)) {
                state.health = Health::Good;
            }
            Next::More
        }
        Ok(Some(reason)) => suspect(slot, reason),
        Err(Error::Vault(error)) if matches!(*error, undercroft_vault::Error::Parked(_)) => {
            Next::Later(limits::PARKING)
        }
        Err(error) if error.class() == ErrorClass::Integrity => suspect(slot, error.to_string()),
        Err(error) => {
            tracing::warn!(vault = %slot.id, "a vault waits and is tried again: {error}");
            let mut state = slot.state();
            if !state.health.is_out() {
                state.health = Health::Stalled(error.to_string());
            }
            drop(state);
            slot.changed();
            Next::Later(limits::RETRY)
        }
    }
}

fn suspect(slot: &Slot, reason: String) -> Next {
    slot.state().health = Health::Suspect(reason);
    slot.changed();
    Next::Heal
}

/// The first entries that wait; the worker has to go when there is none.
fn waiting(replica: &Replica, slot: &Slot) -> Result<Vec<Waiting>> {
    let known: Vec<_> = {
        let mut state = slot.state();
        if state.health.is_out() || state.queue.is_empty() {
            // Who heals a copy is the one at it.
            state.running = state.health.is_out();
            return Ok(Vec::new());
        }
        let first = state.queue.iter().take(limits::APPLY_ENTRIES);
        first.map(|item| (item.log_id, item.what.clone())).collect()
    };
    let mut found = Vec::with_capacity(known.len());
    let mut read = 0;
    for (log_id, what) in known {
        let what = match what {
            Some(what) => what,
            // Read again what was not kept, but no more of it than is kept otherwise.
            None if read > limits::QUEUE_BYTES => break,
            None => {
                let (what, bytes) = read_again(replica, log_id)?;
                read += bytes;
                what
            }
        };
        found.push((log_id, what));
    }
    Ok(found)
}

fn read_again(replica: &Replica, at: LogId) -> Result<(Arc<What>, usize)> {
    let runtime = tokio::runtime::Handle::current();
    let unreadable =
        |error: std::io::Error| Error::ShardStopped(format!("entry {at} cannot be read again: {error}"));
    let found = runtime.block_on(replica.log.read(at.index, at.index + 1)).map_err(unreadable)?;
    let (_, payload) = found.into_iter().next().ok_or_else(|| {
        unreadable(std::io::Error::new(std::io::ErrorKind::NotFound, "it is not in the journal"))
    })?;
    let bytes = payload.len();
    let entry = Types::decode(super::types::theirs(at), payload).map_err(unreadable)?;
    let openraft::EntryPayload::Normal(proposal) = entry.payload else {
        return Err(unreadable(super::types::invalid("it is of another kind")));
    };
    let read = |proposal: &Proposal| ShardEntry::decode(proposal.as_bytes());
    let entry = read(&proposal).map_err(|error| unreadable(super::types::invalid(error.to_string())))?;
    Ok((Arc::new(entry.what), bytes))
}

/// Carries out the first entries; why the copy is suspect, if one made it so.
fn carry_out(replica: &Replica, slot: &Slot, waiting: &[Waiting]) -> Result<Option<String>> {
    let (at, what) = &waiting[0];
    let parked = slot.state().parked.take();
    let What::Segment(segment) = &**what else {
        // Another entry for the vault: what was begun is rolled back first.
        drop(parked);
        let verdict = commands::carry_out(replica, slot, what, *at)?;
        return Ok(finish(slot, what, verdict));
    };
    if let Some((proposal, parked)) = parked
        && proposal == segment.header().proposal
    {
        match parked.commit(replica.log_id(*at)) {
            Ok(state) => return Ok(finish(slot, what, Verdict::Said(Outcome::Applied(state)))),
            // It was rolled back and is in the log: it is applied like any other, now or when there is room.
            Err(error) => tracing::warn!(vault = %slot.id, "a transaction could not be committed: {error}"),
        }
    }
    apply(replica, slot, waiting)
}

/// Applies the segments in front, in one transaction.
fn apply(replica: &Replica, slot: &Slot, waiting: &[Waiting]) -> Result<Option<String>> {
    if !slot.state().present {
        return Ok(finish(slot, &waiting[0].1, Verdict::Absent));
    }
    let vault = slot.open(&replica.shared)?;
    let segments: Vec<(LogId, &Arc<What>, &Segment)> = waiting
        .iter()
        .map_while(|(at, what)| match &**what {
            What::Segment(segment) => Some((*at, what, segment)),
            _ => None,
        })
        .collect();
    let entries: Vec<Entry<'_>> =
        segments.iter().map(|(at, _, segment)| Entry { log_id: replica.log_id(*at), segment }).collect();
    let outcomes = replica::apply(&vault, &entries)?;
    for ((_, what, _), outcome) in segments.into_iter().zip(outcomes) {
        if let Some(reason) = finish(slot, what, Verdict::Said(outcome)) {
            return Ok(Some(reason));
        }
    }
    Ok(None)
}

/// Takes the first entry away and tells who waits for it. One that made the copy suspect stays: a healed copy takes it.
fn finish(slot: &Slot, what: &What, verdict: Verdict) -> Option<String> {
    if let Verdict::Said(Outcome::Suspect(reason)) = &verdict {
        return Some(reason.to_string());
    }
    let item = {
        let mut state = slot.state();
        match &verdict {
            Verdict::Said(Outcome::Applied(after)) => {
                state.state = Some(*after);
                state.present = true;
            }
            Verdict::Said(Outcome::Gone) => (state.state, state.present) = (None, false),
            Verdict::Said(Outcome::NoOp(NoOp::HeldAlready)) => match what {
                What::Create(_) | What::Adopt(_) => state.present = true,
                What::Drop(_) => state.present = false,
                _ => {}
            },
            _ => {}
        }
        if let What::Segment(segment) = what {
            let proposal = segment.header().proposal;
            state.last = Some(proposal);
            if state.doubt.is_some_and(|doubt| doubt.proposal == proposal) {
                state.doubt = None;
            }
        }
        state.pop()
    };
    if let Some(Item { responder: Some(responder), .. }) = item {
        responder.send(Reply { verdict: Some(verdict) });
    }
    slot.changed();
    None
}
