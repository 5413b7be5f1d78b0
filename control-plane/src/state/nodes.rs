//! The nodes of the fleet: who they are, where, in which zone, and whether they are there.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use undercroft_proto::NodeId;

use super::context::Context;
use super::{Noun, Outcome, Refusal, State, Subject, check};

/// What a node last said of its load. Coarse: written when it changed much, not with each heartbeat.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Load {
    /// Bytes used.
    pub used_bytes: u64,
    /// Vaults open.
    pub open_vaults: u32,
    /// Requests a second over a minute.
    pub requests_per_second: u32,
}

/// Whether a node is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Health {
    /// It joined and has not been heard of since.
    Joining,
    /// It is heard of.
    Live,
    /// It is not heard of.
    Dead,
}

/// A node's state as an operator reads it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NodeState {
    /// It joined and has not been heard of since.
    Joining,
    /// It serves.
    Live,
    /// It serves what it holds until that has moved away, and gets nothing new.
    Drained,
    /// It is not heard of; what it holds is being replaced.
    Dead,
}

/// A node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Node {
    /// Its id: one life of its journal.
    pub id: NodeId,
    /// The operator's name for it.
    pub name: String,
    /// Where others reach it: host:port.
    pub address: String,
    /// Its zone, if it has one.
    pub zone: Option<String>,
    /// How much it can hold.
    pub capacity_bytes: u64,
    /// What it last said of its load.
    pub load: Load,
    /// Whether it is there.
    pub health: Health,
    /// Whether an operator wants it empty.
    pub drained: bool,
    /// Whether its journal is gone: it never comes back under this id.
    pub retired: bool,
    /// The URI in its certificate; `None` where it joined without one. Nobody else speaks for it.
    pub certificate: Option<String>,
    journal: [u8; 16],
}

impl Node {
    /// The state as an operator reads it. A drained node that is dead is dead.
    #[must_use]
    pub const fn state(&self) -> NodeState {
        match (self.health, self.drained) {
            (Health::Dead, _) => NodeState::Dead,
            (_, true) => NodeState::Drained,
            (Health::Joining, false) => NodeState::Joining,
            (Health::Live, false) => NodeState::Live,
        }
    }

    /// Whether new replicas may be put on it.
    #[must_use]
    pub const fn takes_replicas(&self) -> bool {
        matches!(self.state(), NodeState::Live) && !self.retired
    }
}

/// A decision about nodes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum NodeCommand {
    /// A node joins, or comes back. The same name with the same journal is the same node.
    Join {
        /// The operator's name for it.
        name: String,
        /// host:port.
        address: String,
        /// Its zone.
        zone: Option<String>,
        /// How much it can hold.
        capacity_bytes: u64,
        /// Sixteen random bytes made with its journal.
        journal: [u8; 16],
        /// The newest version of messages that it speaks.
        speaks: u32,
        /// The URI in the certificate that it came with; `None` without one.
        certificate: Option<String>,
    },
    /// What is seen of a node: there or not.
    Health {
        /// The node.
        node: NodeId,
        /// [`Health::Live`] or [`Health::Dead`].
        health: Health,
        /// Why that is thought.
        reason: String,
    },
    /// Loads that changed much.
    Loads(Vec<(NodeId, Load)>),
    /// Whether the node is to be emptied.
    Drain {
        /// The node.
        node: NodeId,
        /// Whether it is to be.
        drained: bool,
        /// Why.
        reason: String,
    },
    /// Forgets a node that holds nothing. Its id is never used again.
    Remove {
        /// The node.
        node: NodeId,
    },
}

/// The nodes, by id and by name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Nodes {
    map: BTreeMap<NodeId, Node>,
    /// The newest life under each name.
    names: BTreeMap<String, NodeId>,
    pub(super) next: NodeId,
}

impl Default for Nodes {
    fn default() -> Self {
        Self { map: BTreeMap::new(), names: BTreeMap::new(), next: NodeId::FIRST }
    }
}

impl Nodes {
    /// The node of this id.
    #[must_use]
    pub fn get(&self, node: NodeId) -> Option<&Node> {
        self.map.get(&node)
    }

    /// The newest life of the node of this name.
    #[must_use]
    pub fn named(&self, name: &str) -> Option<&Node> {
        self.map.get(self.names.get(name)?)
    }

    /// The nodes, by id.
    pub fn iter(&self) -> impl Iterator<Item = &Node> {
        self.map.values()
    }

    /// The names and the node that each means.
    pub(super) fn by_name(&self) -> impl Iterator<Item = (&str, NodeId)> {
        self.names.iter().map(|(name, node)| (name.as_str(), *node))
    }

    fn get_mut(&mut self, node: NodeId) -> Result<&mut Node, Refusal> {
        self.map.get_mut(&node).ok_or_else(|| Refusal::no_such(Noun::Node, node))
    }
}

