//! What the journal speaks of: groups, log ids, votes, floors, the journal's own id. Plain values; nothing here touches a disk.

use std::collections::BTreeMap;
use std::fmt;

use bytes::Bytes;
use undercroft_proto::VaultId;

use super::limits;

/// One Raft group on this node, as its host numbers them. A group that comes back under another Raft id is another group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Group(u64);

impl Group {
    /// The group of this number.
    #[must_use]
    pub const fn new(number: u64) -> Self {
        Self(number)
    }

    /// The number.
    #[must_use]
    pub const fn get(self) -> u64 {
        self.0
    }
}

impl fmt::Display for Group {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The incarnation of a journal: 16 random bytes, drawn when it is created. Raft ids belong to it and die with it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct JournalId([u8; 16]);

impl JournalId {
    /// The id of these bytes. Those of a new journal come from the operating system's generator.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    /// The bytes.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }
}

impl fmt::Display for JournalId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for JournalId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "JournalId({self})")
    }
}

/// Which entry: the term and node of the leader that proposed it, and its place in the group's log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LogId {
    /// The leader's term.
    pub term: u64,
    /// The leader's Raft id.
    pub node: u64,
    /// The place in the log.
    pub index: u64,
}

impl LogId {
    /// The id of these parts.
    #[must_use]
    pub const fn new(term: u64, node: u64, index: u64) -> Self {
        Self { term, node, index }
    }
}

impl fmt::Display for LogId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}.{}", self.term, self.node, self.index)
    }
}

/// Whom a member voted for, and whether a majority did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Vote {
    /// The term.
    pub term: u64,
    /// The candidate's Raft id.
    pub node: u64,
    /// Whether the candidate has become the leader.
    pub committed: bool,
}

/// Up to where a group's vaults are durable without the journal: what its applied state starts from, and how far it may be purged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Floor {
    /// Everything up to this entry is in the vaults' databases, on disk.
    pub log_id: LogId,
    /// The membership in force there, as its owner encodes it; at most [`limits::MEMBERSHIP_BYTES`].
    pub membership: Bytes,
    /// The last entry that each vault's database holds; at most [`limits::FLOOR_VAULTS`].
    pub vaults: BTreeMap<VaultId, LogId>,
}

/// What is new in a floor since the one before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FloorChange {
    /// As in [`Floor`]; never goes back.
    pub log_id: LogId,
    /// The membership, where it changed.
    pub membership: Option<Bytes>,
    /// Vaults that moved, and those that have left the group (`None`).
    pub vaults: Vec<(VaultId, Option<LogId>)>,
}

impl Floor {
    /// The floor after a change.
    #[must_use]
    pub fn changed(&self, change: &FloorChange) -> Self {
        let mut next = self.clone();
        next.log_id = change.log_id;
        if let Some(membership) = &change.membership {
            next.membership = membership.clone();
        }
        for (vault, log_id) in &change.vaults {
            match log_id {
                Some(log_id) => next.vaults.insert(*vault, *log_id),
                None => next.vaults.remove(vault),
            };
        }
        next
    }

    /// Whether it fits into one record.
    pub(super) fn is_bounded(&self) -> bool {
        self.vaults.len() <= limits::FLOOR_VAULTS && self.membership.len() <= limits::MEMBERSHIP_BYTES
    }
}
