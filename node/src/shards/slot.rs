//! One vault of a shard on this node: what waits to be applied to it, what is parked, whether it may be served. Owns the state
//! and its rules; the database is touched only through [`Slot::open`] and by whoever was handed the vault.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Arc;

use openraft::storage::ApplyResponder;
use parking_lot::{Mutex, MutexGuard};
use tokio::sync::{mpsc, watch};
use undercroft_crypto::ProposalId;
use undercroft_proto::{Height, Incarnation, Position, VaultId};
use undercroft_vault::Vault;
use undercroft_vault::replica::{self, Parked, State};

use super::entry::What;
use super::limits;
use super::settings::Shared;
use super::types::{Leader, Types};
use super::writer::Job;
use crate::journal::LogId;
use crate::{Error, Result};

/// An entry that waits to be applied.
pub(super) struct Item {
    pub(super) log_id: LogId,
    /// What it says; `None` when it is read from the journal again.
    pub(super) what: Option<Arc<What>>,
    /// Who proposed it here and waits.
    pub(super) responder: Option<ApplyResponder<Types>>,
}

/// Whether a copy may be served.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Health {
    /// It may.
    Good,
    /// The environment refuses, as a full disk. What is there may be read; nothing is applied until it is tried again.
    Stalled(String),
    /// It is older than what its log still has, or not here at all. It is not served until it was replaced.
    Behind,
    /// It is not like the others. It is not served until it was replaced.
    Suspect(String),
}

impl Health {
    /// Whether the copy waits to be replaced by another one.
    #[must_use]
    pub const fn is_out(&self) -> bool {
        matches!(self, Self::Behind | Self::Suspect(_))
    }
}

/// What a proposal of unknown outcome was: until it applies or has left the log, nothing is begun.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Doubt {
    pub(super) proposal: ProposalId,
    pub(super) leader: Leader,
}

pub(super) struct SlotState {
    pub(super) queue: VecDeque<Item>,
    /// Bytes of what the queue holds in memory.
    bytes: usize,
    /// Somebody is at it: a worker, or who heals it.
    pub(super) running: bool,
    /// The last entry that was queued.
    pub(super) queued: u64,
    /// The last entry that was carried out.
    pub(super) processed: Option<LogId>,
    /// The last entry that is durable without the journal.
    pub(super) durable: Option<LogId>,
    /// The first entry that was carried out and is not durable without the journal.
    pub(super) undurable: Option<u64>,
    pub(super) parked: Option<(ProposalId, Parked)>,
    pub(super) doubt: Option<Doubt>,
    /// The last segment that was carried out.
    pub(super) last: Option<ProposalId>,
    pub(super) health: Health,
    /// What a copy that is fetched must hold besides.
    pub(super) needed: Option<LogId>,
    /// How often the copy was replaced by another one.
    pub(super) replaced: u64,
    /// Whether the vault is there; what follows a `drop` finds it absent on every replica.
    pub(super) present: bool,
    pub(super) state: Option<State>,
    pub(super) writer: Option<mpsc::Sender<Job>>,
}

/// One vault of a shard.
pub(super) struct Slot {
    pub(super) id: VaultId,
    pub(super) dir: PathBuf,
    state: Mutex<SlotState>,
    /// The open copy. Its lock is held while it is being opened, so that it is opened once.
    vault: Mutex<Option<Arc<Vault>>>,
    /// Counts changes of the state, for whoever waits for one.
    pub(super) changes: watch::Sender<u64>,
    /// Held from the beginning of a transaction to its end, and while the copy is made durable.
    pub(super) turn: tokio::sync::Mutex<()>,
}

impl Slot {
    /// A vault of which the floor says that its database holds `floor`, or one that is not there yet.
    pub(super) fn new(id: VaultId, dir: PathBuf, floor: Option<LogId>) -> Self {
        let state = SlotState {
            queue: VecDeque::new(),
            bytes: 0,
            running: false,
            queued: 0,
            processed: floor,
            durable: floor,
            undurable: None,
            parked: None,
            doubt: None,
            last: None,
            health: Health::Good,
            needed: None,
            replaced: 0,
            present: floor.is_some(),
            state: None,
            writer: None,
        };
        let changes = watch::Sender::new(0);
        let turn = tokio::sync::Mutex::new(());
        Self { id, dir, state: Mutex::new(state), vault: Mutex::new(None), changes, turn }
    }

