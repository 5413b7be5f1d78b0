//! What watchers are told: the map as a sequence of changes, each the whole new value of one thing.
//!
//! Applying a change twice, or a later one first and then again, ends at the same map. A watcher that missed a version asks
//! for the whole map.

use std::collections::BTreeSet;

use undercroft_proto::{NodeId, TenantId, VaultId};

use super::{AssertionKeys, Key, Node, Shard, State, Tenant, Vault};

/// One thing of the map as it is now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MapChange {
    /// The keys of assertions are these, sealed.
    Keys(AssertionKeys),
    /// The node is this.
    Node(Node),
    /// There is no such node any more.
    NodeGone(NodeId),
    /// The shard is this. Shards never go.
    Shard(Shard),
    /// The vault is this.
    Vault(Vault),
    /// There is no such vault any more.
    VaultGone(VaultId),
    /// The tenant is this.
    Tenant(Tenant),
    /// There is no such tenant any more.
    TenantGone(TenantId),
}

/// What one entry of the log changed in the map.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delta {
    /// The version of the map with these changes: one above the version without them.
    pub version: u64,
    /// The changes, in the order of their keys. Never empty.
    pub changes: Vec<MapChange>,
}

impl State {
    /// The whole map, as the changes that make it from nothing.
    pub fn whole_map(&self) -> impl Iterator<Item = MapChange> + '_ {
        let nodes = self.nodes.iter().cloned().map(MapChange::Node);
        let shards = self.shards.iter().cloned().map(MapChange::Shard);
        let vaults = self.vaults.iter().cloned().map(MapChange::Vault);
        let keys = std::iter::once(MapChange::Keys(self.keys.clone()));
        keys.chain(nodes)
            .chain(shards)
            .chain(vaults)
            .chain(self.tenants.iter().cloned().map(MapChange::Tenant))
    }

    /// The part of the map that comes after a key, at most `most` things of it; empty at the end.
    ///
    /// So a large map is told in pieces without being held still: what changes meanwhile is told after it.
    #[must_use]
    pub fn map_piece(&self, after: Option<Key>, most: usize) -> Vec<(Key, MapChange)> {
        let beyond = |key: Key| after.is_none_or(|after| key > after);
        let (vault, tenant) = match after {
            Some(Key::Vault(vault)) => (Some(vault), None),
            // Tenants come last, so every vault is behind one.
            Some(Key::Tenant(tenant)) => (Some(VaultId::from_u128(u128::MAX)), Some(tenant)),
            _ => (None, None),
        };
        let nodes = self.nodes.iter().map(|node| (Key::Node(node.id), MapChange::Node(node.clone())));
        let shards = self.shards.iter().map(|shard| (Key::Shard(shard.id), MapChange::Shard(shard.clone())));
        let vaults = self.vaults.after(vault);
        let vaults = vaults.map(|vault| (Key::Vault(vault.id), MapChange::Vault(vault.clone())));
        let tenants = self.tenants.after(tenant);
        let tenants = tenants.map(|tenant| (Key::Tenant(tenant.id), MapChange::Tenant(tenant.clone())));
        let keys = std::iter::once((Key::Keys, MapChange::Keys(self.keys.clone())));
        let few = keys.chain(nodes).chain(shards).filter(|(key, _)| beyond(*key));
        few.chain(vaults).chain(tenants).take(most).collect()
    }

    /// The present values of what was touched, under the next version of the map; `None` when nothing was.
    pub(super) fn delta(&mut self, touched: &BTreeSet<Key>) -> Option<Delta> {
        let changes: Vec<MapChange> = touched.iter().filter_map(|key| self.value(*key)).collect();
        if changes.is_empty() {
            return None;
        }
        self.version += 1;
        Some(Delta { version: self.version, changes })
    }

    fn value(&self, key: Key) -> Option<MapChange> {
        let (nodes, vaults, tenants) = (&self.nodes, &self.vaults, &self.tenants);
        match key {
            Key::Keys => Some(MapChange::Keys(self.keys.clone())),
            Key::Node(id) => Some(nodes.get(id).cloned().map_or(MapChange::NodeGone(id), MapChange::Node)),
            Key::Shard(id) => self.shards.get(id).cloned().map(MapChange::Shard),
            Key::Vault(id) => {
                Some(vaults.get(id).cloned().map_or(MapChange::VaultGone(id), MapChange::Vault))
            }
            Key::Tenant(id) => {
                Some(tenants.get(id).cloned().map_or(MapChange::TenantGone(id), MapChange::Tenant))
            }
        }
    }
}
