//! The leader's writer of one vault: takes what waits, carries it out in one open transaction, proposes that and answers when
//! the entry is applied. One transaction at a time; what comes meanwhile waits in a bounded queue.
//!
//! A request with an idempotency key that is sent again waits behind the first one and finds its outcome in the vault, also
//! when the first one's outcome was unknown: nothing is begun before it is known here.

use std::sync::Arc;

use openraft::error::ClientWriteError;
use openraft::impls::ProgressResponder;
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;
use undercroft_crypto::ProposalId;
use undercroft_proto::{Height, Incarnation, Position};
use undercroft_vault::replica::{self, Answer, Batch, NoOp, Outcome, Terms};
use undercroft_vault::{Done, WriteRequest};

use super::entry::{ShardEntry, What};
use super::group::Group;
use super::healing::aside;
use super::limits;
use super::slot::{Doubt, Health, Slot};
use super::types::{Leader, Proposal, Verdict};
use crate::{Error, Result};

/// A request that waits, and who waits for it.
pub(super) struct Job {
    pub(super) request: WriteRequest,
    pub(super) terms: Terms,
    pub(super) answer: oneshot::Sender<Result<Written>>,
}

/// What a write did, and where the vault is with it.
#[derive(Debug)]
pub struct Written {
    /// What it did.
    pub done: Done,
    /// Incarnation and height behind it; what a later read demands.
    pub position: Position,
}

/// Those who wait for one transaction, in the order of its answers.
type Callers = Vec<oneshot::Sender<Result<Written>>>;

/// Begins the writer of a vault.
pub(super) fn begin(group: Arc<Group>, slot: Arc<Slot>) -> mpsc::Sender<Job> {
    let (jobs, mut waiting) = mpsc::channel(limits::WAITING);
    tokio::spawn(async move {
        // In front of what waits: requests that did not fit into the segment before.
        let mut again: Vec<Job> = Vec::new();
        loop {
            if again.is_empty() {
                let Some(job) = waiting.recv().await else { return };
                again.push(job);
            }
            while again.len() < limits::BATCH
                && let Ok(job) = waiting.try_recv()
            {
                again.push(job);
            }
            let terms = again[0].terms;
            let others = again.iter().position(|job| job.terms != terms).unwrap_or(again.len());
            let later = again.split_off(others);
            let mut given_back = Round { group: &group, slot: &slot, terms }.run(again).await;
            given_back.extend(later);
            again = given_back;
        }
    });
    jobs
}

/// One transaction of one vault.
struct Round<'a> {
    group: &'a Arc<Group>,
    slot: &'a Arc<Slot>,
    terms: Terms,
}

/// How a proposal ended.
enum End {
    Verdict(Verdict),
    /// Nothing of it was or will be done.
    Not(Error),
    /// It may be done or not.
    Unknown,
}

