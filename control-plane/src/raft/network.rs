//! Raft messages out: one gRPC channel a member, every call with its deadline.
//!
//! What a channel is made of, plain or TLS, is the business of [`Connect`].

use std::future::Future;
use std::io;
use std::time::Duration;

use openraft::error::{NetworkError, RPCError, ReplicationClosed, StreamingError, Unreachable};
use openraft::network::RPCOption;
use openraft::raft::{
    AppendEntriesRequest, AppendEntriesResponse, SnapshotResponse, TransferLeaderRequest,
    TransferLeaderResponse, VoteRequest, VoteResponse,
};
use openraft::{BasicNode, OptionalSend, RaftNetworkFactory, RaftNetworkV2};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tonic::service::interceptor::InterceptedService;
use tonic::transport::Channel;
use undercroft_certs::Role;
use undercroft_certs::grpc::Access;
use undercroft_proto::MemberId;
use undercroft_proto::wire;
use undercroft_proto::wire::raft::raft_transport_client::RaftTransportClient;
use undercroft_proto::wire::raft::{RaftReply, RaftRequest, SnapshotChunk};

use super::notices::Notices;
use super::types::{Snapshot, SnapshotData, Types, Vote};
use super::{Connect, GroupId, Saying, codec, snapshots};
use crate::limits;

/// The group that the control plane is, among the Raft groups of a fleet.
pub(super) const GROUP: u32 = 0;

/// Opens channels to other members.
#[derive(Clone)]
pub struct Network {
    me: MemberId,
    connect: Connect,
    group: GroupId,
    notices: Notices,
}

impl Network {
    /// A network without encryption: for one machine and for tests.
    #[must_use]
    pub fn plain(me: MemberId) -> Self {
        Self::new(me, Connect::plain())
    }

    /// A network over these channels.
    #[must_use]
    pub fn new(me: MemberId, connect: Connect) -> Self {
        Self { me, connect, group: GroupId::default(), notices: Notices::default() }
    }

    /// The same for a member of this group: it says so with every message.
    pub(super) fn of(self, group: GroupId) -> Self {
        Self { group, ..self }
    }

    /// What others answer beside Raft's own answers.
    pub(super) fn notices(&self) -> Notices {
        self.notices.clone()
    }

    /// Who may send messages of this group: members, where certificates tell.
    pub(super) const fn access(&self) -> Access {
        self.connect.access(&[Role::Control])
    }
}

impl RaftNetworkFactory<Types> for Network {
    type Network = Peer;

    async fn new_client(&mut self, target: u64, node: &BasicNode) -> Peer {
        let client = self.connect.channel(&node.addr).map(|channel| {
            let client = RaftTransportClient::with_interceptor(channel, Saying::of(self.group));
            client
                .max_decoding_message_size(limits::MESSAGE_BYTES)
                .max_encoding_message_size(limits::MESSAGE_BYTES)
        });
        Peer { me: self.me, target, client, notices: self.notices.clone() }
    }
}

type Client = RaftTransportClient<InterceptedService<Channel, Saying>>;

/// The way to one member.
pub struct Peer {
    me: MemberId,
    target: u64,
    client: Result<Client, String>,
    notices: Notices,
}

/// Which call.
#[derive(Clone, Copy)]
enum Call {
    Vote,
    PreVote,
    Append,
    Transfer,
}

fn unreachable(problem: impl std::fmt::Display) -> RPCError<Types> {
    RPCError::Unreachable(Unreachable::from_string(problem))
}

fn network(problem: impl std::fmt::Display) -> RPCError<Types> {
    RPCError::Network(NetworkError::from_string(problem))
}

impl Peer {
    /// A status as openraft takes it: a member that cannot be reached is left in peace for a while, anything else is asked
    /// again.
    fn refused(&self, status: &tonic::Status) -> RPCError<Types> {
        self.notices.heed(self.target, status);
        let what = format!("{:?}: {}", status.code(), status.message());
        if status.code() == tonic::Code::Unavailable { unreachable(what) } else { network(what) }
    }

    fn client(&self) -> Result<Client, RPCError<Types>> {
        self.client.clone().map_err(unreachable)
    }

