//! What commands do and refuse, and what holds after any sequence of them.

use proptest::prelude::*;
use undercroft_proto::{
    Epoch, ErrorClass, Height, Incarnation, MemberId, MoveId, NodeId, Position, ShardId, TokenMac,
};

use crate::state::fixture::{START, create, founded, health, join, place, run, serving, tenant, with_nodes};
use crate::state::*;

fn refusal(outcome: Outcome) -> Refusal {
    match outcome {
        Outcome::Refused(refusal) => refusal,
        other => panic!("not refused: {other:?}"),
    }
}

fn vault_of(state: &State, tenant: undercroft_proto::TenantId) -> Vault {
    let tenant = state.tenants().get(tenant).expect("the tenant");
    state.vaults().get(tenant.vault).expect("its vault").clone()
}

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
fn a_cluster_is_founded_once() {
    let mut state = founded(4, 3);
    assert_eq!(state.shards().iter().count(), 4);
    let settings = state.cluster().settings().expect("settings").clone();
    let again = Command::Cluster(ClusterCommand::Initialise { settings, shards: 9 });
    assert_eq!(refusal(run(&mut state, again)), Refusal::Initialised);
    assert_eq!(state.shards().iter().count(), 4);
}

#[test]
fn nothing_is_created_before_the_cluster_is_founded_or_without_replicas() {
    assert_eq!(refusal(run(&mut State::default(), create(1))), Refusal::NotInitialised);
    assert_eq!(refusal(run(&mut founded(4, 3), create(1))), Refusal::NoShard);
}

#[test]
fn a_newer_command_waits_for_the_last_member() {
    let mut state = founded(1, 3);
    let old = Member { id: MemberId::new(2), address: "b:1".into(), speaks: 0 };
    let refused = refusal(run(&mut state, Command::Cluster(ClusterCommand::AddMember(old))));
    assert_eq!(refused, Refusal::TooOld { speaks: 0, format: 1 });
    let newer = Member { id: MemberId::new(3), address: "c:1".into(), speaks: 9 };
    assert_eq!(
        run(&mut state, Command::Cluster(ClusterCommand::AddMember(newer))),
        Outcome::Member(MemberId::new(3))
    );
    assert_eq!(state.cluster().format(), 1);
    let gone = Command::Cluster(ClusterCommand::RemoveMember { member: MemberId::new(1) });
    assert_eq!(run(&mut state, gone), Outcome::Member(MemberId::new(1)));
    assert_eq!(state.cluster().format(), 9);
}