pub(super) fn apply(state: &mut State, cx: &mut Context, command: &NodeCommand) -> Result<Outcome, Refusal> {
    match command {
        NodeCommand::Join { .. } => join(state, cx, command),
        NodeCommand::Health { node, health, reason } => set_health(state, cx, *node, *health, reason),
        NodeCommand::Loads(loads) => {
            for (node, load) in loads {
                // A node that was removed meanwhile has no load.
                if let Some(node) = state.nodes.map.get_mut(node) {
                    node.load = *load;
                }
            }
            Ok(Outcome::Done)
        }
        NodeCommand::Drain { node, drained, reason } => {
            let found = state.nodes.get_mut(*node)?;
            if found.drained != *drained {
                found.drained = *drained;
                cx.touch_node(*node);
                cx.decide(Subject::Node(*node), if *drained { "drained" } else { "taken in again" }, reason);
            }
            Ok(Outcome::Node(*node))
        }
        NodeCommand::Remove { node } => remove(state, cx, *node),
    }
}

fn join(state: &mut State, cx: &mut Context, command: &NodeCommand) -> Result<Outcome, Refusal> {
    let NodeCommand::Join { name, address, zone, capacity_bytes, journal, speaks, certificate } = command
    else {
        return Ok(Outcome::Done);
    };
    check::name("name", name)?;
    check::address(address)?;
    if let Some(zone) = zone {
        check::name("zone", zone)?;
    }
    let format = state.cluster.format();
    if *speaks < format {
        return Err(Refusal::TooOld { speaks: *speaks, format });
    }
    let nodes = &mut state.nodes;
    let bound = nodes.named(name).and_then(|known| known.certificate.clone());
    check::bound(Noun::Node, name, bound.as_deref(), certificate.as_deref())?;
    let certificate = certificate.clone().or(bound);
    if let Some(known) = nodes.names.get(name).and_then(|id| nodes.map.get_mut(id)) {
        if known.journal == *journal {
            known.address.clone_from(address);
            known.zone.clone_from(zone);
            known.capacity_bytes = *capacity_bytes;
            known.certificate = certificate;
            cx.touch_node(known.id);
            return Ok(Outcome::Node(known.id));
        }
        // Entries that the old journal acknowledged may be gone with it, so its id must never vote again.
        known.retired = true;
        known.health = Health::Dead;
        cx.touch_node(known.id);
        cx.decide(Subject::Node(known.id), "retired", "it came back with another journal");
    }
    let id = nodes.next;
    nodes.next = id.next();
    nodes.names.insert(name.clone(), id);
    let node = Node {
        id,
        name: name.clone(),
        address: address.clone(),
        zone: zone.clone(),
        capacity_bytes: *capacity_bytes,
        load: Load::default(),
        health: Health::Joining,
        drained: false,
        retired: false,
        certificate,
        journal: *journal,
    };
    nodes.map.insert(id, node);
    cx.touch_node(id);
    cx.decide(Subject::Node(id), &format!("joined as {name}"), "it proved that it holds the fleet's key");
    Ok(Outcome::Node(id))
}

fn set_health(
    state: &mut State,
    cx: &mut Context,
    node: NodeId,
    health: Health,
    reason: &str,
) -> Result<Outcome, Refusal> {
    let found = state.nodes.get_mut(node)?;
    if health == Health::Joining {
        return Err(Refusal::field("health", "is where a node begins; decide that it is live or dead"));
    }
    if found.retired && health == Health::Live {
        let now = "its journal is gone, and it has joined under a new id".to_owned();
        return Err(Refusal::Stale { what: Noun::Node, id: node.to_string(), now });
    }
    if found.health != health {
        found.health = health;
        cx.touch_node(node);
        cx.decide(Subject::Node(node), if health == Health::Live { "live" } else { "dead" }, reason);
    }
    Ok(Outcome::Node(node))
}

fn remove(state: &mut State, cx: &mut Context, node: NodeId) -> Result<Outcome, Refusal> {
    state.nodes.get_mut(node)?;
    let held = state.shards.iter().filter(|shard| shard.mentions(node)).count();
    if held > 0 {
        return Err(Refusal::InUse {
            what: Noun::Node,
            id: node.to_string(),
            holds: format!("replicas of {held} shards"),
            remedy: format!("empty it first: undercroft node drain {node}"),
        });
    }
    if let Some(gone) = state.nodes.map.remove(&node) {
        if state.nodes.names.get(&gone.name) == Some(&node) {
            state.nodes.names.remove(&gone.name);
        }
        cx.touch_node(node);
        cx.decide(Subject::Node(node), "removed", "an operator asked");
    }
    Ok(Outcome::Node(node))
}
