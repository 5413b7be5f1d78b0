//! What the leader of the control group has seen of the nodes since it leads. It is not replicated: a new leader begins with
//! an empty one, and gives every node the full time to be heard before it counts as dead.

use std::collections::BTreeMap;

use undercroft_proto::{NodeId, ShardId};

use crate::limits;
use crate::state::Load;

/// One replica of a shard, as the node that holds it sees its Raft group.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Replica {
    /// Its term.
    pub term: u64,
    /// Who leads, as far as it knows.
    pub leader: Option<NodeId>,
    /// Index of the last entry that it knows to be committed.
    pub committed: u64,
    /// The voters of the membership in force, by id.
    pub voters: Vec<NodeId>,
    /// Whether that membership is committed and not a joint one.
    pub settled: bool,
    /// From the leader alone: the last index that each other replica is known to hold.
    pub matched: BTreeMap<NodeId, u64>,
}

/// What a node last said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contact {
    /// When, in milliseconds by the clock of who keeps this.
    pub at: u64,
    /// Its load.
    pub load: Load,
    /// Its replicas.
    pub replicas: BTreeMap<ShardId, Replica>,
    /// The version of the map that it acts on.
    pub map_version: u64,
}

/// Everything seen since a member leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Observed {
    since: u64,
    contacts: BTreeMap<NodeId, Contact>,
    /// When each router was last heard, and which map it acts on.
    routers: BTreeMap<String, (u64, u64)>,
}

impl Observed {
    /// Nothing seen yet, at this time.
    #[must_use]
    pub const fn new(now: u64) -> Self {
        Self { since: now, contacts: BTreeMap::new(), routers: BTreeMap::new() }
    }

    /// A node was heard. Of two contacts the later one counts.
    pub fn heard(&mut self, node: NodeId, contact: Contact) {
        let newer = self.contacts.get(&node).is_none_or(|known| known.at <= contact.at);
        if newer {
            self.contacts.insert(node, contact);
        }
    }

    /// A router was heard. Those that are silent are forgotten; past the bound, the one that is for longest.
    pub fn heard_router(&mut self, router: String, map_version: u64, now: u64) {
        self.routers.retain(|_, (at, _)| now.saturating_sub(*at) < limits::ROUTER_SILENT_MS);
        if self.routers.len() >= limits::WATCHERS
            && let Some(oldest) =
                self.routers.iter().min_by_key(|(_, (at, _))| *at).map(|(name, _)| name.clone())
        {
            self.routers.remove(&oldest);
        }
        self.routers.insert(router, (now, map_version));
    }

    /// The lowest version of the map that a router acts on which was heard lately; `None` when none was.
    #[must_use]
    pub fn oldest_map_of_routers(&self, now: u64) -> Option<u64> {
        let lately = |at: u64| now.saturating_sub(at) < limits::ROUTER_SILENT_MS;
        self.routers.values().filter(|(at, _)| lately(*at)).map(|(_, version)| *version).min()
    }

    /// How long this has been kept.
    #[must_use]
    pub const fn age_ms(&self, now: u64) -> u64 {
        now.saturating_sub(self.since)
    }

    /// Forgets nodes that there are not any more.
    pub fn keep(&mut self, there: impl Fn(NodeId) -> bool) {
        self.contacts.retain(|node, _| there(*node));
    }

    /// What a node last said.
    #[must_use]
    pub fn contact(&self, node: NodeId) -> Option<&Contact> {
        self.contacts.get(&node)
    }

    /// How long a node has been silent. One that was never heard has been silent since this began.
    #[must_use]
    pub fn silent_ms(&self, node: NodeId, now: u64) -> u64 {
        now.saturating_sub(self.contacts.get(&node).map_or(self.since, |contact| contact.at))
    }

    /// The replica that leads a shard by its own word, in the highest term, and its node.
    ///
    /// Two may say so at once, when one was deposed and does not know: the higher term is right.
    #[must_use]
    pub fn leader(&self, shard: ShardId) -> Option<(NodeId, &Replica)> {
        let replicas =
            self.contacts.iter().filter_map(|(node, contact)| Some((*node, contact.replicas.get(&shard)?)));
        replicas
            .filter(|(node, replica)| replica.leader == Some(*node))
            .max_by_key(|(_, replica)| replica.term)
    }
}