impl Round<'_> {
    /// Answers everybody but those whose requests are given back.
    async fn run(&self, jobs: Vec<Job>) -> Vec<Job> {
        let deadline = Instant::now() + self.group.timing().proposal;
        let _turn = self.slot.turn.lock().await;
        let leader = match self.may_begin(deadline).await {
            Ok(leader) => leader,
            Err(error) => {
                refuse(jobs.into_iter().map(|job| job.answer), &error);
                return Vec::new();
            }
        };
        let (requests, callers): (Vec<_>, Callers) =
            jobs.into_iter().map(|job| (job.request, job.answer)).unzip();
        let batch = match self.prepare(requests).await {
            Ok(batch) => batch,
            Err(error) => {
                refuse(callers, &error);
                return Vec::new();
            }
        };
        let (mut done, mut waiting, mut again) = (Vec::new(), Vec::new(), Vec::new());
        for (answer, caller) in batch.answers.into_iter().zip(callers) {
            match answer {
                Answer::Done(result) => {
                    done.push(result);
                    waiting.push(caller);
                }
                Answer::Again(request) => {
                    again.push(Job { request: *request, terms: self.terms, answer: caller });
                }
            }
        }
        let position = match batch.parked {
            Some(parked) => self.agree(leader, parked, deadline).await,
            // Nothing changed. What is said of the vault must still be what the majority has.
            None => self.group.confirm().await.map(|()| self.slot.position()),
        };
        match position {
            Ok(position) => answer(waiting, done, position.unwrap_or(self.nowhere())),
            Err(error) => refuse(waiting, &error),
        }
        again
    }

    const fn nowhere(&self) -> Position {
        Position { incarnation: Incarnation::new(self.terms.incarnation), height: Height::new(0) }
    }

    /// Waits until a transaction may be begun here: this node leads, has applied all that earlier leaders left, knows what
    /// became of its own proposals, and the vault has nothing to catch up on.
    async fn may_begin(&self, deadline: Instant) -> Result<Leader> {
        let ready = async {
            let leader = self.group.leading().await?;
            if self.group.shared().is_journal_full() {
                return Err(Error::Busy("a journal that is nearly full"));
            }
            let doubt = self.slot.state().doubt;
            if let Some(doubt) = doubt {
                self.resolve(doubt).await;
            }
            self.slot.until(|state| state.queue.is_empty() || state.health != Health::Good).await;
            self.slot.state().refusal(self.slot.id).map_or(Ok(leader), Err)
        };
        tokio::time::timeout_at(deadline, ready).await.unwrap_or(Err(Error::InDoubt(self.slot.id)))
    }

    /// Waits until a proposal of unknown outcome was applied here, or can no longer be: entries of a later leader stand behind
    /// all of an earlier one that are kept, so when one of them is applied, so are those.
    async fn resolve(&self, doubt: Doubt) {
        let gone = async {
            let queued = self.group.applied_behind(doubt.leader).await;
            self.slot.until(|state| state.has_done(queued)).await;
        };
        tokio::select! {
            () = gone => {}
            () = self.slot.until(|state| state.doubt != Some(doubt)) => {}
        }
        let mut state = self.slot.state();
        if state.doubt == Some(doubt) {
            state.doubt = None;
        }
    }

    async fn prepare(&self, requests: Vec<WriteRequest>) -> Result<Batch> {
        if !self.slot.state().present {
            return Err(Error::NotInShard { vault: self.slot.id, shard: self.group.shard() });
        }
        let (group, slot, terms) = (Arc::clone(self.group), Arc::clone(self.slot), self.terms);
        let prepared = aside(move || {
            let vault = slot.open(group.shared())?;
            let pending = replica::make_ready(&vault, requests);
            Ok(replica::prepare(&vault, pending, group.shared().screening, terms)?)
        })
        .await;
        prepared.inspect_err(|error| self.group.note(self.slot, error))
    }

    /// Parks the transaction, proposes it, and sees it committed.
    async fn agree(
        &self,
        leader: Leader,
        parked: replica::Parked,
        deadline: Instant,
    ) -> Result<Option<Position>> {
        let proposal = parked.segment().header().proposal;
        let what = What::Segment(parked.segment().clone());
        let entry = Proposal::new(&ShardEntry { vault: self.slot.id, what });
        self.slot.state().parked = Some((proposal, parked));
        // Entries that came meanwhile go first, and roll it back.
        self.slot.changed();
        let end = self.propose(leader, proposal, entry, deadline).await;
        // Rolled back, unless a worker has taken it.
        drop(self.slot.unpark(proposal));
        match end {
            End::Verdict(Verdict::Said(Outcome::Applied(state))) => {
                let (incarnation, height) = state.position();
                Ok(Some(Position { incarnation: Incarnation::new(incarnation), height: Height::new(height) }))
            }
            // Another replica's copy is in place and holds the entry; what it made of it is not known here.
            End::Verdict(Verdict::Said(Outcome::NoOp(NoOp::HeldAlready))) => {
                Err(Error::OutcomeUnknown(self.slot.id))
            }
            End::Verdict(Verdict::Said(Outcome::NoOp(reason))) => {
                Err(Error::LostRace(self.slot.id, reason.to_string()))
            }
            End::Verdict(Verdict::Absent) => {
                Err(Error::NotInShard { vault: self.slot.id, shard: self.group.shard() })
            }
            End::Not(error) => Err(error),
            End::Verdict(_) | End::Unknown => {
                let mut state = self.slot.state();
                if state.last != Some(proposal) {
                    state.doubt = Some(Doubt { proposal, leader });
                }
                Err(Error::OutcomeUnknown(self.slot.id))
            }
        }
    }

    async fn propose(&self, leader: Leader, proposal: ProposalId, entry: Proposal, deadline: Instant) -> End {
        let (responder, told) = ProgressResponder::complete_only();
        let sent = self.group.raft().write(entry).with_leader(leader).responder(responder).await;
        if let Err(error) = sent {
            tracing::warn!(vault = %self.slot.id, "a write could not be proposed: {error}");
            return End::Unknown;
        }
        let replaced = self.slot.state().replaced;
        let gone = async {
            let queued = self.group.applied_behind(leader).await;
            self.slot.until(|state| state.has_done(queued)).await;
        };
        tokio::select! {
            biased;
            told = told => match told {
                Ok(Ok(written)) => written.data.verdict.map_or(End::Unknown, End::Verdict),
                // Refused before it was appended.
                Ok(Err(ClientWriteError::ForwardToLeader(_))) => End::Not(self.group.not_leader()),
                Ok(Err(_)) | Err(_) => End::Unknown,
            },
            // All that its leader left in the log is applied, and it was not among that. A copy that was fetched tells nothing.
            () = gone => {
                let state = self.slot.state();
                let is_gone = state.last != Some(proposal) && state.replaced == replaced;
                drop(state);
                if is_gone { End::Not(self.group.not_leader()) } else { End::Unknown }
            }
            () = tokio::time::sleep_until(deadline) => End::Unknown,
        }
    }
}

fn answer(callers: Callers, done: Vec<undercroft_vault::Result<Done>>, position: Position) {
    for (caller, done) in callers.into_iter().zip(done) {
        // Who asked may have gone away.
        let _ = caller.send(done.map(|done| Written { done, position }).map_err(Error::from));
    }
}

fn refuse(callers: impl IntoIterator<Item = oneshot::Sender<Result<Written>>>, error: &Error) {
    for caller in callers {
        let _ = caller.send(Err(error.clone()));
    }
}