#[test]
fn a_removed_member_stays_removed() {
    let mut state = founded(1, 3);
    let member = |id| Member { id: MemberId::new(id), address: "b:1".into(), speaks: 1 };
    run(&mut state, Command::Cluster(ClusterCommand::AddMember(member(2))));
    run(&mut state, Command::Cluster(ClusterCommand::RemoveMember { member: MemberId::new(2) }));
    let back = refusal(run(&mut state, Command::Cluster(ClusterCommand::AddMember(member(2)))));
    assert_eq!(back.class(), ErrorClass::Conflict);
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

#[test]
fn bad_names_and_addresses_are_refused() {
    let mut state = founded(1, 3);
    for name in ["", " n", "n\n", &"n".repeat(200)] {
        assert_eq!(refusal(run(&mut state, join(name, None, 1))).class(), ErrorClass::Invalid, "{name:?}");
    }
    for address in ["", "host", ":1", "host:0", "host:99999", "ho st:1", "host:1\r"] {
        let Command::Node(NodeCommand::Join { .. }) = join("n", None, 1) else { unreachable!() };
        let member = Member { id: MemberId::new(5), address: address.into(), speaks: 1 };
        let refused = refusal(run(&mut state, Command::Cluster(ClusterCommand::AddMember(member))));
        assert_eq!(refused.class(), ErrorClass::Invalid, "{address:?}");
    }
    assert_eq!(state.nodes().iter().count(), 0);
}

#[test]
fn a_node_with_replicas_is_not_removed() {
    let mut state = serving(1);
    let remove = Command::Node(NodeCommand::Remove { node: NodeId::new(1) });
    assert!(matches!(refusal(run(&mut state, remove)), Refusal::InUse { .. }));
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
fn new_vaults_go_where_there_are_fewest() {
    let mut state = serving(3);
    for number in 0..9 {
        tenant(&mut state, number);
    }
    assert!((1..=3).all(|shard| state.vaults().count(ShardId::new(shard)) == 3));
}

#[test]
fn a_token_that_was_replaced_or_revoked_opens_nothing() {
    let mut state = serving(1);
    let id = tenant(&mut state, 1);
    let old = state.tenants().get(id).and_then(|tenant| tenant.token).expect("a token");
    let new = TokenMac::from_bytes([8; 32]);
    run(&mut state, Command::Tenant(TenantCommand::Rotate { tenant: id, token: new }));
    assert!(state.tenants().of_token(&old).is_none());
    assert_eq!(state.tenants().of_token(&new).map(|tenant| tenant.id), Some(id));
    let other = tenant(&mut state, 2);
    let same = Command::Tenant(TenantCommand::Rotate { tenant: other, token: new });
    assert_eq!(refusal(run(&mut state, same)), Refusal::TokenInUse);
    run(&mut state, Command::Tenant(TenantCommand::Revoke { tenant: id }));
    assert!(state.tenants().of_token(&new).is_none());
}

#[test]
fn a_tenant_that_is_deleted_and_created_again_is_another_tenant_with_another_vault() {
    let mut state = serving(1);
    let first = tenant(&mut state, 1);
    let vault = vault_of(&state, first).id;
    run(&mut state, Command::Tenant(TenantCommand::Delete { tenant: first }));
    assert!(state.vaults().get(vault).is_none());
    let second = tenant(&mut state, 1);
    assert!(second != first && vault_of(&state, second).id > vault);
    let begin = VaultCommand::BeginMove { vault, to: ShardId::new(1), reason: String::new() };
    assert_eq!(refusal(run(&mut state, Command::Vault(begin))).class(), ErrorClass::NotFound);
}

#[test]
fn a_clock_that_goes_back_brings_no_old_id_and_no_old_time() {
    let mut state = serving(1);
    let first = tenant(&mut state, 1);
    let highest = vault_of(&state, first).id;
    let now = state.now();
    let outcome = state.apply(&Batch::of(START - 3_600_000, [create(2)])).outcomes.remove(0);
    let Outcome::Tenant { vault, .. } = outcome else { panic!("{outcome:?}") };
    assert!(vault > highest && state.now() == now);
}

#[test]
fn a_request_asked_again_is_answered_and_not_done_again() {
    let mut state = serving(1);
    let request = Request { id: [1; 32], digest: [2; 32] };
    let step = Step { request: Some(request), command: create(1) };
    let batch = Batch { at: START + 10, steps: vec![step.clone(), step.clone()] };
    let applied = state.apply(&batch);
    assert_eq!(applied.outcomes[0], applied.outcomes[1]);
    assert_eq!(state.tenants().len(), 1);
    let other = Step { request: Some(Request { digest: [3; 32], ..request }), command: create(2) };
    let outcome = state.apply(&Batch { at: START + 11, steps: vec![other] }).outcomes.remove(0);
    assert_eq!(refusal(outcome), Refusal::RequestReused);
    assert_eq!(state.tenants().len(), 1);
    // A day later the key is fresh: the name is what is in the way now.
    let again = state.apply(&Batch { at: START + 2 * 86_400_000, steps: vec![step] }).outcomes.remove(0);
    assert!(matches!(refusal(again), Refusal::Exists { .. }));
}

#[test]
fn a_refusal_is_not_remembered() {
    let mut state = founded(1, 3);
    let step = Step { request: Some(Request { id: [1; 32], digest: [2; 32] }), command: create(1) };
    let batch = Batch { at: START + 10, steps: vec![step] };
    assert_eq!(refusal(state.apply(&batch).outcomes.remove(0)), Refusal::NoShard);
    let mut state = with_nodes(state, 3, &[]);
    run(&mut state, place(1, &[1, 2, 3]));
    assert!(matches!(state.apply(&batch).outcomes[0], Outcome::Tenant { .. }));
}

fn begin_move(vault: undercroft_proto::VaultId, to: u32) -> Command {
    Command::Vault(VaultCommand::BeginMove { vault, to: ShardId::new(to), reason: String::new() })
}

fn decide_move(vault: undercroft_proto::VaultId, id: u64, flip: bool) -> Command {
    Command::Vault(VaultCommand::DecideMove { vault, id: MoveId::new(id), flip, reason: String::new() })
}

#[test]
fn a_move_is_decided_once_and_gives_a_fresh_epoch_either_way() {
    let mut state = serving(2);
    let id = tenant(&mut state, 1);
    let vault = vault_of(&state, id).id;
    assert_eq!(run(&mut state, begin_move(vault, 2)), Outcome::Move(MoveId::new(1)));
    assert!(matches!(refusal(run(&mut state, begin_move(vault, 2))), Refusal::Busy { .. }));
    assert!(matches!(refusal(run(&mut state, decide_move(vault, 7, true))), Refusal::Stale { .. }));
    assert_eq!(run(&mut state, decide_move(vault, 1, false)), Outcome::Epoch(Epoch::new(2)));
    assert_eq!(vault_of(&state, id).shard, ShardId::new(1));
    run(&mut state, begin_move(vault, 2));
    assert_eq!(run(&mut state, decide_move(vault, 2, true)), Outcome::Epoch(Epoch::new(3)));
    assert!(
        matches!(refusal(run(&mut state, decide_move(vault, 2, false))), Refusal::Stale { .. }),
        "decided"
    );
    assert_eq!(vault_of(&state, id).shard, ShardId::new(2));
    assert_eq!((state.vaults().count(ShardId::new(1)), state.vaults().count(ShardId::new(2))), (0, 1));
}

#[test]
fn generations_count_up_in_the_present_life_and_outlive_the_vault() {
    let mut state = serving(1);
    let id = tenant(&mut state, 1);
    let vault = vault_of(&state, id).id;
    let add = |incarnation, number| {
        let sealed = vec![number as u8].into();
        let generation = Generation { incarnation: Incarnation::new(incarnation), number, sealed };
        Command::Vault(VaultCommand::AddGeneration { vault, generation })
    };
    let below = |below| Command::Vault(VaultCommand::DropGenerations { vault, below, reason: String::new() });
    assert_eq!(run(&mut state, add(1, 1)), Outcome::Done);
    assert!(matches!(refusal(run(&mut state, add(1, 1))), Refusal::Stale { .. }));
    assert!(matches!(refusal(run(&mut state, add(1, 3))), Refusal::Stale { .. }));
    assert!(matches!(refusal(run(&mut state, add(2, 2))), Refusal::Stale { .. }));
    assert_eq!(run(&mut state, add(1, 2)), Outcome::Done);
    assert!(matches!(refusal(run(&mut state, below(3))), Refusal::Field { .. }), "the newest is in use");
    assert_eq!(run(&mut state, below(2)), Outcome::Done);
    let revive = Command::Vault(VaultCommand::Revive { vault, reason: String::new() });
    assert_eq!(run(&mut state, revive), Outcome::Incarnation(Incarnation::new(2)));
    assert_eq!(run(&mut state, add(2, 3)), Outcome::Done);
    run(&mut state, Command::Tenant(TenantCommand::Delete { tenant: id }));
    let kept = state.vaults().dropped().next().expect("kept");
    assert_eq!((kept.0, kept.1.generations.len()), (vault, 2));
    assert_eq!(run(&mut state, Command::Vault(VaultCommand::Destroy { vault })), Outcome::Done);
    assert_eq!(state.vaults().dropped().count(), 0);
}

#[test]
fn jobs_go_step_by_step_and_end_once() {
    let mut state = serving(1);
    let create = JobCommand::Create { kind: "purge".into(), vault: None, steps: 2 };
    let Outcome::Job(job) = run(&mut state, Command::Job(create)) else { panic!("no job") };
    let report = |step, stands| {
        let (node, message) = (NodeId::new(1), "so far".to_owned());
        Command::Job(JobCommand::Report { job, step, node, progress: (1, 2), state: stands, message })
    };
    assert_eq!(run(&mut state, report(0, JobState::Done)), Outcome::Job(job));
    assert!(matches!(refusal(run(&mut state, report(0, JobState::Done))), Refusal::Stale { .. }));
    assert_eq!(state.jobs().get(job).map(|job| (job.step, job.state)), Some((1, JobState::Waiting)));
    run(&mut state, report(1, JobState::Done));
    assert_eq!(state.jobs().get(job).map(|job| job.state), Some(JobState::Done));
    assert!(matches!(
        refusal(run(&mut state, Command::Job(JobCommand::Withdraw { job }))),
        Refusal::Stale { .. }
    ));
}

fn report(vault: undercroft_proto::VaultId, incarnation: u64, height: u64, digest: u8) -> Command {
    let position = Position { incarnation: Incarnation::new(incarnation), height: Height::new(height) };
    let report = Report { vault, position, digest: [digest; 32], head: [0; 32], log_id: (1, height) };
    Command::Witness(WitnessCommand::Report {
        shard: ShardId::new(1),
        reporter: NodeId::new(2),
        reports: vec![report],
    })
}

#[test]
fn two_digests_at_one_height_are_told_and_the_first_one_stays() {
    let mut state = serving(1);
    let id = tenant(&mut state, 1);
    let vault = vault_of(&state, id).id;
    let kept = |kept, conflicting: &[_]| Outcome::Witnessed { kept, conflicting: conflicting.to_vec() };
    assert_eq!(run(&mut state, report(vault, 1, 5, 1)), kept(1, &[]));
    assert_eq!(run(&mut state, report(vault, 1, 5, 1)), kept(0, &[]), "said again");
    assert_eq!(run(&mut state, report(vault, 1, 4, 9)), kept(0, &[]), "on its way for long");
    assert_eq!(run(&mut state, report(vault, 2, 9, 9)), kept(0, &[]), "not this life");
    let before = state.decisions().count();
    assert_eq!(run(&mut state, report(vault, 1, 5, 2)), kept(0, &[vault]));
    assert_eq!(state.decisions().count(), before + 1);
    assert_eq!(state.witnesses().of(vault)[0].digest, [1; 32]);
    assert_eq!(witnessed_height(state.witnesses().of(vault), Incarnation::new(1)), Some(Height::new(5)));
}

#[test]
fn witnesses_are_thinned_to_one_a_day_and_never_below_the_newest() {
    let mut state = serving(1);
    let id = tenant(&mut state, 1);
    let vault = vault_of(&state, id).id;
    for hour in 0..24 * 20 {
        let at = START + hour * 3_600_000;
        state.apply(&Batch::of(at, [report(vault, 1, hour + 1, 1)]));
    }
    let list = state.witnesses().of(vault);
    assert_eq!(list.len(), 8, "seven days and today");
    assert_eq!(broken_at(vault, list), None);
    let mut pair = list[..1].to_vec();
    pair.push(Witness { number: pair[0].number + 1, previous: pair[0].hash(vault), ..list[1].clone() });
    assert_eq!(broken_at(vault, &pair), None);
    pair[0].digest = [9; 32];
    assert_eq!(broken_at(vault, &pair), Some(pair[1].number));
    // After a year without a write the newest is still there.
    state.apply(&Batch::of(START + 400 * 86_400_000, [report(vault, 1, 9_999, 1)]));
    assert_eq!(state.witnesses().of(vault).len(), 1);
}

#[test]
fn watchers_are_told_each_version_once_and_the_changes_make_the_map() {
    let mut state = serving(2);
    let mut copy: std::collections::BTreeMap<String, MapChange> = std::collections::BTreeMap::new();
    let name = |change: &MapChange| match change {
        MapChange::Node(node) => (format!("n{}", node.id), true),
        MapChange::NodeGone(id) => (format!("n{id}"), false),
        MapChange::Shard(shard) => (format!("s{}", shard.id), true),
        MapChange::Vault(vault) => (format!("v{}", vault.id), true),
        MapChange::VaultGone(id) => (format!("v{id}"), false),
        MapChange::Tenant(tenant) => (format!("t{}", tenant.id), true),
        MapChange::TenantGone(id) => (format!("t{id}"), false),
    };
    let mut put = |change: MapChange| {
        let (key, there) = name(&change);
        if there {
            copy.insert(key, change)
        } else {
            copy.remove(&key)
        };
        copy.len()
    };
    state.whole_map().for_each(|change| {
        put(change);
    });
    let first = tenant(&mut state, 1);
    state.whole_map().for_each(|change| {
        put(change);
    });
    let version = state.version();
    let applied = state.apply(&Batch::of(START + 99, [create(2), create(3)]));
    let delta = applied.delta.expect("a delta");
    assert_eq!((delta.version, delta.changes.len()), (version + 1, 4));
    delta.changes.into_iter().for_each(|change| {
        put(change);
    });
    let applied =
        state.apply(&Batch::of(START + 99, [Command::Tenant(TenantCommand::Delete { tenant: first })]));
    let count = applied.delta.expect("a delta").changes.into_iter().map(put).last();
    assert_eq!(count, Some(state.whole_map().count()));
    let refused = state.apply(&Batch::of(START + 99, [create(2)]));
    assert_eq!(refused.delta, None, "a refusal changes nothing");
}

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