    /// The state, for as long as nothing waits.
    pub(super) fn state(&self) -> MutexGuard<'_, SlotState> {
        self.state.lock()
    }

    /// Tells whoever waits that the state has changed.
    pub(super) fn changed(&self) {
        self.changes.send_modify(|count| *count = count.wrapping_add(1));
    }

    /// Waits until the state is as wanted.
    pub(super) async fn until(&self, mut wanted: impl FnMut(&SlotState) -> bool) {
        let mut changes = self.changes.subscribe();
        // The sender is in `self`.
        let _ = changes.wait_for(|_| wanted(&self.state.lock())).await;
    }

    /// Appends an entry. Whether a worker has to be sent.
    pub(super) fn push(&self, log_id: LogId, what: What, responder: Option<ApplyResponder<Types>>) -> bool {
        let mut state = self.state.lock();
        let bytes = size(&what);
        let kept = state.bytes + bytes <= limits::QUEUE_BYTES || state.queue.is_empty();
        state.bytes += if kept { bytes } else { 0 };
        state.queued = log_id.index;
        let what = kept.then(|| Arc::new(what));
        state.queue.push_back(Item { log_id, what, responder });
        !std::mem::replace(&mut state.running, true)
    }

    /// The copy, opened if it is not. To be called where waiting for the disk is allowed.
    ///
    /// # Errors
    /// As [`replica::open`]; [`Error::BelowFloor`] for one that has lost what it was known to hold.
    pub(super) fn open(&self, shared: &Shared) -> Result<Arc<Vault>> {
        let mut open = self.vault.lock();
        if let Some(vault) = &*open {
            return Ok(Arc::clone(vault));
        }
        let vault = Arc::new(replica::open(&self.dir, &shared.master, shared.options.clone())?);
        let found = replica::state(&vault)?;
        let mut state = self.state.lock();
        if let Some(floor) = state.durable.filter(|floor| found.applied.index < floor.index) {
            return Err(Error::BelowFloor { vault: self.id, found: found.applied.index, floor: floor.index });
        }
        state.state.get_or_insert(found);
        drop(state);
        *open = Some(Arc::clone(&vault));
        Ok(vault)
    }

    /// Whether the copy is open, and by nobody else.
    pub(super) fn is_idle(&self) -> bool {
        let state = self.state.lock();
        let idle = !state.running && state.parked.is_none() && state.queue.is_empty();
        drop(state);
        // One that is being opened is wanted.
        let open = self.vault.try_lock();
        idle && open.is_some_and(|open| open.as_ref().is_some_and(|vault| Arc::strong_count(vault) == 1))
    }

    /// Lets go of the open copy. Who has been handed it keeps it for as long as it is needed. To be called where waiting for
    /// the disk is allowed.
    pub(super) fn close(&self) {
        let vault = self.vault.lock().take();
        drop(vault);
    }

    /// Takes the parked transaction of this proposal back. Dropping it rolls it back.
    pub(super) fn unpark(&self, proposal: ProposalId) -> Option<Parked> {
        let mut state = self.state.lock();
        match &state.parked {
            Some((parked, _)) if *parked == proposal => state.parked.take().map(|(_, parked)| parked),
            _ => None,
        }
    }

    /// Where the copy stands.
    pub(super) fn position(&self) -> Option<Position> {
        self.state.lock().position()
    }
}

impl SlotState {
    /// Where the copy stands.
    pub(super) fn position(&self) -> Option<Position> {
        self.state.as_ref().map(|state| {
            let (incarnation, height) = state.position();
            Position { incarnation: Incarnation::new(incarnation), height: Height::new(height) }
        })
    }

    /// The entry that a copy must hold to take the place of this one.
    pub(super) fn at_least(&self) -> Option<LogId> {
        [self.processed, self.needed].into_iter().flatten().max_by_key(|at| at.index)
    }

    /// Why the copy may not be served, if it may not.
    pub(super) fn refusal(&self, vault: VaultId) -> Option<Error> {
        match &self.health {
            Health::Good => None,
            Health::Stalled(reason) => Some(Error::VaultStalled(vault, reason.clone())),
            Health::Behind => Some(Error::VaultSuspect(vault, String::from("it is being fetched"))),
            Health::Suspect(reason) => Some(Error::VaultSuspect(vault, reason.clone())),
        }
    }

    /// Whether everything up to this entry was carried out.
    pub(super) fn has_done(&self, index: u64) -> bool {
        self.queue.front().is_none_or(|front| front.log_id.index > index)
    }

    /// Takes the first entry away, which is carried out.
    pub(super) fn pop(&mut self) -> Option<Item> {
        let item = self.queue.pop_front()?;
        self.bytes -= item.what.as_ref().map_or(0, |what| size(what));
        // A copy that was fetched, or is replayed from below, may hold later entries already.
        if self.processed.is_none_or(|done| done.index < item.log_id.index) {
            self.processed = Some(item.log_id);
            self.undurable.get_or_insert(item.log_id.index);
        }
        Some(item)
    }
}

fn size(what: &What) -> usize {
    match what {
        What::Segment(segment) => segment.as_bytes().len(),
        _ => limits::NAME_BYTES,
    }
}
