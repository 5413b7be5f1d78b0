//! The gRPC service `Control`. Any member answers; what only the leader knows is passed on to it, once.

use std::sync::Arc;

use tokio::sync::{Semaphore, watch};
use tonic::{Request, Response, Status};
use undercroft_certs::Role;
use undercroft_proto::wire::VERSION;
use undercroft_proto::wire::control as wire;
use undercroft_proto::wire::control::control_server::{Control, ControlServer};
use undercroft_proto::{JoinKey, NodeId, ShardId};

use super::challenges::Challenges;
use super::convert::{self, failed, known, malformed, refused};
use super::peers::Client;
use super::watch::Watcher;
use super::{Desk, Lead, enter, join, steps};
use crate::limits;
use crate::state::{Command, Outcome, Step, WitnessCommand};

/// Calls of nodes, which members pass on.
const NODES: &[Role] = &[Role::Node, Role::Control];
/// Calls between members.
const MEMBERS: &[Role] = &[Role::Control];

/// Marks a call that was passed on, so that it is not passed on again.
const PASSED_ON: &str = "undercroft-passed-on";

/// The service of a member. Clones share it.
#[derive(Clone)]
pub struct ControlService(pub(super) Arc<Inner>);

pub(super) struct Inner {
    pub(super) desk: Desk,
    pub(super) lead: Lead,
    pub(super) challenges: Challenges,
    pub(super) join_key: Option<JoinKey>,
    watchers: Arc<Semaphore>,
    stop: watch::Receiver<bool>,
}

impl ControlService {
    /// The service of the member at this desk. Without a join key no node joins. Watchers are told to go when it stops.
    #[must_use]
    pub fn new(desk: Desk, lead: Lead, join_key: Option<JoinKey>, stop: watch::Receiver<bool>) -> Self {
        let watchers = Arc::new(Semaphore::new(limits::WATCHERS));
        Self(Arc::new(Inner { desk, lead, challenges: Challenges::default(), join_key, watchers, stop }))
    }

    /// The service, ready to be added to a server.
    #[must_use]
    pub fn into_server(self) -> ControlServer<Self> {
        let server = ControlServer::new(self);
        server
            .max_decoding_message_size(limits::MESSAGE_BYTES)
            .max_encoding_message_size(limits::MESSAGE_BYTES)
    }

    /// Lets a call pass whose certificate is of one of these roles.
    fn admit<T>(&self, call: &Request<T>, roles: &[Role]) -> Result<(), Status> {
        self.0.desk.peers.access(roles).check(call.extensions()).map(|_| ())
    }

    /// The leader to pass a call on to; `None` when it is this member.
    fn leader<T>(&self, call: &Request<T>) -> Result<Option<Client>, Status> {
        let Inner { desk, lead, .. } = &*self.0;
        if lead.leads() {
            return Ok(None);
        }
        let none = || Status::unavailable("no member leads at the moment; ask again in a second");
        if call.metadata().contains_key(PASSED_ON) {
            return Err(none());
        }
        let (leader, address) = desk.member.leader().ok_or_else(none)?;
        // It was elected and has not begun to lead.
        if leader == desk.member.id() { Err(none()) } else { desk.peers.at(&address).map(Some) }
    }
}

/// A call as it is passed on.
fn passed_on<T>(message: T) -> Request<T> {
    let mut call = Request::new(message);
    call.metadata_mut().insert(PASSED_ON, tonic::metadata::MetadataValue::from_static("1"));
    call.set_timeout(limits::CALL);
    call
}

#[tonic::async_trait]
impl Control for ControlService {
    type WatchStream = futures_util::stream::BoxStream<'static, Result<wire::WatchReply, Status>>;

    async fn challenge(
        &self,
        call: Request<wire::ChallengeRequest>,
    ) -> Result<Response<wire::ChallengeReply>, Status> {
        self.admit(&call, NODES)?;
        known(call.get_ref().version)?;
        let challenge = self.0.challenges.give(&self.0.desk.ports).to_vec();
        Ok(Response::new(wire::ChallengeReply { version: VERSION, challenge }))
    }

    async fn join(&self, call: Request<wire::JoinRequest>) -> Result<Response<wire::JoinReply>, Status> {
        self.admit(&call, NODES)?;
        known(call.get_ref().version)?;
        join::join(&self.0, call.into_inner()).await.map(Response::new)
    }

