//! The plan on fleets that break and heal.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use undercroft_proto::{NodeId, ShardId};

use crate::limits;
use crate::plan::world::World;
use crate::plan::{Contact, Observed, Replica, plan};
use crate::state::fixture::{founded, place, run, serving, with_nodes};
use crate::state::{Command, Health, Load, NodeCommand, NodeState, Phase, ShardCommand, State};

fn node(number: u64) -> NodeId {
    NodeId::new(number)
}

fn drain(number: u64, drained: bool) -> Command {
    Command::Node(NodeCommand::Drain { node: node(number), drained, reason: "a test says so".into() })
}

fn zone_of(state: &State, node: NodeId) -> String {
    let zone = state.nodes().get(node).and_then(|node| node.zone.clone());
    zone.unwrap_or_else(|| format!("of its own {node}"))
}

/// Zones of the nodes that take replicas.
fn zones(state: &State) -> BTreeSet<String> {
    let willing = state.nodes().iter().filter(|node| node.takes_replicas());
    willing.map(|node| zone_of(state, node.id)).collect()
}

/// What must be true of a fleet at rest.
fn check_rest(world: &World, replicas: usize) {
    let state = &world.state;
    let willing = state.nodes().iter().filter(|node| node.takes_replicas()).count();
    for shard in state.shards().iter() {
        assert!(shard.change.is_none(), "{shard:?}");
        if willing < replicas {
            continue;
        }
        assert_eq!(shard.voters.len(), replicas, "{shard:?}");
        let bad =
            shard.voters.iter().find(|id| !state.nodes().get(**id).is_some_and(|node| node.takes_replicas()));
        assert_eq!(bad, None, "{shard:?}");
        if zones(state).len() >= replicas {
            let apart: BTreeSet<String> = shard.voters.iter().map(|node| zone_of(state, *node)).collect();
            assert_eq!(apart.len(), replicas, "shared zone in {shard:?}");
        }
        let preferred = shard.preferred.expect("somebody should lead");
        assert_eq!(state.nodes().get(preferred).map(|node| node.state()), Some(NodeState::Live));
    }
}

#[test]
fn shards_wait_for_nodes_and_are_then_placed_evenly_and_apart() {
    let mut world = World::new(8, 3, &["a", "b"]);
    world.settle(20);
    assert!(world.state.shards().iter().all(|shard| shard.voters.is_empty()), "two nodes are too few");
    let mut world = World::new(8, 3, &["a", "a", "b", "b", "c", "c"]);
    world.settle(40);
    check_rest(&world, 3);
    let mut held: BTreeMap<NodeId, usize> = BTreeMap::new();
    world
        .state
        .shards()
        .iter()
        .flat_map(|shard| &shard.voters)
        .for_each(|node| *held.entry(*node).or_default() += 1);
    assert!(held.len() == 6 && held.values().all(|count| *count == 4), "{held:?}");
    let mut led: BTreeMap<NodeId, usize> = BTreeMap::new();
    world
        .state
        .shards()
        .iter()
        .filter_map(|shard| shard.preferred)
        .for_each(|node| *led.entry(node).or_default() += 1);
    assert!(led.values().all(|count| *count <= 2), "{led:?}");
}

#[test]
fn one_node_is_a_cluster_of_one() {
    let mut world = World::new(4, 1, &[""]);
    world.settle(20);
    check_rest(&world, 1);
}

#[test]
fn a_dead_voter_is_replaced_by_learner_then_switch_then_end() {
    let mut world = World::new(1, 3, &["a", "b", "c", "d"]);
    world.settle(30);
    let shard = || ShardId::new(1);
    let victim = world.state.shards().get(shard()).expect("shard").voters[0];
    world.silent.push(victim);
    world.log.clear();
    world.settle(40);
    check_rest(&world, 3);
    let steps: Vec<&str> = world
        .log
        .iter()
        .filter_map(|command| match command {
            Command::Node(NodeCommand::Health { health: Health::Dead, .. }) => Some("dead"),
            Command::Shard(ShardCommand::Begin { add: Some(_), remove, .. }) if *remove == Some(victim) => {
                Some("begin")
            }
            Command::Shard(ShardCommand::Switch { .. }) => Some("switch"),
            Command::Shard(ShardCommand::Finish { .. }) => Some("finish"),
            _ => None,
        })
        .collect();
    assert_eq!(steps, ["dead", "begin", "switch", "finish"]);
    let reasons: Vec<&str> =
        world.state.decisions().iter().map(|decision| decision.reason.as_str()).collect();
    assert!(reasons.contains(&format!("node {victim} is dead").as_str()), "{reasons:?}");
}

#[test]
fn a_new_control_leader_gives_every_node_its_time() {
    let mut state = serving(1);
    run(
        &mut state,
        Command::Shard(ShardCommand::Prefer {
            shard: ShardId::new(1),
            node: Some(node(1)),
            reason: String::new(),
        }),
    );
    let observed = Observed::new(1_000_000);
    assert_eq!(plan(&state, &observed, 1_000_000 + limits::DEAD_AFTER_MS - 1), []);
    let dead = plan(&state, &observed, 1_000_000 + limits::DEAD_AFTER_MS);
    assert_eq!(dead.len(), 3, "all three were silent since it leads: {dead:?}");
}

