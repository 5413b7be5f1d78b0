//! What commands about the cluster, its nodes, requests and jobs do and refuse, and what watchers are told.

use undercroft_proto::{ErrorClass, MemberId, NodeId};

use crate::state::fixture::{START, create, founded, join, place, refusal, run, serving, tenant, with_nodes};
use crate::state::*;

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
    let old = Member { id: MemberId::new(2), address: "b:1".into(), speaks: 0, certificate: None };
    let refused = refusal(run(&mut state, Command::Cluster(ClusterCommand::AddMember(old))));
    assert_eq!(refused, Refusal::TooOld { speaks: 0, format: 1 });
    let newer = Member { id: MemberId::new(3), address: "c:1".into(), speaks: 9, certificate: None };
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
    let member = |id| Member { id: MemberId::new(id), address: "b:1".into(), speaks: 1, certificate: None };
    run(&mut state, Command::Cluster(ClusterCommand::AddMember(member(2))));
    run(&mut state, Command::Cluster(ClusterCommand::RemoveMember { member: MemberId::new(2) }));
    let back = refusal(run(&mut state, Command::Cluster(ClusterCommand::AddMember(member(2)))));
    assert_eq!(back.class(), ErrorClass::Conflict);
}

#[test]
fn bad_names_and_addresses_are_refused() {
    let mut state = founded(1, 3);
    for name in ["", " n", "n\n", &"n".repeat(200)] {
        assert_eq!(refusal(run(&mut state, join(name, None, 1))).class(), ErrorClass::Invalid, "{name:?}");
    }
    for address in ["", "host", ":1", "host:0", "host:99999", "ho st:1", "host:1\r"] {
        let Command::Node(NodeCommand::Join { .. }) = join("n", None, 1) else { unreachable!() };
        let member = Member { id: MemberId::new(5), address: address.into(), speaks: 1, certificate: None };
        let refused = refusal(run(&mut state, Command::Cluster(ClusterCommand::AddMember(member))));
        assert_eq!(refused.class(), ErrorClass::Invalid, "{address:?}");
    }
    assert_eq!(state.nodes().iter().count(), 0);
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

#[test]
fn watchers_are_told_each_version_once_and_the_changes_make_the_map() {
    let mut state = serving(2);
    let mut copy: std::collections::BTreeMap<String, MapChange> = std::collections::BTreeMap::new();
    let name = |change: &MapChange| match change {
        MapChange::Keys(_) => ("k".to_owned(), true),
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
