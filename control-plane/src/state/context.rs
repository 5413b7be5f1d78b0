//! What applying one command leaves behind besides the changed state: what was touched, and what was decided.

use std::collections::BTreeSet;

use undercroft_proto::{NodeId, ShardId, TenantId, VaultId};

use super::{Subject, check};

/// One thing of the map, by its id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Key {
    /// The keys of assertions, all together: they come first, so that who is told a map can act on the rest.
    Keys,
    /// A node.
    Node(NodeId),
    /// A shard.
    Shard(ShardId),
    /// A vault.
    Vault(VaultId),
    /// A tenant.
    Tenant(TenantId),
}

/// Collects while a command is applied. A refused command leaves nothing.
#[derive(Debug)]
pub(super) struct Context {
    /// The cluster's time, in milliseconds since 1970. It never goes back.
    pub(super) now: u64,
    touched: BTreeSet<Key>,
    decided: Vec<(Subject, String, String)>,
}

impl Context {
    pub(super) fn new(now: u64) -> Self {
        Self { now, touched: BTreeSet::new(), decided: Vec::new() }
    }

    pub(super) fn touch_keys(&mut self) {
        self.touched.insert(Key::Keys);
    }

    pub(super) fn touch_node(&mut self, node: NodeId) {
        self.touched.insert(Key::Node(node));
    }

    pub(super) fn touch_shard(&mut self, shard: ShardId) {
        self.touched.insert(Key::Shard(shard));
    }

    pub(super) fn touch_vault(&mut self, vault: VaultId) {
        self.touched.insert(Key::Vault(vault));
    }

    pub(super) fn touch_tenant(&mut self, tenant: TenantId) {
        self.touched.insert(Key::Tenant(tenant));
    }

    /// Records what was decided and why.
    pub(super) fn decide(&mut self, subject: Subject, what: &str, reason: &str) {
        self.decided.push((subject, check::reason(what), check::reason(reason)));
    }

    pub(super) fn into_parts(self) -> (BTreeSet<Key>, Vec<(Subject, String, String)>) {
        (self.touched, self.decided)
    }
}
