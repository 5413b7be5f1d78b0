//! What holds after any sequence of commands, and how entries and states are read back.

use proptest::prelude::*;
use undercroft_proto::{NodeId, ShardId, TokenMac};

use crate::state::fixture::{
    START, begin_move, create, decide_move, founded, health, join, place, report, run, serving, tenant,
    vault_of,
};
use crate::state::*;

#[test]
fn a_batch_reads_back_and_damage_or_a_newer_version_is_told_apart() {
    let batch = Batch::of(START, [create(1), place(1, &[1, 2]), health(1, Health::Dead)]);
    let bytes = batch.encode().expect("bytes");
    assert_eq!(Batch::decode(&bytes).expect("a batch"), batch);
    let mut newer = bytes.clone();
    newer[0] = 2;
    assert!(matches!(Batch::decode(&newer), Err(crate::Error::Version { found: 2, known: 1, .. })));
    for damaged in [&bytes[..3], &bytes[..bytes.len() - 1], &[bytes.as_slice(), &[0]].concat()] {
        assert!(matches!(Batch::decode(damaged), Err(crate::Error::Unreadable { .. })));
    }
    let many = Batch::of(START, std::iter::repeat_n(create(1), 1025));
    assert!(matches!(many.encode(), Err(crate::Error::BatchTooLarge { commands: 1025, .. })));
}

#[test]
fn commands_keep_their_bytes() {
    let batch = Batch::of(5, [health(3, Health::Dead), place(2, &[1])]);
    let expected =
        "01000000050200010103020e612074657374207361797320736f0002000201010e612074657374207361797320736f";
    assert_eq!(
        hex::encode(batch.encode().expect("bytes")),
        expected,
        "a member of an older build must still read it"
    );
}

#[test]
fn a_state_reads_back_from_its_bytes_and_a_contradiction_does_not() {
    let mut state = serving(2);
    let id = tenant(&mut state, 1);
    let vault = vault_of(&state, id).id;
    run(&mut state, report(vault, 1, 5, 1));
    let bytes = state.encode().expect("bytes");
    assert_eq!(State::decode(&bytes).expect("a state"), state);
    for cut in [0, 3, bytes.len() / 2, bytes.len() - 1] {
        assert!(State::decode(&bytes[..cut]).is_err(), "cut at {cut}");
    }
    assert!(matches!(State::decode(&[9, 0, 0, 0, 0]), Err(crate::Error::Version { .. })));
    state.vaults.drop(vault, 0);
    let contradicting = state.encode().expect("bytes");
    assert!(matches!(State::decode(&contradicting), Err(crate::Error::Invariant(_))));
}

/// Any command, about few enough things that they meet.
fn any_command() -> impl Strategy<Value = Command> {
    let node = || 1_u64..7;
    let opt = || proptest::option::of(1_u64..7);
    let any_shard = |command: fn(ShardId, u64, NodeId) -> ShardCommand| {
        (1_u32..4, 0_u64..5, 1_u64..7).prop_map(move |(shard, number, node)| {
            Command::Shard(command(ShardId::new(shard), number, NodeId::new(node)))
        })
    };
    prop_oneof![
        (0_u64..6, 0_u8..3).prop_map(|(name, journal)| join(&format!("n{name}"), None, journal)),
        (node(), any::<bool>()).prop_map(|(id, up)| health(id, if up { Health::Live } else { Health::Dead })),
        (node(), any::<bool>()).prop_map(|(id, drained)| {
            Command::Node(NodeCommand::Drain { node: NodeId::new(id), drained, reason: String::new() })
        }),
        node().prop_map(|id| Command::Node(NodeCommand::Remove { node: NodeId::new(id) })),
        (1_u32..4, proptest::collection::vec(1_u64..7, 1..4))
            .prop_map(|(shard, voters)| place(shard, &voters)),
        (1_u32..4, opt(), opt()).prop_map(|(id, add, remove)| {
            let (add, remove) = (add.map(NodeId::new), remove.map(NodeId::new));
            Command::Shard(ShardCommand::Begin {
                shard: ShardId::new(id),
                add,
                remove,
                reason: String::new(),
            })
        }),
        any_shard(|shard, change, _| ShardCommand::Switch { shard, change, reason: String::new() }),
        any_shard(|shard, change, _| ShardCommand::Finish { shard, change, reason: String::new() }),
        any_shard(|shard, change, _| ShardCommand::Abort { shard, change, reason: String::new() }),
        any_shard(|shard, term, node| ShardCommand::Leader { shard, leader: Leader { node, term } }),
        any_shard(|shard, _, node| ShardCommand::Prefer { shard, node: Some(node), reason: String::new() }),
        any_shard(|shard, number, node| {
            ShardCommand::Learner { shard, node, present: number % 2 == 0, reason: String::new() }
        }),
        (0_u64..12).prop_map(create),
        (0_u8..6, 0_u64..8).prop_map(|(kind, number)| about_a_tenant(kind, number)),
    ]
}

