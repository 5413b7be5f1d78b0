//! A fleet for tests: nodes that are heard or not, and shards that do what the map says.

use std::collections::BTreeMap;

use undercroft_proto::{NodeId, ShardId};

use super::{Contact, Observed, Replica, plan};
use crate::state::fixture::{founded, join};
use crate::state::{Batch, Command, Load, Phase, State, invariants};

/// Entries that each shard has committed.
const COMMITTED: u64 = 10_000;
/// Entries that a copy receives in one round.
const COPIED_A_ROUND: u64 = 5_000;

/// The fleet and what is decided for it.
pub(crate) struct World {
    pub(crate) state: State,
    pub(crate) observed: Observed,
    pub(crate) now: u64,
    /// Nodes that are silent.
    pub(crate) silent: Vec<NodeId>,
    /// What was decided, in order.
    pub(crate) log: Vec<Command>,
    copied: BTreeMap<(ShardId, NodeId), u64>,
    voters: BTreeMap<ShardId, Vec<NodeId>>,
}

impl World {
    /// A cluster of this many shards and replicas, and a node for each zone of the list ("" is none).
    pub(crate) fn new(shards: u32, replicas: u8, zones: &[&str]) -> Self {
        let mut state = founded(shards, replicas);
        for (at, zone) in zones.iter().enumerate() {
            let zone = (!zone.is_empty()).then_some(*zone);
            let at_time = state.now() + 1;
            state.apply(&Batch::of(at_time, [join(&format!("n{}", at + 1), zone, at as u8)]));
        }
        let now = state.now();
        let (copied, voters) = (BTreeMap::new(), BTreeMap::new());
        Self { state, observed: Observed::new(now), now, silent: Vec::new(), log: Vec::new(), copied, voters }
    }

    /// Decides something.
    pub(crate) fn decide(&mut self, commands: Vec<Command>) {
        let before = self.state.clone();
        let applied = self.state.apply(&Batch::of(self.now, commands.clone()));
        for (command, outcome) in commands.iter().zip(&applied.outcomes) {
            assert_eq!(outcome.refusal(), None, "refused: {command:?}");
        }
        invariants::all(&self.state).expect("invariants");
        invariants::growth(&before, &self.state).expect("growth");
        self.log.extend(commands);
    }

    /// Ten seconds pass: nodes are heard, groups follow the map, and one pass is decided. Gives its moves.
    pub(crate) fn round(&mut self) -> Vec<Command> {
        self.now += 10_000;
        self.follow();
        let nodes: Vec<NodeId> = self.state.nodes().iter().map(|node| node.id).collect();
        for node in nodes.into_iter().filter(|node| !self.silent.contains(node)) {
            let contact =
                Contact { at: self.now, load: Load::default(), replicas: self.seen_by(node), map_version: 0 };
            self.observed.heard(node, contact);
        }
        let moves = plan(&self.state, &self.observed, self.now);
        self.decide(moves.clone());
        moves
    }

    /// Rounds until nothing is to do any more; gives their number.
    pub(crate) fn settle(&mut self, most: usize) -> usize {
        let mut quiet = 0;
        for round in 0..most {
            quiet = if self.round().is_empty() { quiet + 1 } else { 0 };
            // A node is dead after three silent rounds.
            if quiet > 4 {
                return round;
            }
        }
        panic!(
            "no rest after {most} rounds; last moves: {:?}",
            &self.log[self.log.len().saturating_sub(6)..]
        );
    }

    /// Raft groups copy and switch as the map asks, when a majority of the voters is there.
    fn follow(&mut self) {
        for shard in self.state.shards().iter().filter(|shard| !shard.voters.is_empty()) {
            let voters = self.voters.entry(shard.id).or_insert_with(|| shard.voters.clone());
            let there = voters.iter().filter(|node| !self.silent.contains(node)).count();
            let Some(change) = shard.change.as_ref().filter(|_| there * 2 > voters.len()) else { continue };
            match (change.phase, change.add) {
                (Phase::Copying, Some(node)) if !self.silent.contains(&node) => {
                    *self.copied.entry((shard.id, node)).or_default() += COPIED_A_ROUND;
                }
                (Phase::Switching, _) => *voters = shard.wanted(),
                _ => {}
            }
        }
    }

    fn seen_by(&self, node: NodeId) -> BTreeMap<ShardId, Replica> {
        let mut seen = BTreeMap::new();
        for (shard, voters) in &self.voters {
            let there: Vec<NodeId> =
                voters.iter().copied().filter(|node| !self.silent.contains(node)).collect();
            let leader = (there.len() * 2 > voters.len()).then(|| there[0]);
            if leader != Some(node) {
                continue;
            }
            let copied = self.copied.iter().filter(|((of, _), _)| of == shard);
            let matched = copied.map(|((_, node), index)| (*node, (*index).min(COMMITTED))).collect();
            let (voters, term) = (voters.clone(), node.get());
            let replica = Replica { term, leader, committed: COMMITTED, voters, settled: true, matched };
            seen.insert(*shard, replica);
        }
        seen
    }
}
