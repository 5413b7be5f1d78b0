//! Which copy may answer a read, and when. Hands the open vault out with the position that it has reached at least.

use std::sync::Arc;
use std::time::Duration;

use undercroft_proto::{Position, VaultId};
use undercroft_vault::Vault;
use undercroft_vault::replica;

use super::group::Group;
use super::healing::aside;
use super::limits;
use super::slot::{Slot, SlotState};
use crate::{Error, Result};

/// How fresh a read has to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Consistency {
    /// Everything that was acknowledged before it began. Only the leader can say so.
    Strong,
    /// At least this position, on any replica.
    Session(Position),
    /// Nothing older than this, on any replica.
    Eventual(Duration),
}

/// A vault that may be read now.
#[derive(Debug)]
pub struct Served {
    /// The copy.
    pub vault: Arc<Vault>,
    /// What it holds at least.
    pub position: Position,
}

/// The vault for a read.
///
/// # Errors
/// [`Error::NotLeader`], [`Error::Behind`], [`Error::NotInShard`], [`Error::VaultSuspect`], [`Error::VaultStalled`].
pub(super) async fn serve(group: &Arc<Group>, vault: VaultId, how: Consistency) -> Result<Served> {
    if how == Consistency::Strong {
        group.confirm().await?;
    }
    let absent = || Error::NotInShard { vault, shard: group.shard() };
    let slot = group.replica().slot(vault).ok_or_else(absent)?;
    match how {
        Consistency::Strong => drained(group, &slot).await?,
        Consistency::Session(wanted) => {
            opened(group, &slot).await?;
            let reached = |state: &SlotState| state.position().is_some_and(|at| at.satisfies(wanted));
            let wait = slot.until(|state| reached(state) || state.health.is_out());
            let waited = tokio::time::timeout(limits::SESSION, wait).await;
            if waited.is_err() {
                return Err(behind(group, &slot));
            }
        }
        Consistency::Eventual(bound) => {
            let lag = group.quorum_lag().or_else(|| group.replica().lag());
            let is_fresh = lag.is_some_and(|lag| lag <= bound);
            if !is_fresh {
                return Err(behind(group, &slot));
            }
            drained(group, &slot).await?;
        }
    }
    let vault = opened(group, &slot).await?;
    let state = slot.state();
    if state.health.is_out() {
        return Err(state.refusal(slot.id).unwrap_or_else(absent));
    }
    let position = state.position().ok_or_else(absent)?;
    Ok(Served { vault, position })
}

/// Waits until the vault holds what the shard has applied now.
async fn drained(group: &Group, slot: &Slot) -> Result<()> {
    let applied = group.applied();
    let wait = slot.until(|state| state.has_done(applied) || state.health.is_out());
    if tokio::time::timeout(group.timing().strong, wait).await.is_ok() {
        return Ok(());
    }
    let refusal = slot.state().refusal(slot.id);
    Err(refusal.unwrap_or_else(|| Error::VaultStalled(slot.id, String::from("it has not caught up in time"))))
}

fn behind(group: &Group, slot: &Slot) -> Error {
    Error::Behind { vault: slot.id, at: slot.position(), leader: group.leader() }
}

/// The copy, open, unless it is absent or out of service.
async fn opened(group: &Arc<Group>, slot: &Arc<Slot>) -> Result<Arc<Vault>> {
    {
        let state = slot.state();
        if state.health.is_out() {
            return Err(state.refusal(slot.id).unwrap_or(Error::Lost));
        }
        if !state.present {
            return Err(Error::NotInShard { vault: slot.id, shard: group.shard() });
        }
    }
    let (owned, shared) = (Arc::clone(slot), Arc::clone(group.shared()));
    let opened = aside(move || {
        let vault = owned.open(&shared)?;
        if owned.state().state.is_none() {
            let found = replica::state(&vault)?;
            owned.state().state = Some(found);
        }
        Ok(vault)
    })
    .await;
    opened.inspect_err(|error| group.note(slot, error))
}
