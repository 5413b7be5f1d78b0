//! The gRPC service `Control`. Any member answers; what only the leader knows is passed on to it, once.

use std::sync::Arc;

use tokio::sync::{Semaphore, watch};
use tonic::{Request, Response, Status};
use undercroft_certs::Role;
use undercroft_proto::wire::VERSION;
use undercroft_proto::wire::control as wire;
use undercroft_proto::wire::control::control_server::{Control, ControlServer};
use undercroft_proto::{JoinKey, NodeId, ShardId};

use super::caller::{Caller, was_passed_on};
use super::challenges::Challenges;
use super::convert::{self, failed, known, malformed, refused};
use super::join::belongs;
use super::peers::Client;
use super::watch::{Audience, Watcher};
use super::{Desk, Lead, enter, join, steps};
use crate::limits;
use crate::state::{Command, Outcome, State, Step, WitnessCommand};

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

    /// Who makes a call that is for this role alone.
    fn direct<T>(&self, call: &Request<T>, role: Role) -> Result<Caller, Status> {
        let caller = Caller::of(self.0.desk.peers.access(&[role]), role, call)?;
        self.same_group(call).map(|()| caller)
    }

    /// Who makes a call that is for this role, and that members pass on.
    fn caller<T>(&self, call: &Request<T>, role: Role) -> Result<Caller, Status> {
        let caller = Caller::of(self.0.desk.peers.access(&[role, Role::Control]), role, call)?;
        self.same_group(call).map(|()| caller)
    }

    /// Members say which group they are of. Nodes, routers and a member that is about to enter say none.
    fn same_group<T>(&self, call: &Request<T>) -> Result<(), Status> {
        self.0.desk.member.group_id().check(call.metadata(), false)
    }

    /// Whether a call about a node comes from that node, as far as this member knows.
    fn about<T>(&self, call: &Request<T>, node: u64) -> Result<(), Status> {
        let caller = self.direct(call, Role::Node)?;
        self.0.desk.member.map().read(|state| belongs(state, NodeId::new(node), &caller))
    }

    /// The leader to pass a call on to; `None` when it is this member.
    fn leader<T>(&self, call: &Request<T>) -> Result<Option<Client>, Status> {
        let Inner { desk, lead, .. } = &*self.0;
        if lead.leads() {
            return Ok(None);
        }
        let none = || Status::unavailable("no member leads at the moment; ask again in a second");
        if was_passed_on(call) {
            return Err(none());
        }
        let (leader, address) = desk.member.leader().ok_or_else(none)?;
        // It was elected and has not begun to lead.
        if leader == desk.member.id() { Err(none()) } else { desk.peers.at(&address).map(Some) }
    }
}

#[tonic::async_trait]
impl Control for ControlService {
    type WatchStream = futures_util::stream::BoxStream<'static, Result<wire::WatchReply, Status>>;

    async fn challenge(
        &self,
        call: Request<wire::ChallengeRequest>,
    ) -> Result<Response<wire::ChallengeReply>, Status> {
        self.direct(&call, Role::Node)?;
        known(call.get_ref().version)?;
        let challenge = self.0.challenges.give(&self.0.desk.ports).to_vec();
        Ok(Response::new(wire::ChallengeReply { version: VERSION, challenge }))
    }

    async fn join(&self, call: Request<wire::JoinRequest>) -> Result<Response<wire::JoinReply>, Status> {
        let caller = self.direct(&call, Role::Node)?;
        known(call.get_ref().version)?;
        join::join(&self.0, &caller, call.into_inner()).await.map(Response::new)
    }

    async fn heartbeat(
        &self,
        call: Request<wire::HeartbeatRequest>,
    ) -> Result<Response<wire::HeartbeatReply>, Status> {
        let caller = self.caller(&call, Role::Node)?;
        known(call.get_ref().version)?;
        if let Some(mut leader) = self.leader(&call)? {
            return leader.heartbeat(caller.pass_on(call.into_inner())).await;
        }
        let Inner { desk, lead, .. } = &*self.0;
        let heartbeat = call.into_inner();
        let node = NodeId::new(heartbeat.node);
        let contact = convert::contact(&heartbeat, desk.ports.clock.elapsed_ms());
        let contact = contact.map_err(|error| malformed(&error))?;
        let map_version =
            desk.member.map().read(|state| belongs(state, node, &caller).map(|()| state.version()))?;
        if !lead.heard(node, contact) {
            return Err(Status::unavailable("this member has ceased to lead; ask again in a second"));
        }
        Ok(Response::new(wire::HeartbeatReply { version: VERSION, map_version }))
    }

