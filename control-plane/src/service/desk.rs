//! Decisions, asked for at any member: here when it leads, and otherwise passed on to the leader.
//!
//! A step that carries a request is asked for again when an answer is lost: whatever happened, it is done once.

use std::sync::Arc;

use sha2::{Digest, Sha256};
use tonic::{Code, Request as Call};
use undercroft_proto::MemberId;
use undercroft_proto::wire::VERSION;
use undercroft_proto::wire::control::ProposeRequest;

use super::Peers;
use crate::keys::GroupKey;
use crate::ports::Ports;
use crate::raft::Member;
use crate::state::{Batch, Command, Outcome, Request, Step};
use crate::{Error, limits};

/// Where decisions are asked for. Clones share it.
#[derive(Clone)]
pub struct Desk {
    /// The member that it stands at.
    pub member: Arc<Member>,
    /// The other members.
    pub peers: Peers,
    /// Time and randomness.
    pub ports: Ports,
    /// The group's key.
    pub key: Arc<GroupKey>,
}

impl Desk {
    /// Decides one command, once, however often it must be passed on.
    ///
    /// # Errors
    /// As [`Desk::decide`].
    pub async fn once(&self, command: Command) -> Result<Outcome, Error> {
        let id: [u8; 32] = self.ports.random();
        self.under(Request { id, digest: Sha256::digest(id).into() }, command).await
    }

    /// Decides one command under a request of the caller.
    ///
    /// # Errors
    /// As [`Desk::decide`].
    pub async fn under(&self, request: Request, command: Command) -> Result<Outcome, Error> {
        let steps = vec![Step { request: Some(request), command }];
        self.decide(steps).await?.into_iter().next().ok_or_else(|| short(1, 0))
    }

    /// Decides steps in one entry. Answers when a majority has it, and when this member shows it or
    /// [`limits::FOLLOW`] has passed.
    ///
    /// # Errors
    /// [`Error::OutcomeUnknown`] without a leader, or when an answer was lost and some step carries no request;
    /// [`Error::Removed`], [`Error::BatchTooLarge`], [`Error::Stopped`].
    pub async fn decide(&self, steps: Vec<Step>) -> Result<Vec<Outcome>, Error> {
        let expected = steps.len();
        let repeatable = steps.iter().all(|step| step.request.is_some());
        let batch = Batch { at: self.ports.clock.now_ms(), steps };
        let unknown = Error::OutcomeUnknown(limits::DECIDE.as_millis() as u64);
        let decided = tokio::time::timeout(limits::DECIDE, self.attempts(&batch, repeatable)).await;
        let outcomes = decided.unwrap_or(Err(unknown))?;
        if outcomes.len() == expected { Ok(outcomes) } else { Err(short(expected, outcomes.len())) }
    }

    async fn attempts(&self, batch: &Batch, repeatable: bool) -> Result<Vec<Outcome>, Error> {
        let mut ask: Option<(MemberId, String)> = None;
        loop {
            if self.member.removed() {
                return Err(Error::Removed);
            }
            let attempt = match &ask {
                Some((id, address)) if *id != self.member.id() => self.pass_on(address, batch).await,
                _ => self.member.propose(batch).await,
            };
            ask = match attempt {
                Err(Error::NotLeader { leader }) => leader,
                Err(Error::OutcomeUnknown(_)) if repeatable => None,
                other => return other,
            };
            tokio::time::sleep(limits::AGAIN).await;
        }
    }

    /// Asks the member at an address, which decides only when it leads.
    async fn pass_on(&self, address: &str, batch: &Batch) -> Result<Vec<Outcome>, Error> {
        let lost = |_| Error::OutcomeUnknown(limits::CALL.as_millis() as u64);
        let mut client = self.peers.at(address).map_err(lost)?;
        let mut call = Call::new(ProposeRequest { version: VERSION, batch: batch.encode()? });
        call.set_timeout(limits::CALL);
        let reply = match client.propose(call).await {
            Ok(reply) => reply.into_inner(),
            Err(status) => return Err(from_status(&status)),
        };
        if reply.outcomes.is_empty() {
            let leader = (reply.leader > 0).then(|| (MemberId::new(reply.leader), reply.leader_address));
            return Err(Error::NotLeader { leader });
        }
        let outcomes = postcard::from_bytes(&reply.outcomes)
            .map_err(|error| Error::Unreadable { what: "the leader's answer", problem: error.to_string() })?;
        // A member that lags shows it later; what was decided stays decided.
        self.member.follow(reply.applied).await;
        Ok(outcomes)
    }
}

/// What a failed call leaves unknown. Only a refusal of the batch itself is certain.
fn from_status(status: &tonic::Status) -> Error {
    match status.code() {
        Code::InvalidArgument | Code::Unimplemented | Code::PermissionDenied => {
            Error::Refused(status.message().to_owned())
        }
        _ => Error::OutcomeUnknown(limits::CALL.as_millis() as u64),
    }
}

fn short(expected: usize, found: usize) -> Error {
    let problem = format!("it has {found} outcomes for {expected} commands");
    Error::Unreadable { what: "the answer to a decision", problem }
}
