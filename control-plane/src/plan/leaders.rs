//! Who should lead which shard: every shard somebody who is there, and no node two more than another that could.

use std::collections::BTreeMap;

use undercroft_proto::NodeId;

use super::sketch::Sketch;
use crate::state::{Command, NodeState, Shard, ShardCommand};

pub(super) fn moves(sketch: &Sketch<'_>, out: &mut Vec<Command>) {
    let mut led: BTreeMap<NodeId, usize> = BTreeMap::new();
    for node in sketch.state.shards().iter().filter_map(|shard| shard.preferred) {
        *led.entry(node).or_default() += 1;
    }
    for shard in sketch.state.shards().iter().filter(|shard| shard.change.is_none()) {
        let count = |node: NodeId| led.get(&node).copied().unwrap_or(0);
        let able = shard.voters.iter().copied().filter(|node| leads(sketch, *node));
        let Some(best) = able.min_by_key(|node| (count(*node), *node)) else { continue };
        let Some(reason) = why(sketch, shard, best, &count) else { continue };
        if let Some(old) = shard.preferred.and_then(|old| led.get_mut(&old)) {
            *old = old.saturating_sub(1);
        }
        *led.entry(best).or_default() += 1;
        out.push(Command::Shard(ShardCommand::Prefer { shard: shard.id, node: Some(best), reason }));
    }
}

/// Whether a node may be asked to lead.
fn leads(sketch: &Sketch<'_>, node: NodeId) -> bool {
    sketch.state.nodes().get(node).is_some_and(|node| node.state() == NodeState::Live && !node.retired)
}

/// Why `best` should lead in place of who should now; `None` when it should not.
fn why(sketch: &Sketch<'_>, shard: &Shard, best: NodeId, count: &dyn Fn(NodeId) -> usize) -> Option<String> {
    let fewest = count(best);
    match shard.preferred {
        None => Some(format!("nobody should lead yet; node {best} leads {fewest}")),
        Some(old) if !leads(sketch, old) => Some(format!("node {old} is not live")),
        Some(old) if count(old) >= fewest + 2 => {
            Some(format!("node {old} leads {} and node {best} leads {fewest}", count(old)))
        }
        Some(_) => None,
    }
}
