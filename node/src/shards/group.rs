//! One shard's Raft group on this node: what is asked of it. Owns the library's handle and the tasks of the group.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use openraft::async_runtime::{Instant as _, WatchReceiver};
use openraft::error::{ClientWriteError, RaftError};
use openraft::impls::ProgressResponder;
use openraft::{BasicNode, ChangeMembers, ReadPolicy};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use undercroft_crypto::ErrorClass;
use undercroft_proto::{NodeId, ShardId, VaultId};
use undercroft_vault::WriteRequest;
use undercroft_vault::replica::Terms;

use super::entry::{ShardEntry, What};
use super::limits::NAME_BYTES;
use super::machine::Machine;
use super::network::Network;
use super::reading::{self, Consistency, Served};
use super::replica::Replica;
use super::settings::{Shared, Timing};
use super::slot::{Health, Slot};
use super::types::{Leader, Proposal, Raft, Types, Verdict};
use super::writer::{self, Job, Written};
use super::{checkpoint, healing};
use crate::journal::{GroupLog, GroupStore, LogId};
use crate::{Error, Result};

/// One shard on this node.
pub struct Group {
    replica: Arc<Replica>,
    raft: Raft,
    tasks: Vec<JoinHandle<()>>,
}

/// How a shard stands on this node, at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupStatus {
    /// The term that it knows of.
    pub term: u64,
    /// Who leads, as far as it knows.
    pub leader: Option<NodeId>,
    /// The last entry that was handed to its vault.
    pub applied: u64,
    /// The floor.
    pub floor: u64,
    /// Entries that wait for their vaults.
    pub queued: u64,
    /// Vaults that are out of service here, or wait for the disk.
    pub unwell: Vec<(VaultId, Health)>,
    /// Of the leader: up to where it knows each replica to have the log.
    pub matched: BTreeMap<NodeId, u64>,
}

impl Group {
    pub(super) async fn start(shard: ShardId, shared: Arc<Shared>, log: GroupLog) -> Result<Arc<Self>> {
        let config = Arc::new(shared.raft()?);
        let network = Network { shard, me: shared.node, transport: Arc::clone(&shared.transport) };
        let (node, store) = (shared.node.get(), GroupStore::new(log.clone()));
        let replica = Arc::new(Replica::new(shard, shared, log).map_err(stopped)?);
        let machine = Machine::new(Arc::clone(&replica));
        let raft = Raft::new(node, config, network, store, machine).await.map_err(stopped)?;
        let tasks = vec![
            tokio::spawn(checkpoint::run(Arc::clone(&replica), raft.clone())),
            tokio::spawn(hand_over_when_unfit(Arc::clone(&replica), raft.clone())),
        ];
        Ok(Arc::new(Self { replica, raft, tasks }))
    }

    /// Which shard it is.
    #[must_use]
    pub fn shard(&self) -> ShardId {
        self.replica.shard
    }

    /// Whether this node leads, as far as it knows.
    #[must_use]
    pub fn leads(&self) -> bool {
        self.raft.as_leader().is_ok()
    }

    /// Who leads and where, as far as this node knows.
    #[must_use]
    pub fn leader(&self) -> Option<(NodeId, String)> {
        let metrics = self.raft.metrics();
        let metrics = metrics.borrow_watched();
        let leader = metrics.current_leader?;
        let node = metrics.membership_config.membership().get_node(&leader)?;
        Some((NodeId::new(leader), node.addr.clone()))
    }

    /// Founds the group with these voters and nobody else. On one of them, once.
    ///
    /// # Errors
    /// [`Error::ShardMembers`] when it was founded.
    pub async fn found(&self, members: BTreeMap<NodeId, String>) -> Result<()> {
        let nodes: BTreeMap<u64, BasicNode> =
            members.into_iter().map(|(id, address)| (id.get(), BasicNode::new(address))).collect();
        self.raft.initialize(nodes).await.map_err(|error| Error::ShardMembers(error.to_string()))
    }

    /// Adds a replica that only copies. It may vote when [`GroupStatus::matched`] says that it has caught up.
    ///
    /// # Errors
    /// [`Error::NotLeader`], [`Error::ShardMembers`].
    pub async fn add_learner(&self, node: NodeId, address: &str) -> Result<()> {
        let added = self.raft.add_learner(node.get(), BasicNode::new(address), false).await;
        added.map(drop).map_err(|error| self.refused(error))
    }

    /// Makes exactly these replicas the voters, and forgets others.
    ///
    /// # Errors
    /// As [`Self::add_learner`].
    pub async fn set_voters(&self, voters: impl IntoIterator<Item = NodeId>) -> Result<()> {
        let voters = voters.into_iter().map(NodeId::get).collect();
        let changed = self.raft.change_membership(ChangeMembers::ReplaceAllVoters(voters), false).await;
        changed.map(drop).map_err(|error| self.refused(error))
    }

