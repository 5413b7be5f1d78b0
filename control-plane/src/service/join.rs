//! A node joins: it proves that it holds the fleet's master key, and says where it is and what it can hold.

use tonic::Status;
use undercroft_proto::wire::control as wire;
use undercroft_proto::wire::{VERSION, bytes16, bytes32};
use undercroft_proto::{Joining, NodeId};

use super::caller::Caller;
use super::control::Inner;
use super::convert::{failed, malformed, refused};
use crate::state::{Command, NodeCommand, Outcome, State};

/// What a node is told that could not prove itself. Which part was wrong is not told.
const DENIED: &str = "this node could not prove that it holds the fleet's master key; give it the fleet's key file, \
                      and ask for a fresh challenge";

pub(super) async fn join(
    inner: &Inner,
    caller: &Caller,
    asked: wire::JoinRequest,
) -> Result<wire::JoinReply, Status> {
    let Some(key) = &inner.join_key else {
        return Err(Status::unavailable(
            "this member has no join key, so it can prove no node; start it with --join-key-file, a file that \
             undercroft cluster join-key --out FILE writes where the fleet's master key is",
        ));
    };
    let wrong = |error| malformed(&error);
    let joining = Joining {
        challenge: bytes32("JoinRequest", "challenge", &asked.challenge).map_err(wrong)?,
        name: &asked.name,
        address: &asked.address,
        zone: &asked.zone,
        capacity_bytes: asked.capacity_bytes,
        journal: bytes16("JoinRequest", "journal", &asked.journal).map_err(wrong)?,
    };
    let fresh = inner.challenges.take(&inner.desk.ports, &joining.challenge);
    if !(key.proves(&joining, &asked.proof) && fresh) {
        return Err(Status::permission_denied(DENIED));
    }
    let journal = joining.journal;
    let command = Command::Node(NodeCommand::Join {
        name: asked.name,
        address: asked.address,
        zone: (!asked.zone.is_empty()).then_some(asked.zone),
        capacity_bytes: asked.capacity_bytes,
        journal,
        speaks: asked.version,
        certificate: caller.certificate(),
    });
    match inner.desk.once(command).await.map_err(|error| failed(&error))? {
        Outcome::Node(node) => {
            let format = inner.desk.member.map().read(|state| state.cluster().format());
            Ok(wire::JoinReply { version: VERSION, node: node.get(), format })
        }
        Outcome::Refused(refusal) => Err(refused(&refusal)),
        other => Err(Status::internal(format!("a join ended as {other:?}"))),
    }
}

/// Whether a node is one of the fleet, in its present life, and the caller is that node.
pub(super) fn belongs(state: &State, node: NodeId, caller: &Caller) -> Result<(), Status> {
    match state.nodes().get(node) {
        None => Err(Status::not_found(format!("there is no node {node}; join first"))),
        Some(found) if found.retired => Err(Status::failed_precondition(format!(
            "node {node} was retired, because it came back with another journal; go on under the id of the last join"
        ))),
        Some(found) => caller.holds(format_args!("node {node}"), found.certificate.as_deref()),
    }
}
