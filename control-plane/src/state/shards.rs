//! The replicas of each shard: who votes, who learns, who leads, and the one change that may be under way.
//!
//! The state says what the shard's Raft group should become. The node that leads the shard brings it about, and what it
//! reports back is what lets a change go on.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use undercroft_proto::{NodeId, ShardId};

use super::context::Context;
use super::{Noun, Outcome, Refusal, State, Subject};
use crate::limits;

/// How far a change has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Phase {
    /// The new replica is a learner and copies.
    Copying,
    /// The shard's leader is to bring the wanted voters about.
    Switching,
}

/// A change of a shard's voters.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// Counts up within the shard.
    pub id: u64,
    /// The new voter, if there is one.
    pub add: Option<NodeId>,
    /// The voter that goes, if one does.
    pub remove: Option<NodeId>,
    /// How far it is.
    pub phase: Phase,
    /// When it began, by the cluster's time.
    pub since: u64,
}

/// Who leads a shard, as it was last reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Leader {
    /// The node.
    pub node: NodeId,
    /// Its term.
    pub term: u64,
}

/// A shard.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shard {
    /// Its id.
    pub id: ShardId,
    /// Who votes, by id. Empty until it is placed.
    pub voters: Vec<NodeId>,
    /// Who keeps a copy without voting: read replicas.
    pub learners: Vec<NodeId>,
    /// Who leads.
    pub leader: Option<Leader>,
    /// Who should lead.
    pub preferred: Option<NodeId>,
    /// The change under way.
    pub change: Option<Change>,
    pub(super) changes: u64,
}

impl Shard {
    /// The voters after the change under way; the voters when there is none.
    #[must_use]
    pub fn wanted(&self) -> Vec<NodeId> {
        let mut wanted = self.voters.clone();
        if let Some(change) = &self.change {
            wanted.retain(|node| change.remove != Some(*node));
            wanted.extend(change.add);
            wanted.sort_unstable();
        }
        wanted
    }

    /// Whether the node has or is to have a replica.
    #[must_use]
    pub fn mentions(&self, node: NodeId) -> bool {
        let added = self.change.as_ref().and_then(|change| change.add);
        self.voters.contains(&node) || self.learners.contains(&node) || added == Some(node)
    }
}

/// A decision about shards.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum ShardCommand {
    /// Gives a shard without replicas its first voters.
    Place {
        /// The shard.
        shard: ShardId,
        /// The voters.
        voters: Vec<NodeId>,
        /// Why these.
        reason: String,
    },
    /// Begins to change the voters.
    Begin {
        /// The shard.
        shard: ShardId,
        /// The new voter.
        add: Option<NodeId>,
        /// The voter that goes.
        remove: Option<NodeId>,
        /// Why.
        reason: String,
    },
    /// The new replica has caught up: the voters are to be switched.
    Switch {
        /// The shard.
        shard: ShardId,
        /// The change.
        change: u64,
        /// How that is known.
        reason: String,
    },
    /// The wanted voters are the voters.
    Finish {
        /// The shard.
        shard: ShardId,
        /// The change.
        change: u64,
        /// How that is known.
        reason: String,
    },
    /// Gives a change up, as long as it only copies.
    Abort {
        /// The shard.
        shard: ShardId,
        /// The change.
        change: u64,
        /// Why.
        reason: String,
    },
    /// Who leads, as reported.
    Leader {
        /// The shard.
        shard: ShardId,
        /// The leader.
        leader: Leader,
    },
    /// Who should lead.
    Prefer {
        /// The shard.
        shard: ShardId,
        /// The node, or nobody in particular.
        node: Option<NodeId>,
        /// Why.
        reason: String,
    },
    /// Whether a node keeps a read replica.
    Learner {
        /// The shard.
        shard: ShardId,
        /// The node.
        node: NodeId,
        /// Whether it is to.
        present: bool,
        /// Why.
        reason: String,
    },
}

/// The shards, by id.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Shards(BTreeMap<ShardId, Shard>);

impl Shards {
    /// The shard of this id.
    #[must_use]
    pub fn get(&self, shard: ShardId) -> Option<&Shard> {
        self.0.get(&shard)
    }

    /// The shards, by id.
    pub fn iter(&self) -> impl Iterator<Item = &Shard> {
        self.0.values()
    }

    pub(super) fn found(&mut self, id: ShardId) {
        let (voters, learners) = (Vec::new(), Vec::new());
        self.0.insert(
            id,
            Shard { id, voters, learners, leader: None, preferred: None, change: None, changes: 0 },
        );
    }

    fn get_mut(&mut self, shard: ShardId) -> Result<&mut Shard, Refusal> {
        self.0.get_mut(&shard).ok_or_else(|| Refusal::no_such(Noun::Shard, shard))
    }