    async fn watch(&self, call: Request<wire::WatchRequest>) -> Result<Response<Self::WatchStream>, Status> {
        known(call.get_ref().version)?;
        let audience = match call.get_ref().role {
            1 => Audience::Node(NodeId::new(call.get_ref().node), self.direct(&call, Role::Node)?),
            2 => {
                // What tenants are known by is for routers alone.
                self.direct(&call, Role::Router)?;
                Audience::Router
            }
            other => {
                let what = format!("message WatchRequest: field 'role' is {other}; 1 node, 2 router");
                return Err(Status::invalid_argument(what));
            }
        };
        let Inner { desk, watchers, stop, .. } = &*self.0;
        desk.member.map().read(|state| audience.may_watch(state))?;
        let place = watchers.clone().try_acquire_owned().map_err(|_| {
            Status::resource_exhausted("this member has as many watchers as it takes; watch another one")
        })?;
        let (map, have) = (desk.member.map().clone(), call.get_ref().have);
        let watcher = Watcher::new(map, (have, audience, desk.key.clone()), stop.clone(), place);
        Ok(Response::new(Box::pin(watcher.stream())))
    }

    async fn report_map(
        &self,
        call: Request<wire::MapReport>,
    ) -> Result<Response<wire::MapReportReply>, Status> {
        let caller = self.caller(&call, Role::Router)?;
        known(call.get_ref().version)?;
        if let Some(mut leader) = self.leader(&call)? {
            return leader.report_map(caller.pass_on(call.into_inner())).await;
        }
        let said = call.into_inner();
        let Inner { desk, lead, .. } = &*self.0;
        let router =
            convert::router(&said.router, caller.certificate()).map_err(|error| malformed(&error))?;
        if !lead.heard_router(router, said.map_version, desk.ports.clock.elapsed_ms()) {
            return Err(Status::unavailable("this member has ceased to lead; ask again in a second"));
        }
        let map_version = desk.member.map().read(State::version);
        Ok(Response::new(wire::MapReportReply { version: VERSION, map_version }))
    }

    async fn report_witnesses(
        &self,
        call: Request<wire::WitnessesRequest>,
    ) -> Result<Response<wire::WitnessesReply>, Status> {
        known(call.get_ref().version)?;
        self.about(&call, call.get_ref().node)?;
        let asked = call.into_inner();
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
        let caller = self.caller(&call, Role::Node)?;
        known(call.get_ref().version)?;
        match self.leader(&call)? {
            Some(mut leader) => leader.take_job_steps(caller.pass_on(call.into_inner())).await,
            None => steps::take(&self.0, &caller, &call.into_inner()).await.map(Response::new),
        }
    }

    async fn report_job_step(
        &self,
        call: Request<wire::JobStepReport>,
    ) -> Result<Response<wire::JobStepReportReply>, Status> {
        known(call.get_ref().version)?;
        self.about(&call, call.get_ref().node)?;
        steps::report(&self.0, call.into_inner()).await.map(Response::new)
    }

    async fn propose(
        &self,
        call: Request<wire::ProposeRequest>,
    ) -> Result<Response<wire::ProposeReply>, Status> {
        self.direct(&call, Role::Control)?;
        let asked = call.into_inner();
        known(asked.version)?;
        enter::propose(&self.0, &asked.batch).await.map(Response::new)
    }

    async fn enter(&self, call: Request<wire::EnterRequest>) -> Result<Response<wire::EnterReply>, Status> {
        let caller = self.caller(&call, Role::Control)?;
        known(call.get_ref().version)?;
        match self.leader(&call)? {
            Some(mut leader) => leader.enter(caller.pass_on(call.into_inner())).await,
            None => enter::enter(&self.0, &caller, call.into_inner()).await.map(Response::new),
        }
    }
}
