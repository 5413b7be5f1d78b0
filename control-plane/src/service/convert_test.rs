//! What messages say of the state, and which messages are refused.

use std::sync::Arc;

use proptest::prelude::*;
use undercroft_proto::wire::VERSION;
use undercroft_proto::wire::control as wire;
use undercroft_proto::wire::control::map_change::Change;

use super::{Told, change, contact, job_state, known, report, router};
use crate::keys::GroupKey;
use crate::ports::Ports;
use crate::state::fixture::{create, run, serving};
use crate::state::{Command, KeyCommand, MapChange, ShardCommand, State};

fn to(tenants: bool) -> Told {
    Told { tenants, key: Arc::new(GroupKey::new([4; 32])) }
}

fn told(state: &State, tenants: bool) -> Vec<Change> {
    state.whole_map().filter_map(|found| change(&found, &to(tenants))?.change).collect()
}

#[test]
fn keys_are_told_open_and_how_tokens_are_recognised_to_routers_alone() {
    let (key, ports) = (GroupKey::new([4; 32]), Ports::of_this_machine());
    let mut state = serving(1);
    for secret in [[1; 32], [2; 32]] {
        let sealed = key.seal(&secret, &ports).expect("sealed");
        run(&mut state, Command::Key(KeyCommand::Rotate { sealed, at_once: false }));
    }
    let keys = |tenants| match told(&state, tenants).into_iter().next() {
        Some(Change::Keys(keys)) => keys,
        other => panic!("{other:?}"),
    };
    let assertion: Vec<_> = keys(false).assertion.into_iter().map(|key| (key.id, key.key)).collect();
    assert_eq!(assertion, [(2, vec![2; 32]), (1, vec![1; 32])], "the newest first");
    assert_eq!((keys(false).token, keys(true).token), (vec![], vec![4; 32]));
    let stranger = Told { tenants: true, key: Arc::new(GroupKey::new([5; 32])) };
    let Some(Change::Keys(none)) =
        change(&state.whole_map().next().expect("keys"), &stranger).and_then(|c| c.change)
    else {
        panic!("keys come first")
    };
    assert!(none.assertion.is_empty(), "another key opens nothing");
}

#[test]
fn a_router_is_known_by_its_certificate_or_by_what_it_calls_itself() {
    assert_eq!(
        router("r", Some("undercroft:role/router/a".into())).expect("known"),
        "undercroft:role/router/a"
    );
    assert_eq!(router("r", None).expect("known"), "r");
    assert!(router("", None).is_err() && router(&"r".repeat(200), None).is_err());
}

#[test]
fn a_node_is_told_everything_but_tenants() {
    let mut state = serving(2);
    run(&mut state, create(1));
    let (node, router) = (told(&state, false), told(&state, true));
    assert_eq!((node.len(), router.len()), (1 + 3 + 2 + 1, 1 + 3 + 2 + 1 + 1));
    assert!(!node.iter().any(|change| matches!(change, Change::Tenant(_) | Change::TenantGone(_))));
    let Some(Change::Tenant(tenant)) = router.last() else { panic!("{router:?}") };
    assert_eq!((tenant.token_mac.len(), tenant.vault.len(), tenant.read_policy), (32, 16, 1));
    let gone = MapChange::TenantGone(undercroft_proto::TenantId::from_u64(7));
    assert!(change(&gone, &to(false)).is_none() && change(&gone, &to(true)).is_some());
}

#[test]
fn a_new_voter_is_a_learner_while_it_copies_and_wanted_once_it_has() {
    let mut state = crate::state::fixture::with_nodes(serving(1), 4, &[]);
    let shard = undercroft_proto::ShardId::new(1);
    let (add, remove) = (Some(undercroft_proto::NodeId::new(4)), Some(undercroft_proto::NodeId::new(1)));
    let begin = ShardCommand::Begin { shard, add, remove, reason: "a test".into() };
    run(&mut state, crate::state::Command::Shard(begin));
    let of = |state: &State| match told(state, false).into_iter().find(|c| matches!(c, Change::Shard(_))) {
        Some(Change::Shard(shard)) => shard,
        other => panic!("{other:?}"),
    };
    let copying = of(&state);
    assert_eq!((copying.voters, copying.learners, copying.wanted_voters), (vec![1, 2, 3], vec![4], vec![]));
    let switch = ShardCommand::Switch { shard, change: 1, reason: "a test".into() };
    run(&mut state, crate::state::Command::Shard(switch));
    let switching = of(&state);
    assert_eq!(
        (switching.voters, switching.learners, switching.wanted_voters),
        (vec![1, 2, 3], vec![], vec![2, 3, 4])
    );
}

#[test]
fn what_is_missing_or_out_of_bounds_is_named() {
    let error = contact(&wire::HeartbeatRequest::default(), 1).unwrap_err().to_string();
    assert!(error.contains("HeartbeatRequest: field 'load' is missing"), "{error}");
    let load = Some(wire::Load::default());
    let shards = vec![wire::ShardReport::default(); 1025];
    assert!(contact(&wire::HeartbeatRequest { load, shards, ..Default::default() }, 1).is_err());
    assert!(
        report(&wire::Witness { vault: vec![0; 16], digest: vec![0; 32], ..Default::default() }).is_err()
    );
    assert!(job_state(0).is_err() && job_state(4).is_err() && job_state(3).is_ok());
    assert!(known(VERSION).is_ok());
    for version in [0, VERSION + 1] {
        assert_eq!(known(version).unwrap_err().code(), tonic::Code::Unimplemented);
    }
}

proptest! {
    #[test]
    fn no_heartbeat_breaks_the_reader(
        term in any::<u64>(), leader in any::<u64>(), voters in proptest::collection::vec(any::<u64>(), 0..9),
        matched in proptest::collection::vec((any::<u64>(), any::<u64>()), 0..9),
    ) {
        let matched = matched.into_iter().map(|(node, index)| wire::Matched { node, index, version: 1 }).collect();
        let shard = wire::ShardReport { shard: 1, term, leader, voters, matched, ..Default::default() };
        let heartbeat = wire::HeartbeatRequest {
            load: Some(wire::Load::default()), shards: vec![shard], ..Default::default()
        };
        let contact = contact(&heartbeat, 5).unwrap();
        let replica = &contact.replicas[&undercroft_proto::ShardId::new(1)];
        prop_assert!(replica.voters.is_sorted());
        prop_assert_eq!(replica.leader.is_none(), leader == 0);
    }
}
