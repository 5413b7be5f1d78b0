//! Who is there: nodes that are heard are live, nodes that are silent for too long are dead, loads follow what nodes say.

use undercroft_proto::NodeId;

use super::Observed;
use crate::limits;
use crate::state::{Command, Health, Load, Node, NodeCommand, State};

pub(super) fn moves(state: &State, observed: &Observed, now: u64, out: &mut Vec<Command>) {
    out.extend(state.nodes().iter().filter_map(|node| verdict(node, observed, now)).map(Command::Node));
    let loads: Vec<(NodeId, Load)> = state
        .nodes()
        .iter()
        .filter_map(|node| Some((node, observed.contact(node.id)?.load)))
        .filter(|(node, load)| changed_much(node.load, *load))
        .map(|(node, load)| (node.id, load))
        .collect();
    if !loads.is_empty() {
        out.push(Command::Node(NodeCommand::Loads(loads)));
    }
}

fn verdict(node: &Node, observed: &Observed, now: u64) -> Option<NodeCommand> {
    let silent = observed.silent_ms(node.id, now);
    let heard = observed.contact(node.id).is_some() && silent < limits::DEAD_AFTER_MS;
    let health = |health, reason: String| Some(NodeCommand::Health { node: node.id, health, reason });
    match node.health {
        Health::Joining | Health::Dead if heard && !node.retired => {
            health(Health::Live, format!("heard {silent} ms ago"))
        }
        Health::Live if silent >= limits::DEAD_AFTER_MS => {
            health(Health::Dead, format!("silent for {} s", silent / 1000))
        }
        _ => None,
    }
}

/// Small changes stay out of the log.
fn changed_much(known: Load, said: Load) -> bool {
    let by = known.used_bytes.abs_diff(said.used_bytes);
    by > limits::LOAD_STEP_BYTES && by >= known.used_bytes / limits::LOAD_STEP_PART
}
