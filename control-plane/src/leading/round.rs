//! The loop: one look a tick. Keeps nothing but what was seen, and that only while this member leads.

use tokio::sync::watch;

use super::{group, keys};
use crate::plan::plan;
use crate::service::{Desk, Lead};
use crate::state::Batch;
use crate::{Error, limits};

/// Runs until told to stop. While the member does not lead, a tick does nothing.
pub async fn run(desk: Desk, lead: Lead, mut stop: watch::Receiver<bool>) {
    loop {
        tokio::select! {
            // An end of whoever tells is an end too.
            _ = stop.wait_for(|stop| *stop) => break,
            () = desk.ports.clock.pause(limits::TICK) => {}
        }
        match tick(&desk, &lead).await {
            Ok(()) => {}
            Err(error) => tracing::debug!(%error, "a round of placement was cut short"),
        }
    }
    lead.end();
}

/// One look: the members of the group, then nodes and shards.
pub(super) async fn tick(desk: &Desk, lead: &Lead) -> Result<(), Error> {
    if !desk.member.leads() {
        lead.end();
        return Ok(());
    }
    let begun = begin(desk, lead).await;
    let done = match begun {
        Ok(()) => round(desk, lead).await,
        Err(error) => Err(error),
    };
    if matches!(done, Err(Error::NotLeader { .. })) {
        lead.end();
    }
    done
}

/// A new leader acts on nothing before it has everything that was decided before it.
async fn begin(desk: &Desk, lead: &Lead) -> Result<(), Error> {
    if !lead.leads() {
        desk.member.catch_up().await?;
        lead.begin(desk.ports.clock.elapsed_ms());
        tracing::info!(member = %desk.member.id(), "this member leads");
    }
    Ok(())
}

async fn round(desk: &Desk, lead: &Lead) -> Result<(), Error> {
    group::settle(&desk.member).await?;
    let clock = &desk.ports.clock;
    let moves = desk.member.map().read(|state| {
        let there = |node| state.nodes().get(node).is_some();
        lead.look(there, |observed| {
            let mut moves = plan(state, observed, clock.elapsed_ms());
            moves.extend(keys::step(state, observed, &desk.key, &desk.ports)?);
            Ok::<_, Error>(moves)
        })
    });
    let moves = moves.transpose()?.unwrap_or_default();
    if moves.is_empty() {
        return Ok(());
    }
    // Proposed here and nowhere else: another leader plans by what it sees itself.
    let batch = Batch::of(clock.now_ms(), moves);
    for outcome in desk.member.propose(&batch).await? {
        if let Some(refusal) = outcome.refusal() {
            // What it was planned upon has changed since; the next round looks again.
            tracing::debug!(%refusal, "a planned change was refused");
        }
    }
    Ok(())
}

#[cfg(test)]
#[path = "round_test.rs"]
mod round_test;