#[test]
fn a_learner_that_is_behind_or_only_says_so_itself_is_not_switched() {
    let mut state = with_nodes(founded(1, 3), 4, &[]);
    run(&mut state, place(1, &[1, 2, 3]));
    run(&mut state, drain(3, true));
    let begin = ShardCommand::Begin {
        shard: ShardId::new(1),
        add: Some(node(4)),
        remove: Some(node(3)),
        reason: String::new(),
    };
    run(&mut state, Command::Shard(begin));
    let seen = |leader: u64, matched: &[(u64, u64)]| {
        let matched = matched.iter().map(|(id, index)| (node(*id), *index)).collect();
        let voters = [1, 2, 3].map(node).to_vec();
        Replica { term: 3, leader: Some(node(leader)), committed: 10_000, voters, settled: true, matched }
    };
    let switches = |from: u64, replica: Replica| {
        let mut observed = Observed::new(0);
        let replicas = BTreeMap::from([(ShardId::new(1), replica)]);
        observed.heard(node(from), Contact { at: 1, load: Load::default(), replicas, map_version: 0 });
        let moves = plan(&state, &observed, 2);
        moves.iter().any(|command| matches!(command, Command::Shard(ShardCommand::Switch { .. })))
    };
    assert!(!switches(1, seen(1, &[])), "nothing is known");
    assert!(!switches(1, seen(1, &[(4, 9_000)])), "too far behind");
    assert!(!switches(4, seen(1, &[(4, 10_000)])), "not the leader's word");
    assert!(switches(1, seen(1, &[(4, 9_900)])));
}

#[test]
fn a_copy_to_a_node_that_dies_is_given_up_and_made_elsewhere() {
    let mut world = World::new(1, 3, &["", "", "", "", ""]);
    world.settle(30);
    let voters = world.state.shards().get(ShardId::new(1)).expect("shard").voters.clone();
    world.silent.push(voters[0]);
    let target = loop {
        world.round();
        let change = world.state.shards().get(ShardId::new(1)).and_then(|shard| shard.change.clone());
        if let Some(change) = change {
            break change.add.expect("a new replica");
        }
    };
    world.silent.push(target);
    world.settle(40);
    check_rest(&world, 3);
    assert!(world.log.iter().any(|command| matches!(command, Command::Shard(ShardCommand::Abort { .. }))));
}

#[test]
fn a_drained_node_is_emptied_and_a_returned_one_is_used_again() {
    let mut world = World::new(6, 3, &["a", "b", "c", "a", "b", "c"]);
    world.settle(40);
    world.decide(vec![drain(2, true)]);
    world.settle(80);
    check_rest(&world, 3);
    assert!(world.state.shards().iter().all(|shard| !shard.mentions(node(2))));
    world.decide(vec![drain(2, false)]);
    world.settle(80);
    assert!(
        world.state.shards().iter().any(|shard| shard.voters.contains(&node(2))),
        "balance uses it again"
    );
}

#[test]
fn copies_stay_within_their_budget() {
    let mut world = World::new(40, 3, &["", "", "", "", "", ""]);
    world.settle(60);
    world.silent.push(node(1));
    for _ in 0..30 {
        world.round();
        let mut to: BTreeMap<NodeId, usize> = BTreeMap::new();
        let changes = world.state.shards().iter().filter_map(|shard| shard.change.as_ref());
        for change in changes.filter(|change| change.phase == Phase::Copying) {
            *to.entry(change.add.expect("a target")).or_default() += 1;
        }
        assert!(
            to.values().sum::<usize>() <= limits::COPIES && to.values().all(|n| *n <= limits::COPIES_A_NODE)
        );
    }
}

#[test]
fn a_shard_without_a_majority_is_left_alone_until_it_has_one() {
    let mut world = World::new(1, 3, &["", "", "", "", ""]);
    world.settle(30);
    let voters = world.state.shards().get(ShardId::new(1)).expect("shard").voters.clone();
    world.silent.extend(&voters[..2]);
    world.settle(30);
    assert!(world.state.shards().get(ShardId::new(1)).is_some_and(|shard| shard.change.is_none()));
    world.silent.remove(0);
    world.settle(40);
    check_rest(&world, 3);
}

/// Something that happens to a fleet.
#[derive(Debug, Clone)]
enum Event {
    Silence(u64),
    Return(u64),
    Drain(u64, bool),
    Rounds(u8),
}

fn any_event() -> impl Strategy<Value = Event> {
    prop_oneof![
        (1_u64..8).prop_map(Event::Silence),
        (1_u64..8).prop_map(Event::Return),
        (1_u64..8, any::<bool>()).prop_map(|(node, on)| Event::Drain(node, on)),
        (1_u8..8).prop_map(Event::Rounds),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn whatever_happens_the_fleet_comes_to_rest_as_it_should_be_when_faults_stop(
        layout in proptest::collection::vec(prop::sample::select(vec!["a", "b", "c", "d", ""]), 3..8),
        shards in 1_u32..9,
        events in proptest::collection::vec(any_event(), 0..20),
    ) {
        let mut world = World::new(shards, 3, &layout);
        let there = |number: u64| number <= layout.len() as u64;
        for event in events {
            match event {
                Event::Silence(number) if there(number) => world.silent.push(node(number)),
                Event::Return(number) => world.silent.retain(|silent| *silent != node(number)),
                Event::Drain(number, on) if there(number) => world.decide(vec![drain(number, on)]),
                Event::Rounds(rounds) => (0..rounds).for_each(|_| { world.round(); }),
                _ => {}
            }
        }
        world.silent.clear();
        let drained: Vec<u64> = world.state.nodes().iter().filter(|n| n.drained).map(|n| n.id.get()).collect();
        if layout.len() - drained.len() < 3 {
            world.decide(drained.into_iter().map(|number| drain(number, false)).collect());
        }
        world.settle(300);
        check_rest(&world, 3);
    }
}
