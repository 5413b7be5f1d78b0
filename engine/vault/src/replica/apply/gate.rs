//! What is decided from a segment's header alone, before its body is opened.

use undercroft_crypto::{Anchor, ChainState, SegmentHeader};

use super::super::log_id::LogId;
use super::super::verdict::{NoOp, Suspect};
use super::batch::{Batch, Stop};
use crate::audit;
use crate::error::Result;

/// Lets a segment pass that begins exactly where the copy stands, in its ownership, life and keys.
pub(super) fn check(batch: &Batch<'_>, log_id: LogId, header: &SegmentHeader) -> Result<(), Stop> {
    let state = &batch.state;
    if state.applied.reached(&log_id) {
        return Err(NoOp::HeldAlready.into());
    }
    if header.seal_id != state.seal_id {
        return Err(Suspect::OtherVault.into());
    }
    let ownership = &state.ownership;
    same(header.incarnation, ownership.incarnation, NoOp::OldIncarnation, "incarnation")?;
    same(header.epoch, ownership.epoch, NoOp::OldEpoch, "ownership epoch")?;
    let (generation, own) = (header.generation.get(), state.generation.get());
    same(generation.into(), own.into(), NoOp::OldGeneration, "key generation")?;
    if ownership.frozen_for.is_some() {
        return Err(NoOp::Frozen.into());
    }
    let (base, chain) = (&header.base, &state.chain);
    if base.height > chain.height {
        let (height, base) = (chain.height.get(), base.height.get());
        return Err(Suspect::BaseAhead { height, base }.into());
    }
    if base.height == chain.height {
        return if base.head == chain.head { Ok(()) } else { Err(Suspect::OtherHistory.into()) };
    }
    Err(if is_own_head(batch, base)? { NoOp::OlderHead.into() } else { Suspect::OtherHistory.into() })
}

/// These numbers change by commands of the log, so an earlier one lost a race and a later one means that a command is
/// missing here.
fn same(found: u64, own: u64, earlier: NoOp, what: &'static str) -> Result<(), Stop> {
    match found.cmp(&own) {
        std::cmp::Ordering::Equal => Ok(()),
        std::cmp::Ordering::Less => Err(earlier.into()),
        std::cmp::Ordering::Greater => Err(Suspect::Missed(what).into()),
    }
}

/// Whether the chain passed through this head. Heads are not stored: the records are replayed up to there, from the
/// manifest's anchor when that is not behind it. It happens when a leader changed, and not otherwise.
fn is_own_head(batch: &Batch<'_>, head: &Anchor) -> Result<bool> {
    let anchor = batch.vault.manifest().anchor;
    let from = if anchor.height <= head.height {
        // The digest at the anchor is not known; only heads matter here.
        ChainState { height: anchor.height, head: anchor.head, ..ChainState::genesis() }
    } else {
        ChainState::genesis()
    };
    let replayed = audit::replay(batch.conn, batch.vault.keyring(), &from, head.height)?;
    Ok(replayed.state.height == head.height && replayed.state.head == head.head)
}