    /// Hands leadership to another voter.
    ///
    /// # Errors
    /// [`Error::ShardStopped`].
    pub async fn hand_over(&self, to: NodeId) -> Result<()> {
        self.raft.trigger().transfer_leader(to.get()).await.map_err(stopped)
    }

    /// Writes to a vault. Answers when a majority has it on disk and it is committed here.
    ///
    /// # Errors
    /// [`Error::OutcomeUnknown`] when it may or may not be done: send it again under the same idempotency key. Otherwise
    /// nothing of it was done: [`Error::NotLeader`], [`Error::LostRace`], [`Error::NotInShard`], [`Error::ShardVaultBusy`],
    /// [`Error::InDoubt`], [`Error::VaultSuspect`], [`Error::VaultStalled`], and what the vault says of the request.
    pub async fn write(
        self: &Arc<Self>,
        vault: VaultId,
        request: WriteRequest,
        terms: Terms,
    ) -> Result<Written> {
        let leading = tokio::time::timeout(self.timing().proposal, self.leading()).await;
        leading.unwrap_or_else(|_| Err(self.not_leader()))?;
        let slot = self.replica.slot(vault).ok_or(Error::NotInShard { vault, shard: self.shard() })?;
        if self.replica.is_stopped() {
            return Err(Error::ShardStopped(String::from("the node is stopping")));
        }
        let jobs = {
            let mut state = slot.state();
            let begin = || writer::begin(Arc::clone(self), Arc::clone(&slot));
            state.writer.get_or_insert_with(begin).clone()
        };
        let (answer, told) = oneshot::channel();
        jobs.try_send(Job { request, terms, answer }).map_err(|_| Error::ShardVaultBusy(vault))?;
        told.await.unwrap_or(Err(Error::OutcomeUnknown(vault)))
    }

    /// Does something to a vault besides writing. Answers when a majority has it on disk and it is durable here.
    ///
    /// # Errors
    /// As [`Self::write`].
    pub async fn command(&self, vault: VaultId, what: What) -> Result<Verdict> {
        if let What::Create(create) = &what
            && (create.name.len() > NAME_BYTES || create.level.len() > NAME_BYTES)
        {
            return Err(Error::ShardStopped(format!(
                "a name has at most {NAME_BYTES} bytes; choose a shorter one"
            )));
        }
        let proposal = Proposal::new(&ShardEntry { vault, what });
        let proposed = async {
            let leader = self.leading().await?;
            let (responder, told) = ProgressResponder::complete_only();
            self.raft.write(proposal).with_leader(leader).responder(responder).await.map_err(stopped)?;
            match told.await {
                Ok(Ok(written)) => written.data.verdict.ok_or(Error::OutcomeUnknown(vault)),
                Ok(Err(ClientWriteError::ForwardToLeader(_))) => Err(self.not_leader()),
                Ok(Err(_)) | Err(_) => Err(Error::OutcomeUnknown(vault)),
            }
        };
        let done = tokio::time::timeout(self.timing().proposal, proposed).await;
        done.unwrap_or(Err(Error::OutcomeUnknown(vault)))
    }

    /// A vault to read from.
    ///
    /// # Errors
    /// [`Error::NotLeader`], [`Error::Behind`] where another replica has to be asked; [`Error::NotInShard`];
    /// [`Error::VaultSuspect`], [`Error::VaultStalled`].
    pub async fn read(self: &Arc<Self>, vault: VaultId, how: Consistency) -> Result<Served> {
        reading::serve(self, vault, how).await
    }

    /// Moves the floor as far as vaults allow; where it is afterwards. It moves by itself now and then.
    ///
    /// # Errors
    /// What the journal's disk refuses.
    pub async fn checkpoint(&self) -> Result<Option<LogId>> {
        checkpoint::advance(&self.replica, &self.raft).await
    }

    /// How it stands.
    #[must_use]
    pub fn status(&self) -> GroupStatus {
        let metrics = self.raft.metrics();
        let metrics = metrics.borrow_watched();
        let (mut queued, mut unwell) = (0, Vec::new());
        for slot in self.replica.slots() {
            let state = slot.state();
            queued += state.queue.len() as u64;
            if state.health != Health::Good {
                unwell.push((slot.id, state.health.clone()));
            }
        }
        let matched = metrics.replication.iter().flatten();
        GroupStatus {
            term: metrics.current_term,
            leader: metrics.current_leader.map(NodeId::new),
            applied: self.applied(),
            floor: self.replica.log.floor().map_or(0, |floor| floor.log_id.index),
            queued,
            unwell,
            matched: matched
                .map(|(node, at)| (NodeId::new(*node), at.as_ref().map_or(0, |at| at.index)))
                .collect(),
        }
    }