    /// The shard with this change under way.
    fn changing(&mut self, shard: ShardId, change: u64) -> Result<(&mut Shard, Change), Refusal> {
        let found = self.get_mut(shard)?;
        match found.change.clone() {
            Some(current) if current.id == change => Ok((found, current)),
            other => {
                let now =
                    other.map_or("no change is under way".to_owned(), |c| format!("change {} is", c.id));
                Err(Refusal::Stale { what: Noun::Shard, id: shard.to_string(), now })
            }
        }
    }
}

pub(super) fn apply(state: &mut State, cx: &mut Context, command: &ShardCommand) -> Result<Outcome, Refusal> {
    match command {
        ShardCommand::Place { shard, voters, reason } => place(state, cx, *shard, voters, reason),
        ShardCommand::Begin { shard, add, remove, reason } => {
            begin(state, cx, *shard, (*add, *remove), reason)
        }
        ShardCommand::Switch { shard, change, reason } => {
            go_on(state, cx, (*shard, *change), Turn::Switch, reason)
        }
        ShardCommand::Finish { shard, change, reason } => {
            go_on(state, cx, (*shard, *change), Turn::Finish, reason)
        }
        ShardCommand::Abort { shard, change, reason } => {
            go_on(state, cx, (*shard, *change), Turn::Abort, reason)
        }
        ShardCommand::Leader { shard, leader } => set_leader(state, cx, *shard, *leader),
        ShardCommand::Prefer { shard, node, reason } => prefer(state, cx, *shard, *node, reason),
        ShardCommand::Learner { shard, node, present, reason } => {
            learner(state, cx, *shard, (*node, *present), reason)
        }
    }
}

/// The nodes as a person reads them: `1, 2, 3`.
fn listed(nodes: &[NodeId]) -> String {
    let names: Vec<String> = nodes.iter().map(ToString::to_string).collect();
    names.join(", ")
}

/// A node that new replicas may be put on.
fn willing(state: &State, node: NodeId) -> Result<(), Refusal> {
    let found = state.nodes.get(node).ok_or_else(|| Refusal::no_such(Noun::Node, node))?;
    if found.takes_replicas() {
        return Ok(());
    }
    let now = format!("it is {:?} and takes no replicas", found.state()).to_lowercase();
    Err(Refusal::Stale { what: Noun::Node, id: node.to_string(), now })
}

fn place(
    state: &mut State,
    cx: &mut Context,
    id: ShardId,
    voters: &[NodeId],
    reason: &str,
) -> Result<Outcome, Refusal> {
    let mut sorted = voters.to_vec();
    sorted.sort_unstable();
    sorted.dedup();
    if sorted.len() != voters.len() || sorted.is_empty() || sorted.len() > limits::REPLICAS.into() {
        return Err(Refusal::field("voters", "must be from one to seven nodes, each once"));
    }
    sorted.iter().try_for_each(|node| willing(state, *node))?;
    let shard = state.shards.get_mut(id)?;
    if !shard.voters.is_empty() {
        let now = format!("its voters are {}", listed(&shard.voters));
        return Err(Refusal::Stale { what: Noun::Shard, id: id.to_string(), now });
    }
    shard.learners.retain(|node| !sorted.contains(node));
    cx.decide(Subject::Shard(id), &format!("placed on nodes {}", listed(&sorted)), reason);
    shard.voters = sorted;
    cx.touch_shard(id);
    Ok(Outcome::Done)
}

fn begin(
    state: &mut State,
    cx: &mut Context,
    id: ShardId,
    (add, remove): (Option<NodeId>, Option<NodeId>),
    reason: &str,
) -> Result<Outcome, Refusal> {
    if let Some(node) = add {
        willing(state, node)?;
    }
    let now = cx.now;
    let shard = state.shards.get_mut(id)?;
    if let Some(change) = &shard.change {
        let doing = format!("change {} of its replicas is under way", change.id);
        return Err(Refusal::Busy { what: Noun::Shard, id: id.to_string(), doing });
    }
    if add.is_none() && remove.is_none() {
        return Err(Refusal::field("add", "and 'remove' are both empty; name at least one node"));
    }
    if add.is_some_and(|node| shard.voters.contains(&node)) {
        return Err(Refusal::field("add", "votes already"));
    }
    if remove.is_some_and(|node| !shard.voters.contains(&node)) {
        return Err(Refusal::field("remove", "does not vote"));
    }
    if shard.voters.is_empty() || (add.is_none() && shard.voters.len() == 1) {
        return Err(Refusal::field("remove", "is the last replica; place the shard first"));
    }
    shard.changes += 1;
    // Without a new replica there is nothing to copy.
    let phase = if add.is_some() { Phase::Copying } else { Phase::Switching };
    shard.change = Some(Change { id: shard.changes, add, remove, phase, since: now });
    cx.touch_shard(id);
    let what = match (add, remove) {
        (Some(add), Some(remove)) => format!("node {add} replaces node {remove}"),
        (Some(add), None) => format!("node {add} is added"),
        (_, remove) => format!("node {} is taken out", remove.map_or(0, NodeId::get)),
    };
    cx.decide(Subject::Shard(id), &what, reason);
    Ok(Outcome::Change(state.shards.get_mut(id)?.changes))
}

