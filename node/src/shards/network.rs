//! Raft messages between the replicas of a shard: which call, for which shard, as bytes. Owns their encoding; how bytes reach
//! another node is the business of a [`Transport`].

use std::future::Future;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use openraft::error::{NetworkError, RPCError, ReplicationClosed, StreamingError, Unreachable};
use openraft::network::RPCOption;
use openraft::raft::{
    AppendEntriesRequest, AppendEntriesResponse, SnapshotResponse, TransferLeaderRequest,
    TransferLeaderResponse, VoteRequest, VoteResponse,
};
use openraft::{BasicNode, OptionalSend, RaftNetworkFactory, RaftNetworkV2};
use serde::Serialize;
use serde::de::DeserializeOwned;
use undercroft_proto::{NodeId, ShardId};

use super::types::{Raft, Snapshot, SnapshotMeta, Types, Vote, decode, encode, invalid};

/// Which call of the consensus library.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Call {
    /// A candidate asks for a vote.
    Vote,
    /// It asks whether it would get one.
    PreVote,
    /// Entries, or a heartbeat.
    Append,
    /// A floor, behind which the receiver fetches copies.
    Snapshot,
    /// The receiver is to lead.
    Transfer,
}

/// A message to a replica.
#[derive(Debug, Clone)]
pub struct Message {
    /// The shard.
    pub shard: ShardId,
    /// Who sends it.
    pub from: NodeId,
    /// Who is meant. Another one that answers at its address refuses.
    pub to: NodeId,
    /// Which call.
    pub call: Call,
    /// What it says, for nobody but the library.
    pub payload: Bytes,
}

/// The way to other nodes.
pub trait Transport: Send + Sync + 'static {
    /// Brings a message to the node at this address and its answer back. The caller puts a deadline on it.
    ///
    /// Fails with `ConnectionRefused` or `NotConnected` where nobody is reached: then the node is left in peace for a while.
    fn send<'a>(&'a self, address: &'a str, message: Message) -> BoxFuture<'a, io::Result<Bytes>>;
}

/// Opens the ways of one shard's replica.
pub(super) struct Network {
    pub(super) shard: ShardId,
    pub(super) me: NodeId,
    pub(super) transport: Arc<dyn Transport>,
}

impl RaftNetworkFactory<Types> for Network {
    type Network = Peer;

    async fn new_client(&mut self, target: u64, node: &BasicNode) -> Peer {
        Peer {
            shard: self.shard,
            me: self.me,
            to: NodeId::new(target),
            address: node.addr.clone(),
            transport: Arc::clone(&self.transport),
        }
    }
}

/// The way to one replica.
pub(super) struct Peer {
    shard: ShardId,
    me: NodeId,
    to: NodeId,
    address: String,
    transport: Arc<dyn Transport>,
}

impl Peer {
    async fn call<Q: Serialize, R: DeserializeOwned>(
        &self,
        call: Call,
        request: &Q,
        deadline: Duration,
    ) -> Result<R, RPCError<Types>> {
        let payload = encode(request).map_err(failed)?.into();
        let message = Message { shard: self.shard, from: self.me, to: self.to, call, payload };
        let answer = self.transport.send(&self.address, message);
        let answered = tokio::time::timeout(deadline, answer).await;
        let bytes =
            answered.map_err(|_| failed("no answer in time"))?.map_err(|error| match error.kind() {
                io::ErrorKind::ConnectionRefused | io::ErrorKind::NotConnected => {
                    RPCError::Unreachable(Unreachable::from_string(error))
                }
                _ => failed(error),
            })?;
        decode(&bytes).map_err(failed)
    }
}

fn failed(problem: impl std::fmt::Display) -> RPCError<Types> {
    RPCError::Network(NetworkError::from_string(problem))
}

/// A snapshot as it travels: the sender's vote, where the floor is, its vaults.
type Sent = (Vote, Option<super::types::LogId>, super::types::Membership, Vec<u8>);

impl RaftNetworkV2<Types> for Peer {
    type SnapshotData = Bytes;

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
        let meta = snapshot.meta;
        let sent: Sent = (vote, meta.last_log_id, meta.last_membership, snapshot.snapshot.to_vec());
        tokio::select! {
            closed = cancel => Err(StreamingError::Closed(closed)),
            sent = self.call(Call::Snapshot, &sent, option.soft_ttl()) => sent.map_err(StreamingError::from),
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

/// Hands a message to the replica that is meant. Its answer, and up to where the leader says that the log is committed, in a
/// message that says so.
pub(super) async fn deliver(raft: &Raft, call: Call, payload: &[u8]) -> io::Result<(Bytes, Option<u64>)> {
    let mut committed = None;
    let answered = match call {
        Call::Vote => answer(raft.vote(decode(payload)?).await),
        Call::PreVote => answer(raft.pre_vote(decode(payload)?).await),
        Call::Append => {
            let rpc: AppendEntriesRequest<Types> = decode(payload)?;
            committed = rpc.leader_commit.as_ref().map(|log_id| log_id.index);
            answer(raft.append_entries(rpc).await)
        }
        Call::Transfer => answer(raft.handle_transfer_leader(decode(payload)?).await),
        Call::Snapshot => {
            let (vote, last_log_id, last_membership, state): Sent = decode(payload)?;
            let meta = SnapshotMeta { last_log_id, last_membership };
            answer(raft.install_full_snapshot(vote, Snapshot { meta, snapshot: state.into() }).await)
        }
    };
    Ok((answered?, committed))
}

fn answer<R: Serialize, E: std::fmt::Display>(result: Result<R, E>) -> io::Result<Bytes> {
    let value = result.map_err(|error| invalid(error.to_string()))?;
    encode(&value).map(Bytes::from)
}
