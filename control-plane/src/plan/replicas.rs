//! Which nodes hold a shard: first placement, replacement of the dead, emptying of the drained, zones, balance.
//!
//! The order is the order of need. Each shard has one change at a time, and copies are within a budget. Two numbers never
//! grow by a move of choice: pairs of replicas that share a zone, then the squares of replicas a node; so choice ends.

use undercroft_proto::{NodeId, ShardId};

use super::sketch::Sketch;
use crate::state::{Command, NodeState, Shard, ShardCommand};

/// A change that is worth making: who comes, who goes, why.
struct Wish {
    add: Option<NodeId>,
    remove: Option<NodeId>,
    reason: String,
}

/// Looks at one shard for one kind of change.
type WishOf = fn(&Sketch<'_>, &Shard, usize) -> Option<Wish>;

pub(super) fn moves(sketch: &mut Sketch<'_>, replicas: usize, out: &mut Vec<Command>) {
    let state = sketch.state;
    for shard in state.shards().iter().filter(|shard| shard.voters.is_empty()) {
        out.extend(place(sketch, shard.id, replicas));
    }
    let wishes: [WishOf; 5] = [lost, number, drained, shared_zone, balance];
    let settled = || state.shards().iter().filter(|shard| !shard.voters.is_empty() && shard.change.is_none());
    let mut begun: Vec<ShardId> = Vec::new();
    for wish_of in wishes {
        for shard in settled() {
            // A group without a majority can change nothing; its copy would hold a place of the budget for ever.
            if begun.contains(&shard.id) || !has_majority(sketch, shard) {
                continue;
            }
            let Some(wish) = wish_of(sketch, shard, replicas) else { continue };
            let free = wish.add.is_none_or(|node| sketch.may_copy() && sketch.may_receive(node));
            if !free {
                continue;
            }
            sketch.replaced(wish.add, wish.remove);
            begun.push(shard.id);
            let Wish { add, remove, reason } = wish;
            out.push(Command::Shard(ShardCommand::Begin { shard: shard.id, add, remove, reason }));
        }
    }
}

/// The first voters of a shard, once there are nodes enough.
fn place(sketch: &mut Sketch<'_>, shard: ShardId, replicas: usize) -> Option<Command> {
    let mut voters: Vec<NodeId> = Vec::new();
    while voters.len() < replicas {
        voters.push(sketch.best(None, &voters, &[])?);
    }
    sketch.count(&voters);
    let shared = voters.iter().map(|node| sketch.neighbours(*node, &voters)).sum::<usize>() / 2;
    let zones =
        if shared == 0 { "no two in one zone".to_owned() } else { format!("{shared} pairs share a zone") };
    let reason = format!("the nodes with the fewest replicas, {zones}");
    Some(Command::Shard(ShardCommand::Place { shard, voters, reason }))
}

fn is_dead(sketch: &Sketch<'_>, node: NodeId) -> bool {
    sketch.state.nodes().get(node).is_none_or(|node| node.retired || node.state() == NodeState::Dead)
}

fn has_majority(sketch: &Sketch<'_>, shard: &Shard) -> bool {
    let dead = shard.voters.iter().filter(|node| is_dead(sketch, **node)).count();
    (shard.voters.len() - dead) * 2 > shard.voters.len()
}

fn without(shard: &Shard, node: NodeId) -> Vec<NodeId> {
    shard.voters.iter().copied().filter(|voter| *voter != node).collect()
}

/// A replacement for a voter, if there is any node for it.
fn replace(sketch: &Sketch<'_>, shard: &Shard, gone: NodeId, reason: String) -> Option<Wish> {
    let add = sketch.best(Some(shard), &without(shard, gone), &[gone])?;
    Some(Wish { add: Some(add), remove: Some(gone), reason })
}

/// A voter that is dead is replaced.
fn lost(sketch: &Sketch<'_>, shard: &Shard, replicas: usize) -> Option<Wish> {
    let gone = shard.voters.iter().copied().find(|node| is_dead(sketch, *node))?;
    let reason = format!("node {gone} is dead");
    if shard.voters.len() > replicas {
        return Some(Wish { add: None, remove: Some(gone), reason });
    }
    replace(sketch, shard, gone, reason)
}

/// A shard has as many voters as the cluster was founded with.
fn number(sketch: &Sketch<'_>, shard: &Shard, replicas: usize) -> Option<Wish> {
    let there = shard.voters.len();
    let reason = format!("the shard has {there} voters and should have {replicas}");
    if there < replicas {
        let add = sketch.best(Some(shard), &shard.voters, &[])?;
        return Some(Wish { add: Some(add), remove: None, reason });
    }
    let key = |node: &NodeId| {
        (!sketch.is_willing(*node), sketch.neighbours(*node, &shard.voters), sketch.held(*node), *node)
    };
    let remove = shard.voters.iter().copied().max_by_key(key);
    (there > replicas).then_some(Wish { add: None, remove, reason })
}

/// A voter on a drained node moves away.
fn drained(sketch: &Sketch<'_>, shard: &Shard, _: usize) -> Option<Wish> {
    let is_drained = |node: &NodeId| sketch.state.nodes().get(*node).is_some_and(|node| node.drained);
    let gone = shard.voters.iter().copied().find(is_drained)?;
    replace(sketch, shard, gone, format!("node {gone} is drained"))
}

/// Two voters in one zone are moved apart when there is a node in another.
fn shared_zone(sketch: &Sketch<'_>, shard: &Shard, _: usize) -> Option<Wish> {
    let crowded = shard.voters.iter().copied().filter(|node| sketch.neighbours(*node, &shard.voters) > 0);
    let gone =
        crowded.max_by_key(|node| (sketch.neighbours(*node, &shard.voters), sketch.held(*node), *node))?;
    let wish = replace(sketch, shard, gone, format!("node {gone} shares its zone with another replica"))?;
    let apart = sketch.neighbours(wish.add?, &without(shard, gone)) < sketch.neighbours(gone, &shard.voters);
    apart.then_some(wish)
}

/// A node that holds two replicas more than another gives one away.
fn balance(sketch: &Sketch<'_>, shard: &Shard, _: usize) -> Option<Wish> {
    let full = shard.voters.iter().copied().max_by_key(|node| (sketch.held(*node), *node))?;
    let rest = without(shard, full);
    let crowd = sketch.neighbours(full, &shard.voters);
    let free = sketch.willing().map(|node| node.id).filter(|node| {
        !shard.mentions(*node) && sketch.neighbours(*node, &rest) <= crowd && sketch.may_receive(*node)
    });
    let empty = free.min_by_key(|node| (sketch.held(*node), *node))?;
    let (more, fewer) = (sketch.held(full), sketch.held(empty));
    let reason = format!("node {full} holds {more} replicas and node {empty} holds {fewer}");
    (more >= fewer + 2).then_some(Wish { add: Some(empty), remove: Some(full), reason })
}