    async fn heartbeat(
        &self,
        call: Request<wire::HeartbeatRequest>,
    ) -> Result<Response<wire::HeartbeatReply>, Status> {
        self.admit(&call, NODES)?;
        known(call.get_ref().version)?;
        if let Some(mut leader) = self.leader(&call)? {
            return leader.heartbeat(passed_on(call.into_inner())).await;
        }
        let Inner { desk, lead, .. } = &*self.0;
        let heartbeat = call.into_inner();
        let node = NodeId::new(heartbeat.node);
        let contact = convert::contact(&heartbeat, desk.ports.clock.elapsed_ms());
        let contact = contact.map_err(|error| malformed(&error))?;
        let map_version =
            desk.member.map().read(|state| join::belongs(state, node).map(|()| state.version()))?;
        if !lead.heard(node, contact) {
            return Err(Status::unavailable("this member has ceased to lead; ask again in a second"));
        }
        Ok(Response::new(wire::HeartbeatReply { version: VERSION, map_version }))
    }

    async fn watch(&self, call: Request<wire::WatchRequest>) -> Result<Response<Self::WatchStream>, Status> {
        known(call.get_ref().version)?;
        let (role, tenants) = match call.get_ref().role {
            1 => (Role::Node, false),
            2 => (Role::Router, true),
            other => {
                let what = format!("message WatchRequest: field 'role' is {other}; 1 node, 2 router");
                return Err(Status::invalid_argument(what));
            }
        };
        // What tenants are known by is for routers alone.
        self.admit(&call, &[role])?;
        let asked = call.into_inner();
        let place = self.0.watchers.clone().try_acquire_owned().map_err(|_| {
            Status::resource_exhausted("this member has as many watchers as it takes; watch another one")
        })?;
        let map = self.0.desk.member.map().clone();
        Ok(Response::new(Box::pin(
            Watcher::new(map, (asked.have, tenants), self.0.stop.clone(), place).stream(),
        )))
    }

    async fn report_witnesses(
        &self,
        call: Request<wire::WitnessesRequest>,
    ) -> Result<Response<wire::WitnessesReply>, Status> {
        self.admit(&call, NODES)?;
        let asked = call.into_inner();
        known(asked.version)?;
        if asked.witnesses.len() > limits::REPORTED_WITNESSES {
            let (has, most) = (asked.witnesses.len(), limits::REPORTED_WITNESSES);
            let what = format!(
                "message WitnessesRequest: field 'witnesses' has {has} entries; at most {most}, send more calls"
            );
            return Err(Status::invalid_argument(what));
        }
        let reports: Result<Vec<_>, _> = asked.witnesses.iter().map(convert::report).collect();
        let command = Command::Witness(WitnessCommand::Report {
            shard: ShardId::new(asked.shard),
            reporter: NodeId::new(asked.node),
            reports: reports.map_err(|error| malformed(&error))?,
        });
        // A witness that is kept already is not kept again, so this needs no request of its own.
        let outcomes = self.0.desk.decide(vec![Step::from(command)]).await.map_err(|error| failed(&error))?;
        match outcomes.first() {
            Some(Outcome::Witnessed { conflicting, .. }) => {
                let conflicting = conflicting.iter().map(|vault| undercroft_proto::wire::vault_bytes(*vault));
                let conflicting = conflicting.collect();
                Ok(Response::new(wire::WitnessesReply { version: VERSION, conflicting }))
            }
            Some(Outcome::Refused(refusal)) => Err(refused(refusal)),
            other => Err(Status::internal(format!("a report of witnesses ended as {other:?}"))),
        }
    }

    async fn take_job_steps(
        &self,
        call: Request<wire::JobStepsRequest>,
    ) -> Result<Response<wire::JobStepsReply>, Status> {
        self.admit(&call, NODES)?;
        known(call.get_ref().version)?;
        match self.leader(&call)? {
            Some(mut leader) => leader.take_job_steps(passed_on(call.into_inner())).await,
            None => steps::take(&self.0, &call.into_inner()).await.map(Response::new),
        }
    }

    async fn report_job_step(
        &self,
        call: Request<wire::JobStepReport>,
    ) -> Result<Response<wire::JobStepReportReply>, Status> {
        self.admit(&call, NODES)?;
        known(call.get_ref().version)?;
        steps::report(&self.0, call.into_inner()).await.map(Response::new)
    }

    async fn propose(
        &self,
        call: Request<wire::ProposeRequest>,
    ) -> Result<Response<wire::ProposeReply>, Status> {
        self.admit(&call, MEMBERS)?;
        let asked = call.into_inner();
        known(asked.version)?;
        enter::propose(&self.0, &asked.batch).await.map(Response::new)
    }

    async fn enter(&self, call: Request<wire::EnterRequest>) -> Result<Response<wire::EnterReply>, Status> {
        self.admit(&call, MEMBERS)?;
        known(call.get_ref().version)?;
        match self.leader(&call)? {
            Some(mut leader) => leader.enter(passed_on(call.into_inner())).await,
            None => enter::enter(&self.0, call.into_inner()).await.map(Response::new),
        }
    }
}
