//! The state as one pass sees it while it decides: counts that already include the moves of this pass.

use std::collections::BTreeMap;

use undercroft_proto::NodeId;

use crate::limits;
use crate::state::{Node, Phase, Shard, State};

/// Counts of a pass, and the moves so far.
pub(super) struct Sketch<'a> {
    pub(super) state: &'a State,
    /// Voters on each node, as they will be when every change has ended.
    voters: BTreeMap<NodeId, usize>,
    /// Copies to each node that are under way.
    copies: BTreeMap<NodeId, usize>,
}

impl<'a> Sketch<'a> {
    pub(super) fn new(state: &'a State) -> Self {
        let mut sketch = Self { state, voters: BTreeMap::new(), copies: BTreeMap::new() };
        for shard in state.shards().iter() {
            sketch.count(&shard.wanted());
            if let Some(change) = shard.change.as_ref().filter(|change| change.phase == Phase::Copying)
                && let Some(node) = change.add
            {
                *sketch.copies.entry(node).or_default() += 1;
            }
        }
        sketch
    }

    pub(super) fn count(&mut self, voters: &[NodeId]) {
        for node in voters {
            *self.voters.entry(*node).or_default() += 1;
        }
    }

    /// Voters on a node.
    pub(super) fn held(&self, node: NodeId) -> usize {
        self.voters.get(&node).copied().unwrap_or(0)
    }

    /// Notes that a copy to `add` begins, in the place of `remove`.
    pub(super) fn replaced(&mut self, add: Option<NodeId>, remove: Option<NodeId>) {
        if let Some(add) = add {
            *self.copies.entry(add).or_default() += 1;
            *self.voters.entry(add).or_default() += 1;
        }
        if let Some(count) = remove.and_then(|node| self.voters.get_mut(&node)) {
            *count = count.saturating_sub(1);
        }
    }

    /// Whether one more copy is within the budget of the fleet.
    pub(super) fn may_copy(&self) -> bool {
        self.copies.values().sum::<usize>() < limits::COPIES
    }

    /// Whether one more copy is within the budget of the node.
    pub(super) fn may_receive(&self, node: NodeId) -> bool {
        self.copies.get(&node).copied().unwrap_or(0) < limits::COPIES_A_NODE
    }

    /// The nodes that take replicas.
    pub(super) fn willing(&self) -> impl Iterator<Item = &'a Node> + use<'a> {
        self.state.nodes().iter().filter(|node| node.takes_replicas())
    }

    /// Whether a node takes replicas.
    pub(super) fn is_willing(&self, node: NodeId) -> bool {
        self.state.nodes().get(node).is_some_and(Node::takes_replicas)
    }

    /// How many of `others` share the zone of a node. A node without a zone shares it with nobody.
    pub(super) fn neighbours(&self, node: NodeId, others: &[NodeId]) -> usize {
        let zone_of = |node| self.state.nodes().get(node).and_then(|node: &Node| node.zone.as_deref());
        let Some(zone) = zone_of(node) else { return 0 };
        others.iter().filter(|other| **other != node && zone_of(**other) == Some(zone)).count()
    }

    /// The best node for one more replica beside `rest`: in a zone of its own, then with the fewest replicas, then the first.
    /// Nodes that mention the shard already, and those in `not`, are left out. The budget of nodes is not looked at.
    pub(super) fn best(&self, shard: Option<&Shard>, rest: &[NodeId], not: &[NodeId]) -> Option<NodeId> {
        let free = self.willing().map(|node| node.id).filter(|node| {
            let votes = shard.is_some_and(|shard| shard.voters.contains(node));
            !votes && !rest.contains(node) && !not.contains(node)
        });
        free.min_by_key(|node| (self.neighbours(*node, rest), self.held(*node), *node))
    }
}
