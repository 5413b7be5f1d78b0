//! What openraft is told about a shard: its entries as bytes, what became of them, and how entries stand in the journal.

use std::fmt;
use std::io;

use bytes::Bytes;
use openraft::alias::LogIdOf;
use openraft::{BasicNode, EntryPayload};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use undercroft_vault::replica::Outcome;

use super::entry::ShardEntry;
use crate::journal::{self, GroupTypes};

/// An entry in its encoded form. Journal and network carry it unread; it is read when it is applied, so that a replica which
/// does not know it stops there and never skips it.
#[derive(Clone, PartialEq, Eq)]
pub struct Proposal(Bytes);

impl Proposal {
    /// The proposal of an entry.
    #[must_use]
    pub fn new(entry: &ShardEntry) -> Self {
        Self(entry.encode().into())
    }

    /// The bytes, which are checked when they are applied.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Debug for Proposal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Proposal({} bytes)", self.0.len())
    }
}

impl fmt::Display for Proposal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes", self.0.len())
    }
}

impl Serialize for Proposal {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(&self.0)
    }
}

impl<'de> Deserialize<'de> for Proposal {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        <&[u8]>::deserialize(deserializer).map(|bytes| Self(Bytes::copy_from_slice(bytes)))
    }
}

/// What became of an entry on the replica that proposed it. It never travels: of its two written forms both are empty.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Reply {
    /// The verdict; none for an entry that is no vault's.
    #[serde(skip)]
    pub verdict: Option<Verdict>,
}

/// What a vault said of an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// The vault's own word.
    Said(Outcome),
    /// The vault is not in this shard, on any replica.
    Absent,
    /// Every replica refuses the command alike, for this reason.
    Refused(String),
}

openraft::declare_raft_types!(
    /// The types of a shard's group.
    pub Types:
        D = Proposal,
        R = Reply,
        NodeId = u64,
        Node = BasicNode,
);

pub(super) type LogId = LogIdOf<Types>;
pub(super) type Vote = openraft::alias::VoteOf<Types>;
pub(super) type Entry = openraft::alias::EntryOf<Types>;
pub(super) type Membership = openraft::alias::StoredMembershipOf<Types>;
pub(super) type SnapshotMeta = openraft::alias::SnapshotMetaOf<Types>;
pub(super) type Snapshot = openraft::alias::SnapshotOf<Types, Bytes>;
pub(super) type Leader = openraft::alias::CommittedLeaderIdOf<Types>;
/// A shard's Raft on this node.
pub(super) type Raft = openraft::Raft<Types, super::machine::Machine>;

/// Payloads in the journal, by their first byte.
const BLANK: u8 = 0;
const NORMAL: u8 = 1;
const MEMBERSHIP: u8 = 2;

impl GroupTypes for Types {
    fn encode(entry: &Entry) -> io::Result<Bytes> {
        Ok(match &entry.payload {
            EntryPayload::Blank => Bytes::from_static(&[BLANK]),
            EntryPayload::Normal(proposal) => [&[NORMAL], proposal.as_bytes()].concat().into(),
            EntryPayload::Membership(membership) => [vec![MEMBERSHIP], encode(membership)?].concat().into(),
        })
    }

    fn decode(log_id: LogId, mut payload: Bytes) -> io::Result<Entry> {
        if payload.is_empty() {
            return Err(invalid("the entry is empty"));
        }
        let body = payload.split_off(1);
        let payload = match payload[0] {
            BLANK if body.is_empty() => EntryPayload::Blank,
            NORMAL => EntryPayload::Normal(Proposal(body)),
            MEMBERSHIP => EntryPayload::Membership(decode(&body)?),
            kind => return Err(invalid(format!("the entry has the unknown kind {kind}"))),
        };
        Ok(Entry { log_id, payload })
    }
}

/// The journal's name for a place in the log.
pub(super) fn ours(log_id: &LogId) -> journal::LogId {
    journal::LogId::new(log_id.leader_id.term, log_id.leader_id.node_id, log_id.index)
}

/// The library's name for it.
pub(super) fn theirs(log_id: journal::LogId) -> LogId {
    LogId::new(Leader { term: log_id.term, node_id: log_id.node }, log_id.index)
}

pub(super) fn encode<T: Serialize>(value: &T) -> io::Result<Vec<u8>> {
    postcard::to_allocvec(value).map_err(|error| invalid(error.to_string()))
}

/// Reads a value that fills `bytes` exactly.
pub(super) fn decode<'a, T: Deserialize<'a>>(bytes: &'a [u8]) -> io::Result<T> {
    match postcard::take_from_bytes(bytes) {
        Ok((value, [])) => Ok(value),
        Ok((_, rest)) => Err(invalid(format!("{} bytes are left", rest.len()))),
        Err(error) => Err(invalid(error.to_string())),
    }
}

pub(super) fn invalid(problem: impl Into<String>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, problem.into())
}
