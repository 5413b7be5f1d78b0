//! Which nodes hold a shard, and how that changes.

use undercroft_proto::{ErrorClass, NodeId, ShardId};

use crate::state::fixture::{founded, health, join, place, refusal, run, serving, with_nodes};
use crate::state::*;

fn shard(command: ShardCommand) -> Command {
    Command::Shard(command)
}

fn begin(add: Option<u64>, remove: Option<u64>) -> Command {
    let reason = "a test says so".to_owned();
    let (add, remove) = (add.map(NodeId::new), remove.map(NodeId::new));
    shard(ShardCommand::Begin { shard: ShardId::new(1), add, remove, reason })
}

fn switch(change: u64) -> Command {
    shard(ShardCommand::Switch { shard: ShardId::new(1), change, reason: String::new() })
}

fn finish(change: u64) -> Command {
    shard(ShardCommand::Finish { shard: ShardId::new(1), change, reason: String::new() })
}

#[test]
fn voters_are_distinct_willing_nodes() {
    let mut state = with_nodes(founded(1, 3), 4, &[]);
    run(&mut state, health(4, Health::Dead));
    for (voters, class) in [
        (&[1, 1, 2][..], ErrorClass::Invalid),
        (&[], ErrorClass::Invalid),
        (&[1, 2, 4], ErrorClass::Conflict),
        (&[1, 2, 9], ErrorClass::NotFound),
    ] {
        assert_eq!(refusal(run(&mut state, place(1, voters))).class(), class, "{voters:?}");
    }
    assert_eq!(run(&mut state, place(1, &[3, 1, 2])), Outcome::Done);
    assert_eq!(refusal(run(&mut state, place(1, &[1, 2, 3]))).class(), ErrorClass::Conflict);
}

#[test]
fn a_change_copies_then_switches_then_ends_and_another_waits() {
    let mut state = with_nodes(serving(1), 0, &[]);
    run(&mut state, join("n4", None, 4));
    run(&mut state, health(4, Health::Live));
    let of = |state: &State| state.shards().get(ShardId::new(1)).expect("shard 1").clone();
    assert_eq!(run(&mut state, begin(Some(4), Some(1))), Outcome::Change(1));
    assert!(matches!(refusal(run(&mut state, begin(None, Some(2)))), Refusal::Busy { .. }));
    assert!(matches!(refusal(run(&mut state, finish(1))), Refusal::Busy { .. }), "it still copies");
    assert!(matches!(refusal(run(&mut state, switch(2))), Refusal::Stale { .. }), "another change");
    assert_eq!(of(&state).voters, [1, 2, 3].map(NodeId::new));
    assert_eq!(run(&mut state, switch(1)), Outcome::Change(1));
    assert_eq!(of(&state).wanted(), [2, 3, 4].map(NodeId::new));
    let abort = shard(ShardCommand::Abort { shard: ShardId::new(1), change: 1, reason: String::new() });
    assert!(matches!(refusal(run(&mut state, abort)), Refusal::Busy { .. }), "it may have happened");
    assert_eq!(run(&mut state, finish(1)), Outcome::Done);
    assert_eq!(of(&state).voters, [2, 3, 4].map(NodeId::new));
    assert!(matches!(refusal(run(&mut state, finish(1))), Refusal::Stale { .. }), "it ended");
    assert_eq!(run(&mut state, begin(None, Some(2))), Outcome::Change(2), "ids of changes count on");
}

#[test]
fn an_older_leader_does_not_replace_a_newer_one() {
    let mut state = serving(1);
    let lead = |node, term| {
        shard(ShardCommand::Leader {
            shard: ShardId::new(1),
            leader: Leader { node: NodeId::new(node), term },
        })
    };
    assert_eq!(run(&mut state, lead(2, 5)), Outcome::Done);
    assert!(matches!(refusal(run(&mut state, lead(1, 4))), Refusal::Stale { .. }));
    assert!(matches!(refusal(run(&mut state, lead(9, 6))), Refusal::Field { .. }));
    assert_eq!(
        state.shards().get(ShardId::new(1)).and_then(|s| s.leader).map(|l| l.node),
        Some(NodeId::new(2))
    );
}

#[test]
fn a_node_with_replicas_is_not_removed() {
    let mut state = serving(1);
    let remove = Command::Node(NodeCommand::Remove { node: NodeId::new(1) });
    assert!(matches!(refusal(run(&mut state, remove)), Refusal::InUse { .. }));
}

#[test]
fn a_node_that_comes_back_with_its_journal_is_the_same_node() {
    let mut state = with_nodes(founded(1, 3), 1, &[]);
    assert_eq!(run(&mut state, join("n1", Some("east"), 1)), Outcome::Node(NodeId::new(1)));
    assert_eq!(state.nodes().get(NodeId::new(1)).and_then(|node| node.zone.as_deref()), Some("east"));
}

#[test]
fn a_node_that_lost_its_journal_is_another_node_and_the_old_one_never_lives_again() {
    let mut state = with_nodes(founded(1, 3), 1, &[]);
    assert_eq!(run(&mut state, join("n1", None, 99)), Outcome::Node(NodeId::new(2)));
    let old = state.nodes().get(NodeId::new(1)).expect("the old life");
    assert!(old.retired && old.state() == NodeState::Dead);
    assert_eq!(refusal(run(&mut state, health(1, Health::Live))).class(), ErrorClass::Conflict);
    assert_eq!(state.nodes().named("n1").map(|node| node.id), Some(NodeId::new(2)));
}
