//! How a member comes to its group: it founds one, enters one, or goes on in the one that it is of.

use std::collections::BTreeMap;
use std::sync::Arc;

use tonic::{Code, Request, Status};
use undercroft_certs::Tls;
use undercroft_proto::MemberId;
use undercroft_proto::wire::control::EnterRequest;
use undercroft_proto::wire::{VERSION, bytes16};

use super::Options;
use crate::raft::{GroupId, Member, MemberConfig, Network, RealDisk};
use crate::service::{Desk, Peers};
use crate::state::{self, ClusterCommand, Command};
use crate::{Error, limits};

/// Starts the member of the folder; a new one when there is none.
pub(super) async fn member(options: &Options, peers: &Peers, address: &str) -> Result<Member, Error> {
    let member = if let Some(id) = Member::identity(&options.data)? {
        // Its folder knows the group.
        Member::open(config(options, id, GroupId::default())).await?
    } else if options.join.is_empty() {
        let group = GroupId::new(options.ports.random());
        let member = Member::create(config(options, MemberId::FIRST, group)).await?;
        member.found(BTreeMap::from([(MemberId::FIRST, address.to_owned())])).await?;
        member
    } else {
        let (id, group) = enter(options, peers, address).await?;
        Member::create(config(options, id, group)).await?
    };
    peers.learn(member.group_id());
    Ok(member)
}

fn config(options: &Options, id: MemberId, group: GroupId) -> MemberConfig {
    MemberConfig {
        group,
        folder: options.data.clone(),
        id,
        network: Network::new(id, options.connect.clone()),
        timing: options.timing,
        snapshot_entries: limits::SNAPSHOT_ENTRIES,
        key_check: options.keys.group.check(),
        disk: Arc::new(RealDisk),
    }
}

/// Asks the members for an id, one after another, and again for as long as the group has no leader.
async fn enter(options: &Options, peers: &Peers, address: &str) -> Result<(MemberId, GroupId), Error> {
    let tried = || options.join.join(", ");
    let key_check = options.keys.group.check().as_bytes().to_vec();
    let asked =
        EnterRequest { version: VERSION, address: address.to_owned(), speaks: state::VERSION, key_check };
    let asking = async {
        loop {
            for member in &options.join {
                match ask(peers, member, asked.clone()).await {
                    Ok(entered) => return Ok(entered),
                    Err(status) if status.code() == Code::Unavailable => {
                        tracing::warn!(member, problem = status.message(), "it cannot take a member in yet");
                    }
                    Err(status) => {
                        return Err(Error::Enter { tried: tried(), problem: status.message().to_owned() });
                    }
                }
            }
            tokio::time::sleep(limits::AGAIN * 8).await;
        }
    };
    let late =
        || Error::Enter { tried: tried(), problem: "none of them answers as a member with a leader".into() };
    tokio::time::timeout(limits::ENTER, asking).await.unwrap_or_else(|_| Err(late()))
}

async fn ask(peers: &Peers, member: &str, asked: EnterRequest) -> Result<(MemberId, GroupId), Status> {
    let mut call = Request::new(asked);
    call.set_timeout(limits::CALL);
    let reply = peers.at(member)?.enter(call).await?.into_inner();
    let group = bytes16("EnterReply", "group", &reply.group);
    let group = group.map_err(|error| Status::failed_precondition(error.to_string()))?;
    Ok((MemberId::new(reply.member), GroupId::new(group)))
}

/// What the group is to know of this member.
///
/// # Errors
/// [`Error::OtherCertificate`] when the group knows this member by another one: it would not be listened to.
pub(super) fn me(desk: &Desk, address: String, tls: Option<&Arc<Tls>>) -> Result<state::Member, Error> {
    let id = desk.member.id();
    let certificate = tls.map(|tls| tls.identity().uri());
    let bound = desk.member.map().read(|state| state.cluster().member(id)?.certificate.clone());
    if let (Some(bound), Some(found)) = (&bound, &certificate)
        && bound != found
    {
        return Err(Error::OtherCertificate { member: id, bound: bound.clone(), found: found.clone() });
    }
    Ok(state::Member { id, address, speaks: state::VERSION, certificate: certificate.or(bound) })
}

/// Tells the group where this member is now and what it speaks, when the group knows otherwise. Asks until it is heard.
pub(super) async fn announce(desk: Desk, me: state::Member) {
    loop {
        let known = desk.member.map().read(|state| {
            let entered = state.cluster().members().next().is_some();
            let first = !entered && me.id == MemberId::FIRST;
            state.cluster().member(me.id).map_or(!first, |known| *known == me)
        });
        if known {
            return;
        }
        match desk.once(Command::Cluster(ClusterCommand::AddMember(me.clone()))).await {
            Ok(outcome) => match outcome.refusal() {
                None => tracing::info!(member = %me.id, address = me.address, "known to the group"),
                Some(refusal) => tracing::error!(%refusal, "this member is not of the group any more"),
            },
            Err(error @ Error::Removed) => {
                tracing::error!(%error, "this member is not of the group any more")
            }
            Err(error) => {
                tracing::warn!(%error, "the group does not hear this member yet");
                desk.ports.clock.pause(limits::CALL).await;
                continue;
            }
        }
        return;
    }
}
