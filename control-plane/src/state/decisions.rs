//! What was decided and why, the newest of it. Owns the record; decides nothing.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};
use undercroft_proto::{MemberId, NodeId, ShardId, TenantId, VaultId};

use crate::limits;

/// What a decision is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Subject {
    /// The cluster as a whole.
    Cluster,
    /// A member of the control group.
    Member(MemberId),
    /// A node.
    Node(NodeId),
    /// A shard.
    Shard(ShardId),
    /// A vault.
    Vault(VaultId),
    /// A tenant.
    Tenant(TenantId),
}

/// One decision.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decision {
    /// Counts up by one, without a gap.
    pub number: u64,
    /// When, in milliseconds since 1970 by the cluster's time.
    pub at: u64,
    /// About what.
    pub subject: Subject,
    /// What was decided.
    pub what: String,
    /// Why.
    pub reason: String,
}

/// The newest decisions, oldest first.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Decisions {
    count: u64,
    kept: VecDeque<Decision>,
}

impl Decisions {
    /// The decisions that are kept, oldest first.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &Decision> {
        self.kept.iter()
    }

    /// How many there ever were.
    #[must_use]
    pub const fn count(&self) -> u64 {
        self.count
    }

    pub(super) fn record(&mut self, at: u64, subject: Subject, what: String, reason: String) {
        self.count += 1;
        if self.kept.len() >= limits::DECISIONS {
            self.kept.pop_front();
        }
        self.kept.push_back(Decision { number: self.count, at, subject, what, reason });
    }
}
