//! Raft messages in. Each must come from a member, be for this group and this member, in a version that is known.

use openraft::raft::{AppendEntriesRequest, TransferLeaderRequest, VoteRequest};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tonic::{Request, Response, Status, Streaming};
use undercroft_certs::Identity;
use undercroft_certs::grpc::Access;
use undercroft_proto::MemberId;
use undercroft_proto::wire;
use undercroft_proto::wire::raft::raft_transport_server::{RaftTransport, RaftTransportServer};
use undercroft_proto::wire::raft::{RaftReply, RaftRequest, SnapshotChunk};

use super::network::GROUP;
use super::notices;
use super::types::{Raft, Types, Vote};
use super::{GroupId, SharedMap, codec, snapshots};
use crate::limits;

/// The service by which other members reach this one.
#[derive(Clone)]
pub struct RaftService {
    me: MemberId,
    of: GroupId,
    raft: Raft,
    access: Access,
    map: SharedMap,
}

impl RaftService {
    /// The service of a member.
    pub(super) const fn new(
        (me, of): (MemberId, GroupId),
        raft: Raft,
        access: Access,
        map: SharedMap,
    ) -> Self {
        Self { me, of, raft, access, map }
    }

    /// The service, ready to be added to a server.
    #[must_use]
    pub fn into_server(self) -> RaftTransportServer<Self> {
        let server = RaftTransportServer::new(self);
        server
            .max_decoding_message_size(limits::MESSAGE_BYTES)
            .max_encoding_message_size(limits::MESSAGE_BYTES)
    }

    /// A member that was replaced at its address must not answer in the name of the one before it.
    fn check(&self, version: u32, group: u32, to: u64) -> Result<(), Status> {
        if version != wire::VERSION {
            let what =
                format!("raft messages of version {version} are not known here; upgrade the older member");
            return Err(Status::unimplemented(what));
        }
        if group != GROUP || to != self.me.get() {
            let what = format!("this is member {} of group {GROUP}, not {to} of {group}", self.me);
            return Err(Status::failed_precondition(what));
        }
        Ok(())
    }

    /// A member speaks under its own certificate alone. One that is not known here yet is taken by its role: who is behind
    /// learns of new members from them.
    fn speaks(&self, peer: Option<&Identity>, from: u64) -> Result<(), Status> {
        let Some(peer) = peer else { return Ok(()) };
        let bound = self.map.read(|state| state.cluster().member(MemberId::new(from))?.certificate.clone());
        match bound {
            Some(bound) if bound != peer.uri() => Err(Status::permission_denied(format!(
                "member {from} is bound to the certificate {bound}, and this message came with that of {peer}"
            ))),
            _ => Ok(()),
        }
    }

    /// A removed member that has missed it is told. Ids are never used again, so what this member knows of it stays true
    /// however far it is behind.
    fn belongs(&self, from: u64) -> Result<(), Status> {
        let id = MemberId::new(from);
        let removed = self.map.read(|state| state.cluster().was_removed(id));
        let gone = removed && !self.map.position().1.nodes().any(|(known, _)| *known == from);
        if gone { Err(notices::removed(id)) } else { Ok(()) }
    }

    fn open<Q: DeserializeOwned>(&self, request: &Request<RaftRequest>) -> Result<Q, Status> {
        let peer = self.access.check(request.extensions())?;
        self.of.check(request.metadata(), true)?;
        let request = request.get_ref();
        self.speaks(peer, request.from)?;
        self.check(request.version, request.group, request.to)?;
        self.belongs(request.from)?;
        codec::decode(&request.payload).map_err(|error| Status::invalid_argument(error.to_string()))
    }
}

fn answer<R: Serialize, E: std::fmt::Display>(result: Result<R, E>) -> Result<Response<RaftReply>, Status> {
    let value = result.map_err(|error| Status::unavailable(error.to_string()))?;
    let payload = codec::encode(&value).map_err(|error| Status::internal(error.to_string()))?;
    Ok(Response::new(RaftReply { version: wire::VERSION, payload }))
}

#[tonic::async_trait]
impl RaftTransport for RaftService {
    async fn vote(&self, request: Request<RaftRequest>) -> Result<Response<RaftReply>, Status> {
        let rpc: VoteRequest<Types> = self.open(&request)?;
        answer(self.raft.vote(rpc).await)
    }

    async fn pre_vote(&self, request: Request<RaftRequest>) -> Result<Response<RaftReply>, Status> {
        let rpc: VoteRequest<Types> = self.open(&request)?;
        answer(self.raft.pre_vote(rpc).await)
    }

    async fn append(&self, request: Request<RaftRequest>) -> Result<Response<RaftReply>, Status> {
        let rpc: AppendEntriesRequest<Types> = self.open(&request)?;
        answer(self.raft.append_entries(rpc).await)
    }

    async fn transfer_leader(&self, request: Request<RaftRequest>) -> Result<Response<RaftReply>, Status> {
        let rpc: TransferLeaderRequest<Types> = self.open(&request)?;
        answer(self.raft.handle_transfer_leader(rpc).await)
    }

    async fn snapshot(
        &self,
        request: Request<Streaming<SnapshotChunk>>,
    ) -> Result<Response<RaftReply>, Status> {
        let peer = self.access.check(request.extensions())?.cloned();
        self.of.check(request.metadata(), true)?;
        let mut pieces = request.into_inner();
        let (mut head, mut state) = (Vec::new(), Vec::new());
        loop {
            let Some(piece) = pieces.message().await? else {
                return Err(Status::aborted("the snapshot ended before its last piece"));
            };
            self.check(piece.version, piece.group, piece.to)?;
            self.speaks(peer.as_ref(), piece.from)?;
            self.belongs(piece.from)?;
            if state.len() + piece.body.len() > limits::SNAPSHOT_BYTES {
                return Err(Status::resource_exhausted("the snapshot is larger than any can be"));
            }
            if !piece.head.is_empty() {
                head = piece.head;
            }
            state.extend(piece.body);
            if !piece.last {
                continue;
            }
            if state.len() as u64 != piece.length || crc32fast::hash(&state) != piece.checksum {
                return Err(Status::data_loss("the snapshot arrived damaged; it is sent again"));
            }
            break;
        }
        let invalid = |error: std::io::Error| Status::invalid_argument(error.to_string());
        let (vote, meta): (Vote, Vec<u8>) = codec::decode(&head).map_err(invalid)?;
        let meta = snapshots::decode_head(&meta).map_err(invalid)?;
        answer(self.raft.install_full_snapshot(vote, snapshots::assemble(meta, state)).await)
    }
}