    async fn call<Q: Serialize, R: DeserializeOwned>(
        &self,
        call: Call,
        request: &Q,
        deadline: Duration,
    ) -> Result<R, RPCError<Types>> {
        let payload = codec::encode(request).map_err(network)?;
        let request = RaftRequest {
            version: wire::VERSION,
            group: GROUP,
            to: self.target,
            from: self.me.get(),
            payload,
        };
        let mut client = self.client()?;
        let answer = async {
            match call {
                Call::Vote => client.vote(request).await,
                Call::PreVote => client.pre_vote(request).await,
                Call::Append => client.append(request).await,
                Call::Transfer => client.transfer_leader(request).await,
            }
        };
        let answered =
            tokio::time::timeout(deadline, answer).await.map_err(|_| network("no answer in time"))?;
        read(&answered.map_err(|status| self.refused(&status))?.into_inner()).map_err(network)
    }

    async fn send_snapshot(
        &self,
        vote: &Vote,
        snapshot: Snapshot,
    ) -> Result<SnapshotResponse<Types>, RPCError<Types>> {
        let chunks = chunks(self.target, self.me, vote, snapshot).map_err(network)?;
        let mut client = self.client()?;
        let answered = client.snapshot(futures_util::stream::iter(chunks)).await;
        read(&answered.map_err(|status| self.refused(&status))?.into_inner()).map_err(network)
    }
}

fn read<R: DeserializeOwned>(reply: &RaftReply) -> io::Result<R> {
    if reply.version != wire::VERSION {
        return Err(codec::invalid(format!("it answers in version {}", reply.version)));
    }
    codec::decode(&reply.payload)
}

/// A snapshot in pieces, made one after another as they are sent.
fn chunks(
    to: u64,
    me: MemberId,
    vote: &Vote,
    snapshot: Snapshot,
) -> io::Result<impl Iterator<Item = SnapshotChunk> + Send + 'static> {
    let head = codec::encode(&(vote, snapshots::encode_head(&snapshot.meta)?))?;
    let state: SnapshotData = snapshot.snapshot;
    let (length, checksum) = (state.len() as u64, crc32fast::hash(&state));
    let pieces = state.len().div_ceil(limits::SNAPSHOT_PIECE_BYTES).max(1);
    Ok((0..pieces).map(move |piece| {
        let begin = piece * limits::SNAPSHOT_PIECE_BYTES;
        let end = (begin + limits::SNAPSHOT_PIECE_BYTES).min(state.len());
        SnapshotChunk {
            version: wire::VERSION,
            group: GROUP,
            to,
            from: me.get(),
            head: if piece == 0 { head.clone() } else { Vec::new() },
            body: state[begin..end].to_vec(),
            length,
            checksum,
            last: piece + 1 == pieces,
        }
    }))
}

impl RaftNetworkV2<Types> for Peer {
    type SnapshotData = SnapshotData;

    async fn append_entries(
        &mut self,
        rpc: AppendEntriesRequest<Types>,
        option: RPCOption,
    ) -> Result<AppendEntriesResponse<Types>, RPCError<Types>> {
        self.call(Call::Append, &rpc, option.soft_ttl()).await
    }

    async fn vote(
        &mut self,
        rpc: VoteRequest<Types>,
        option: RPCOption,
    ) -> Result<VoteResponse<Types>, RPCError<Types>> {
        self.call(Call::Vote, &rpc, option.soft_ttl()).await
    }

    async fn pre_vote(
        &mut self,
        rpc: VoteRequest<Types>,
        option: RPCOption,
    ) -> Result<VoteResponse<Types>, RPCError<Types>> {
        self.call(Call::PreVote, &rpc, option.soft_ttl()).await
    }

    async fn full_snapshot(
        &mut self,
        vote: Vote,
        snapshot: Snapshot,
        cancel: impl Future<Output = ReplicationClosed> + OptionalSend + 'static,
        option: RPCOption,
    ) -> Result<SnapshotResponse<Types>, StreamingError<Types>> {
        let sent = self.send_snapshot(&vote, snapshot);
        tokio::select! {
            closed = cancel => Err(StreamingError::Closed(closed)),
            sent = tokio::time::timeout(option.soft_ttl(), sent) => {
                sent.map_err(|_| network("the snapshot was not taken in time"))?.map_err(StreamingError::from)
            }
        }
    }

    async fn transfer_leader(
        &mut self,
        request: TransferLeaderRequest<Types>,
        option: RPCOption,
    ) -> Result<TransferLeaderResponse<Types>, RPCError<Types>> {
        self.call(Call::Transfer, &request, option.soft_ttl()).await
    }
}