/// A command about the tenant that was created as the `number`th, or about its vault.
fn about_a_tenant(kind: u8, number: u64) -> Command {
    let tenant = undercroft_proto::TenantId::from_count(number, 11);
    Command::Tenant(match kind {
        0 => TenantCommand::Delete { tenant },
        1 => TenantCommand::Revoke { tenant },
        2 => TenantCommand::Rotate { tenant, token: TokenMac::from_bytes([number as u8 + 100; 32]) },
        3 => TenantCommand::Limits { tenant, limits: Limits { drawers: Some(number), ..Limits::default() } },
        4 => TenantCommand::Read { tenant, read: ReadPolicy::Eventual { lag_ms: 5 } },
        _ => TenantCommand::Credential { tenant, sealed: Some(vec![1].into()) },
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn after_any_commands_every_invariant_holds_and_what_grows_grew(
        commands in proptest::collection::vec(any_command(), 1..120),
        moves in proptest::collection::vec((any::<prop::sample::Index>(), 1_u32..4, any::<bool>()), 0..8),
    ) {
        let mut state = founded(3, 3);
        for (at, command) in commands.into_iter().enumerate() {
            let before = state.clone();
            let outcome = run(&mut state, command.clone());
            invariants::all(&state).map_err(|error| TestCaseError::fail(format!("{error} after {command:?}")))?;
            invariants::growth(&before, &state).map_err(|error| TestCaseError::fail(error.to_string()))?;
            if outcome.refusal().is_some() {
                let mut same = before.clone();
                same.now = state.now;
                prop_assert_eq!(&same, &state, "a refusal changed something: {:?} {:?}", command, outcome);
            }
            if let Some((which, to, flip)) = moves.get(at % 9)
                && !state.tenants().is_empty()
            {
                let ids: Vec<_> = state.vaults().iter().map(|vault| vault.id).collect();
                let vault = *which.get(&ids);
                if let Outcome::Move(id) = run(&mut state, begin_move(vault, *to)) {
                    run(&mut state, decide_move(vault, id.get(), *flip));
                }
            }
        }
        let bytes = state.encode().unwrap();
        prop_assert_eq!(State::decode(&bytes).unwrap(), state);
    }

    #[test]
    fn the_same_entries_make_the_same_state_in_any_build(commands in proptest::collection::vec(any_command(), 1..40)) {
        let (mut one, mut other) = (founded(3, 3), founded(3, 3));
        for command in commands {
            let batch = Batch::of(one.now() + 1, [command]);
            let read = Batch::decode(&batch.encode().unwrap()).unwrap();
            prop_assert_eq!(one.apply(&batch), other.apply(&read));
        }
        prop_assert_eq!(one.encode().unwrap(), other.encode().unwrap());
    }

    #[test]
    fn no_bytes_make_reading_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        let mut versioned = vec![1, 0, 0, 0];
        versioned.extend(&bytes);
        let _ = Batch::decode(&bytes);
        let _ = Batch::decode(&versioned);
        let _ = State::decode(&versioned);
    }
}