    /// The library's handle.
    pub(super) const fn raft(&self) -> &Raft {
        &self.raft
    }

    pub(super) const fn replica(&self) -> &Arc<Replica> {
        &self.replica
    }

    pub(super) fn shared(&self) -> &Arc<Shared> {
        &self.replica.shared
    }

    pub(super) fn timing(&self) -> &Timing {
        &self.replica.shared.timing
    }

    /// Since when a majority may no longer follow this leader; `None` where it does not lead.
    pub(super) fn quorum_lag(&self) -> Option<Duration> {
        self.raft.as_leader().ok()?.last_quorum_acked().map(|at| at.elapsed())
    }

    /// The last entry that was handed to its vault.
    pub(super) fn applied(&self) -> u64 {
        self.replica.applied.borrow().map_or(0, |at| at.index)
    }

    /// This node's leadership, once everything that earlier leaders left is applied here.
    pub(super) async fn leading(&self) -> Result<Leader> {
        let leader = self.raft.as_leader().map_err(|_| self.not_leader())?.to_committed_leader_id();
        let mut applied = self.replica.applied.subscribe();
        let reached = applied.wait_for(|at| at.is_some_and(|at| leader_of(at) >= leader)).await;
        match reached.map(|at| at.map(leader_of)) {
            Ok(Some(found)) if found == leader => Ok(leader),
            _ => Err(self.not_leader()),
        }
    }

    /// Waits until an entry of a later leader is applied here; its index.
    pub(super) async fn applied_behind(&self, leader: Leader) -> u64 {
        let mut applied = self.replica.applied.subscribe();
        let reached = applied.wait_for(|at| at.is_some_and(|at| leader_of(at) > leader)).await;
        // The sender is in the replica.
        reached.ok().and_then(|at| at.map(|at| at.index)).unwrap_or(u64::MAX)
    }

    /// Asks a majority whether this node still leads, and waits until it has applied all that was committed before.
    pub(super) async fn confirm(&self) -> Result<()> {
        let asked = self.raft.ensure_linearizable(ReadPolicy::ReadIndex);
        match tokio::time::timeout(self.timing().strong, asked).await {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(RaftError::Fatal(error))) => Err(stopped(error)),
            Ok(Err(RaftError::APIError(_))) | Err(_) => Err(self.not_leader()),
        }
    }

    /// Takes a copy out of service when what was found says that it must be.
    pub(super) fn note(&self, slot: &Arc<Slot>, error: &Error) {
        if error.class() == ErrorClass::Integrity && !matches!(error, Error::VaultSuspect(..)) {
            healing::accuse(&self.replica, slot, error.to_string());
        }
    }

    pub(super) fn not_leader(&self) -> Error {
        let leader = self.leader().filter(|(node, _)| *node != self.replica.shared.node);
        Error::NotLeader { shard: self.shard(), leader }
    }

    fn refused(&self, error: RaftError<Types, ClientWriteError<Types>>) -> Error {
        match error {
            RaftError::APIError(ClientWriteError::ForwardToLeader(_)) => self.not_leader(),
            other => Error::ShardMembers(other.to_string()),
        }
    }

    /// Stops. What was acknowledged is on disk already.
    pub(super) async fn stop(&self) {
        self.replica.stop();
        self.tasks.iter().for_each(JoinHandle::abort);
        // It fails when the task has ended already, which is what is wanted.
        let _ = self.raft.shutdown().await;
        for slot in self.replica.slots() {
            let parked = slot.state().parked.take();
            drop(parked);
        }
    }
}

async fn hand_over_when_unfit(replica: Arc<Replica>, raft: Raft) {
    loop {
        replica.unfit.notified().await;
        let membership = replica.membership_at(u64::MAX);
        let other = membership.voter_ids().find(|id| *id != replica.shared.node.get());
        if let (Ok(_), Some(other)) = (raft.as_leader(), other) {
            // It stays the leader where nobody takes over, and refuses that vault.
            let _ = raft.trigger().transfer_leader(other).await;
        }
    }
}

const fn leader_of(at: LogId) -> Leader {
    Leader { term: at.term, node_id: at.node }
}

fn stopped(error: impl std::fmt::Display) -> Error {
    Error::ShardStopped(error.to_string())
}

/// What a stopped or unknown group answers to a message.
pub(super) fn nobody(shard: ShardId) -> io::Error {
    io::Error::new(io::ErrorKind::NotConnected, format!("shard {shard} is not on this node"))
}
