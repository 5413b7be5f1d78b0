//! What openraft is told about this group: its commands, their outcomes, how its members are named.

use std::fmt;
use std::sync::Arc;

use openraft::{BasicNode, StoredMembership};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::state::{Batch, Outcome};

/// A batch of commands in its encoded form. The log and the network carry it unread; it is read when it is applied, so that
/// a member which does not know a command stops there and never skips it.
#[derive(Clone, PartialEq, Eq)]
pub struct Proposal(Arc<[u8]>);

impl Proposal {
    /// The proposal of a batch.
    ///
    /// # Errors
    /// [`crate::Error::BatchTooLarge`].
    pub fn new(batch: &Batch) -> Result<Self, crate::Error> {
        batch.encode().map(|bytes| Self(bytes.into()))
    }

    /// The batch.
    ///
    /// # Errors
    /// As [`Batch::decode`].
    pub fn batch(&self) -> Result<Batch, crate::Error> {
        Batch::decode(&self.0)
    }

    /// A proposal of bytes that another member encoded. They are checked when they are applied.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Self {
        Self(bytes.into())
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
        <&[u8]>::deserialize(deserializer).map(Self::from_bytes)
    }
}

/// The outcomes of a batch; empty for entries that carry none.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Reply(pub Vec<Outcome>);

openraft::declare_raft_types!(
    /// The types of the control group.
    pub Types:
        D = Proposal,
        R = Reply,
        NodeId = u64,
        Node = BasicNode,
);

/// The control group's Raft.
pub type Raft = openraft::Raft<Types, super::Machine>;

pub(super) type Entry = openraft::alias::EntryOf<Types>;
pub(super) type LogId = openraft::alias::LogIdOf<Types>;
pub(super) type Vote = openraft::alias::VoteOf<Types>;
pub(super) type Membership = StoredMembership<openraft::alias::CommittedLeaderIdOf<Types>, u64, BasicNode>;
pub(super) type SnapshotMeta = openraft::alias::SnapshotMetaOf<Types>;
/// The bytes of a snapshot's state, shared with whoever sends them.
pub(super) type SnapshotData = Arc<[u8]>;
pub(super) type Snapshot = openraft::alias::SnapshotOf<Types, SnapshotData>;
