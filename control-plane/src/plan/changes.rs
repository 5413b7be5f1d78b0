//! How changes of replicas go on: caught up by matched index, then switched, then ended; or given up.

use undercroft_proto::NodeId;

use super::Observed;
use super::sketch::Sketch;
use crate::limits;
use crate::state::{Change, Command, Leader, Phase, Shard, ShardCommand};

pub(super) fn moves(sketch: &Sketch<'_>, observed: &Observed, out: &mut Vec<Command>) {
    for shard in sketch.state.shards().iter() {
        out.extend(led_by(shard, observed).map(Command::Shard));
        let next = shard.change.as_ref().and_then(|change| step(sketch, observed, shard, change));
        out.extend(next.map(Command::Shard));
    }
}

/// The leader that was seen, when it is not the one that is written down.
fn led_by(shard: &Shard, observed: &Observed) -> Option<ShardCommand> {
    let (node, replica) = observed.leader(shard.id)?;
    let leader = Leader { node, term: replica.term };
    let newer = shard.leader.is_none_or(|known| known.term < leader.term);
    let votes = shard.voters.contains(&node) || shard.wanted().contains(&node);
    (newer && votes).then_some(ShardCommand::Leader { shard: shard.id, leader })
}

fn step(sketch: &Sketch<'_>, observed: &Observed, shard: &Shard, change: &Change) -> Option<ShardCommand> {
    let (id, change_id) = (shard.id, change.id);
    match change.phase {
        Phase::Copying => {
            let node = change.add?;
            if !sketch.is_willing(node) {
                let reason = format!("node {node} takes no replicas any more");
                return Some(ShardCommand::Abort { shard: id, change: change_id, reason });
            }
            let (matched, committed) = caught_up(observed, shard, node)?;
            let reason = format!("node {node} holds entry {matched} of {committed}");
            Some(ShardCommand::Switch { shard: id, change: change_id, reason })
        }
        Phase::Switching => {
            let (leader, replica) = observed.leader(id)?;
            let mut voters = replica.voters.clone();
            voters.sort_unstable();
            let there = replica.settled && voters == shard.wanted();
            let reason = format!("node {leader} leads with these voters in term {}", replica.term);
            there.then_some(ShardCommand::Finish { shard: id, change: change_id, reason })
        }
    }
}

/// The matched and the committed index, once they are close. Nothing but the leader's word counts: a call that returned, or
/// what the new replica says of itself, does not.
fn caught_up(observed: &Observed, shard: &Shard, node: NodeId) -> Option<(u64, u64)> {
    let (_, leader) = observed.leader(shard.id)?;
    let matched = *leader.matched.get(&node)?;
    (matched.saturating_add(limits::CAUGHT_UP_LAG) >= leader.committed).then_some((matched, leader.committed))
}
