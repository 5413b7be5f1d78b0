//! Between members: decisions that were passed on, and ids for new members.

use tonic::Status;
use undercroft_proto::MemberId;
use undercroft_proto::wire::VERSION;
use undercroft_proto::wire::control as wire;

use super::caller::Caller;
use super::control::Inner;
use super::convert::{failed, refused, status};
use crate::Error;
use crate::state::{Batch, ClusterCommand, Command, Member, Outcome};

/// Decides a batch that another member passed on, if this one leads. It is never passed on again.
pub(super) async fn propose(inner: &Inner, batch: &[u8]) -> Result<wire::ProposeReply, Status> {
    let batch = Batch::decode(batch).map_err(|error| match error {
        Error::Unreadable { .. } => Status::invalid_argument(error.to_string()),
        other => failed(&other),
    })?;
    let member = &inner.desk.member;
    match member.propose(&batch).await {
        Ok(outcomes) => {
            let outcomes = postcard::to_allocvec(&outcomes)
                .map_err(|error| Status::internal(format!("the outcomes cannot be written: {error}")))?;
            let applied = member.map().index();
            Ok(wire::ProposeReply { version: VERSION, outcomes, applied, ..Default::default() })
        }
        Err(Error::NotLeader { leader }) => {
            let (leader, leader_address) = leader.map_or((0, String::new()), |(id, at)| (id.get(), at));
            Ok(wire::ProposeReply { version: VERSION, leader, leader_address, ..Default::default() })
        }
        Err(other) => Err(failed(&other)),
    }
}

/// What a member is told that has not the group's key.
const OTHER_KEY: &str =
    "it was started with another UNDERCROFT_ORCH_KEY than this group has; give every member the same one";

/// Gives a new member its id and makes it known. The leader takes it into the group when it has caught up.
///
/// One at a time, and from a state that has all that was decided: two members never get one id. An id whose answer is lost
/// belongs to nobody, and may be given again.
pub(super) async fn enter(
    inner: &Inner,
    caller: &Caller,
    asked: wire::EnterRequest,
) -> Result<wire::EnterReply, Status> {
    // Tokens that it minted or recognised under another key would open nothing, or the wrong thing.
    if asked.key_check != inner.desk.key.check().as_bytes() {
        return Err(Status::permission_denied(OTHER_KEY));
    }
    let _turn = inner.lead.turn().await;
    let member = &inner.desk.member;
    member.catch_up().await.map_err(|error| failed(&error))?;
    let (id, taken) = member.map().read(|state| {
        let taken = state.cluster().members().find(|known| known.address == asked.address);
        (state.cluster().next_member(), taken.map(|known| known.id))
    });
    if let Some(taken) = taken {
        return Err(Status::failed_precondition(format!(
            "member {taken} is known at {}; start that one from its folder, or remove it first, or advertise another address",
            asked.address
        )));
    }
    let known =
        Member { id, address: asked.address, speaks: asked.speaks, certificate: caller.certificate() };
    let batch =
        Batch::of(inner.desk.ports.clock.now_ms(), [Command::Cluster(ClusterCommand::AddMember(known))]);
    match member.propose(&batch).await.map_err(|error| failed(&error))?.first() {
        Some(Outcome::Member(given)) if *given == id => {
            let group = member.group_id().as_bytes().to_vec();
            Ok(wire::EnterReply { version: VERSION, member: MemberId::get(id), group })
        }
        Some(Outcome::Refused(refusal)) => Err(refused(refusal)),
        other => Err(status(undercroft_proto::ErrorClass::Internal, format!("entering ended as {other:?}"))),
    }
}