/// What is to become of a change that is under way.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Turn {
    Switch,
    Finish,
    Abort,
}

/// Takes a change a step further, or gives it up.
fn go_on(
    state: &mut State,
    cx: &mut Context,
    (id, change): (ShardId, u64),
    turn: Turn,
    reason: &str,
) -> Result<Outcome, Refusal> {
    let (shard, current) = state.shards.changing(id, change)?;
    let busy = |doing: &str| Refusal::Busy { what: Noun::Shard, id: id.to_string(), doing: doing.to_owned() };
    let what = match (turn, current.phase) {
        (Turn::Switch, Phase::Switching) => return Ok(Outcome::Change(change)),
        (Turn::Switch, Phase::Copying) => {
            shard.change = Some(Change { phase: Phase::Switching, ..current });
            format!("voters are to be {}", listed(&shard.wanted()))
        }
        (Turn::Finish, Phase::Copying) => return Err(busy("the new replica still copies")),
        (Turn::Finish, Phase::Switching) => {
            shard.voters = shard.wanted();
            shard.change = None;
            let voters = &shard.voters;
            shard.learners.retain(|node| !voters.contains(node));
            shard.preferred = shard.preferred.filter(|node| voters.contains(node));
            shard.leader = shard.leader.filter(|leader| voters.contains(&leader.node));
            format!("voters are {}", listed(voters))
        }
        // Once the leader was told to switch, it may have done so: only its report ends the change.
        (Turn::Abort, Phase::Switching) => {
            return Err(busy("its voters are being switched, which cannot be taken back"));
        }
        (Turn::Abort, Phase::Copying) => {
            shard.change = None;
            format!("change {change} given up")
        }
    };
    cx.decide(Subject::Shard(id), &what, reason);
    cx.touch_shard(id);
    Ok(if turn == Turn::Switch { Outcome::Change(change) } else { Outcome::Done })
}

fn set_leader(state: &mut State, cx: &mut Context, id: ShardId, leader: Leader) -> Result<Outcome, Refusal> {
    let shard = state.shards.get_mut(id)?;
    if shard.leader.is_some_and(|known| known.term > leader.term) {
        let now = format!("its leader's term is {}", shard.leader.map_or(0, |known| known.term));
        return Err(Refusal::Stale { what: Noun::Shard, id: id.to_string(), now });
    }
    // While voters are switched, the leader may be one of the new ones.
    if !shard.voters.contains(&leader.node) && !shard.wanted().contains(&leader.node) {
        return Err(Refusal::field("leader", format!("node {} does not vote in this shard", leader.node)));
    }
    if shard.leader != Some(leader) {
        shard.leader = Some(leader);
        cx.touch_shard(id);
    }
    Ok(Outcome::Done)
}

fn prefer(
    state: &mut State,
    cx: &mut Context,
    id: ShardId,
    node: Option<NodeId>,
    reason: &str,
) -> Result<Outcome, Refusal> {
    let shard = state.shards.get_mut(id)?;
    if node.is_some_and(|node| !shard.voters.contains(&node)) {
        return Err(Refusal::field("node", "does not vote in this shard"));
    }
    if shard.preferred != node {
        shard.preferred = node;
        cx.touch_shard(id);
        let who = node.map_or("anybody may lead".to_owned(), |node| format!("node {node} should lead"));
        cx.decide(Subject::Shard(id), &who, reason);
    }
    Ok(Outcome::Done)
}

fn learner(
    state: &mut State,
    cx: &mut Context,
    id: ShardId,
    (node, present): (NodeId, bool),
    reason: &str,
) -> Result<Outcome, Refusal> {
    if present {
        willing(state, node)?;
    }
    let shard = state.shards.get_mut(id)?;
    let there = shard.learners.iter().position(|learner| *learner == node);
    match (there, present) {
        (Some(at), false) => {
            shard.learners.remove(at);
        }
        (None, true) if shard.mentions(node) => return Err(Refusal::field("node", "has a replica already")),
        (None, true) if shard.learners.len() >= limits::LEARNERS => {
            return Err(Refusal::Full { what: Noun::Learner, most: limits::LEARNERS as u64 });
        }
        (None, true) => {
            shard.learners.push(node);
            shard.learners.sort_unstable();
        }
        (None, false) | (Some(_), true) => return Ok(Outcome::Done),
    }
    cx.touch_shard(id);
    let what = if present { "keeps a read replica" } else { "gives its read replica up" };
    cx.decide(Subject::Shard(id), &format!("node {node} {what}"), reason);
    Ok(Outcome::Done)
}

#[cfg(test)]
#[path = "shards_test.rs"]
mod shards_test;
