//! One shard on this node: its vaults, how far its log is applied, who its members are. Owns what state machine, workers,
//! writers, readers and checkpointer of a group share.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tokio::sync::watch;
use undercroft_proto::{NodeId, ShardId, VaultId};
use undercroft_vault::replica;

use super::limits;
use super::settings::Shared;
use super::slot::Slot;
use super::types::{Membership, decode};
use crate::journal::{Floor, GroupLog, LogId};

/// One shard on this node.
pub(super) struct Replica {
    pub(super) shard: ShardId,
    pub(super) shared: Arc<Shared>,
    pub(super) log: GroupLog,
    slots: Mutex<BTreeMap<VaultId, Arc<Slot>>>,
    /// The last entry that was handed to its vault, or concerned none.
    pub(super) applied: watch::Sender<Option<LogId>>,
    /// Memberships in the order of the log, from the one in force at the floor.
    memberships: Mutex<Vec<Membership>>,
    step: Mutex<Step>,
    /// Asked to hand leadership over when a copy here is suspect.
    pub(super) unfit: tokio::sync::Notify,
    stopped: AtomicBool,
}

/// When this replica was last known to hold all that the leader had.
struct Step {
    was: Option<Instant>,
    /// What the leader said that is not applied here yet, and when.
    ahead: Option<(u64, Instant)>,
}

impl Replica {
    /// The shard as its floor has it; what is above comes from the log.
    pub(super) fn new(shard: ShardId, shared: Arc<Shared>, log: GroupLog) -> io::Result<Self> {
        let floor = log.floor();
        let membership = match &floor {
            Some(floor) => decode(&floor.membership)?,
            None => Membership::default(),
        };
        let replica = Self {
            shard,
            log,
            slots: Mutex::default(),
            applied: watch::Sender::new(floor.as_ref().map(|floor| floor.log_id)),
            memberships: Mutex::new(vec![membership]),
            step: Mutex::new(Step { was: None, ahead: None }),
            unfit: tokio::sync::Notify::new(),
            stopped: AtomicBool::new(false),
            shared,
        };
        for (vault, log_id) in floor.iter().flat_map(|floor| &floor.vaults) {
            replica.slots.lock().insert(*vault, replica.fresh(*vault, Some(*log_id)));
        }
        Ok(replica)
    }

    fn fresh(&self, vault: VaultId, floor: Option<LogId>) -> Arc<Slot> {
        Arc::new(Slot::new(vault, self.shared.vaults().join(vault.to_string()), floor))
    }

    /// The vault, where any entry has named it.
    pub(super) fn slot(&self, vault: VaultId) -> Option<Arc<Slot>> {
        self.slots.lock().get(&vault).cloned()
    }

    /// The vault that an entry names.
    pub(super) fn slot_of_entry(&self, vault: VaultId) -> Arc<Slot> {
        Arc::clone(self.slots.lock().entry(vault).or_insert_with(|| self.fresh(vault, None)))
    }

    /// All vaults that entries have named.
    pub(super) fn slots(&self) -> Vec<Arc<Slot>> {
        self.slots.lock().values().cloned().collect()
    }

    /// Forgets vaults that are gone and of which nobody has anything left to say.
    pub(super) fn forget_absent(&self) {
        self.slots.lock().retain(|_, slot| {
            let state = slot.state();
            state.present || state.running || !state.queue.is_empty() || state.undurable.is_some()
        });
    }

    /// Closes copies that nobody uses, when more are open than may be.
    pub(super) fn close_idle(&self) {
        let idle: Vec<_> = self.slots().into_iter().filter(|slot| slot.is_idle()).collect();
        let spare = idle.len().saturating_sub(limits::OPEN_VAULTS);
        idle.iter().take(spare).for_each(|slot| slot.close());
    }

    /// The name of a place of the log in a vault.
    pub(super) fn log_id(&self, at: LogId) -> replica::LogId {
        replica::LogId { shard: self.shard.get(), term: at.term, index: at.index }
    }

    /// An entry was handed on.
    pub(super) fn note_applied(&self, at: LogId) {
        self.applied.send_replace(Some(at));
        let mut step = self.step.lock();
        if let Some((_, when)) = step.ahead.filter(|(index, _)| *index <= at.index) {
            *step = Step { was: Some(when), ahead: None };
        }
    }

    /// The leader has said up to where the log is committed.
    pub(super) fn note_committed(&self, index: u64) {
        let now = Instant::now();
        let applied = self.applied.borrow().map_or(0, |at| at.index);
        let mut step = self.step.lock();
        if index <= applied {
            *step = Step { was: Some(now), ahead: None };
        } else if step.ahead.is_none() {
            step.ahead = Some((index, now));
        }
    }

    /// Since when this replica may have missed something; `None` when it never knew.
    pub(super) fn lag(&self) -> Option<Duration> {
        self.step.lock().was.map(|was| was.elapsed())
    }

    pub(super) fn note_membership(&self, membership: Membership) {
        self.memberships.lock().push(membership);
    }

    /// The membership in force at a place of the log; earlier ones are forgotten when a floor is there.
    pub(super) fn membership_at(&self, index: u64) -> Membership {
        let known = self.memberships.lock();
        let at = known
            .iter()
            .rev()
            .find(|membership| membership.log_id().as_ref().is_none_or(|log_id| log_id.index <= index));
        at.cloned().unwrap_or_default()
    }

    pub(super) fn forget_memberships_before(&self, index: u64) {
        let mut known = self.memberships.lock();
        let is_old =
            |membership: &Membership| membership.log_id().as_ref().is_none_or(|log_id| log_id.index <= index);
        let old = known.iter().filter(|membership| is_old(membership)).count();
        known.drain(..old.saturating_sub(1));
    }

    /// The other replicas, with their addresses.
    pub(super) fn peers(&self) -> Vec<(NodeId, String)> {
        let membership = self.membership_at(u64::MAX);
        let others = membership.nodes().filter(|(id, _)| **id != self.shared.node.get());
        others.map(|(id, node)| (NodeId::new(*id), node.addr.clone())).collect()
    }

    /// Takes over a floor that another replica has sent, of which every vault is durable here.
    pub(super) async fn take_floor(&self, floor: Floor, membership: Membership) -> io::Result<()> {
        let at = floor.log_id;
        self.log.set_floor(floor).await?;
        *self.memberships.lock() = vec![membership];
        self.note_applied(at);
        Ok(())
    }

    /// A copy here is suspect: another replica should lead, if this one does.
    pub(super) fn lead_no_more(&self) {
        self.unfit.notify_one();
    }

    /// Nothing more is begun.
    pub(super) fn stop(&self) {
        self.stopped.store(true, Ordering::Release);
        for slot in self.slots() {
            slot.state().writer = None;
            slot.changed();
        }
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Acquire)
    }
}
