//! What nodes and members of a fleet see of the control plane: joining, heartbeats, forwarding, placement, jobs, members.

mod support;

use std::collections::BTreeSet;

use support::{Fleet, PATIENCE, heartbeat, joining};
use tonic::Code;
use undercroft_control_plane::Error;
use undercroft_control_plane::process::{Options, Server};
use undercroft_control_plane::state::{
    ClusterCommand, Command, JobCommand, JobState, Level, Limits, NodeState, Outcome, ReadPolicy, Refusal,
    Request, TenantCommand,
};
use undercroft_proto::wire::VERSION;
use undercroft_proto::wire::control as wire;
use undercroft_proto::{MemberId, NodeId, TokenMac, VaultId};

fn tenant(name: &str, token: u8) -> Command {
    Command::Tenant(TenantCommand::Create {
        name: name.into(),
        token: TokenMac::from_bytes([token; 32]),
        level: Level::Sealed,
        limits: Limits::default(),
        read: ReadPolicy::Strong,
        random: token.into(),
        shard: None,
    })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_joins_through_any_member_and_only_with_the_fleets_key() {
    let fleet = Fleet::new(3, 1, 1).await;
    let follower = fleet.follower().await;
    let first = fleet.join(follower, "a").await;
    assert_eq!(fleet.join(fleet.leader().await, "a").await, first, "the same node through another member");
    let mut client = fleet.client(follower);
    let forged = joining(&mut client, "b", &[1; 32]).await;
    let refused = client.join(forged).await.expect_err("another master key");
    assert_eq!(refused.code(), Code::PermissionDenied);
    assert!(refused.message().contains("fleet's key file"), "{refused}");
    let good = joining(&mut client, "b", &support::MASTER).await;
    let renamed = wire::JoinRequest { name: "c".into(), ..good.clone() };
    assert_eq!(client.join(renamed).await.expect_err("altered").code(), Code::PermissionDenied);
    assert_eq!(client.join(good).await.expect_err("used").code(), Code::PermissionDenied);
    let good = joining(&mut client, "b", &support::MASTER).await;
    client.join(good.clone()).await.expect("joined");
    assert_eq!(client.join(good).await.expect_err("once").code(), Code::PermissionDenied);
    let old = wire::ChallengeRequest { version: VERSION + 1, name: "d".into() };
    assert_eq!(client.challenge(old).await.expect_err("newer").code(), Code::Unimplemented);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nodes_that_are_heard_are_given_the_shards() {
    let fleet = Fleet::new(3, 4, 3).await;
    let nodes: BTreeSet<NodeId> = fleet.nodes(&["a", "b", "c"]).await.into_iter().collect();
    fleet
        .until("every shard is placed at every member", |server| {
            server.desk().member.map().read(|state| {
                let placed = |voters: &[NodeId]| voters.iter().copied().collect::<BTreeSet<_>>() == nodes;
                state.nodes().iter().all(|node| node.state() == NodeState::Live)
                    && state.shards().iter().all(|shard| placed(&shard.voters) && shard.preferred.is_some())
            })
        })
        .await;
    let reasons = fleet
        .member(1)
        .desk()
        .member
        .map()
        .read(|state| state.decisions().iter().filter(|decision| decision.reason.is_empty()).count());
    assert_eq!(reasons, 0, "every decision has its reason");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_heartbeat_reaches_the_leader_through_a_follower_and_strangers_are_told() {
    let fleet = Fleet::new(3, 1, 1).await;
    let follower = fleet.follower().await;
    let node = fleet.join(follower, "a").await;
    let mut client = fleet.client(follower);
    let reply = client.heartbeat(heartbeat(node)).await.expect("heard").into_inner();
    assert!(reply.map_version > 0);
    let seen =
        fleet.member(fleet.leader().await).lead().look(|_| true, |observed| observed.contact(node).cloned());
    assert!(seen.flatten().is_some(), "the leader saw it");
    assert!(!fleet.member(follower).lead().leads());
    let stranger = client.heartbeat(heartbeat(NodeId::new(99))).await.expect_err("no such node");
    assert_eq!(stranger.code(), Code::NotFound);
    let empty = wire::HeartbeatRequest { load: None, ..heartbeat(node) };
    assert_eq!(client.heartbeat(empty).await.expect_err("no load").code(), Code::InvalidArgument);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_follower_is_asked_is_done_once_and_shown_there() {
    let fleet = Fleet::new(3, 1, 1).await;
    fleet.nodes(&["a"]).await;
    fleet
        .until("the shard is placed", |server| {
            server
                .desk()
                .member
                .map()
                .read(|state| state.shards().iter().all(|shard| !shard.voters.is_empty()))
        })
        .await;
    let desk = fleet.member(fleet.follower().await).desk();
    let request = Request { id: [1; 32], digest: [2; 32] };
    let first = desk.under(request, tenant("one", 1)).await.expect("an outcome");
    assert!(matches!(first, Outcome::Tenant { .. }), "{first:?}");
    assert_eq!(desk.member.map().read(|state| state.tenants().len()), 1, "shown where it was asked");
    assert_eq!(desk.under(request, tenant("one", 1)).await.expect("again"), first, "one effect");
    let other = Request { digest: [3; 32], ..request };
    let reused = desk.under(other, tenant("two", 2)).await.expect("an outcome");
    assert_eq!(reused.refusal(), Some(&Refusal::RequestReused));
    let taken = desk.once(tenant("one", 3)).await.expect("an outcome");
    assert!(matches!(taken.refusal(), Some(Refusal::Exists { .. })), "{taken:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn decisions_go_on_when_the_leader_is_gone_and_each_is_made_once() {
    let mut fleet = Fleet::new(3, 1, 1).await;
    let leader = fleet.leader().await;
    let job = || Command::Job(JobCommand::Create { kind: "purge".into(), vault: None, steps: 1 });
    let desk = fleet.member(fleet.follower().await).desk().clone();
    let asking = tokio::spawn(async move {
        let mut made = BTreeSet::new();
        for _ in 0..60 {
            match desk.once(job()).await.expect("an outcome") {
                Outcome::Job(id) => made.insert(id),
                other => panic!("{other:?}"),
            };
        }
        made
    });
    fleet.members.remove(&leader).expect("it runs").kill().await;
    let made = asking.await.expect("it ended");
    assert_eq!(made.len(), 60, "no two answers name one job");
    fleet
        .until("both have every job", |server| {
            server.desk().member.map().read(|state| state.jobs().iter().count()) == 60
        })
        .await;
    fleet.start(leader).await;
    fleet
        .until("the old leader has them as well", |server| {
            server.desk().member.map().read(|state| state.jobs().iter().count()) == 60
        })
        .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_removed_member_leaves_the_group_and_another_enters_under_a_new_id() {
    let mut fleet = Fleet::new(3, 1, 1).await;
    let gone = fleet.follower().await;
    let remove = Command::Cluster(ClusterCommand::RemoveMember { member: MemberId::new(gone) });
    assert_eq!(fleet.decide(remove).await, Outcome::Member(MemberId::new(gone)));
    let removed = fleet.members.remove(&gone).expect("it runs");
    fleet.until("two are left", |server| server.desk().member.group().len() == 2).await;
    // It keeps talking, and nobody minds.
    fleet.start(4).await;
    fleet
        .until("the new one votes", |server| {
            let group = server.desk().member.group();
            group.len() == 3 && group.iter().all(|(id, _, votes)| *votes && *id != MemberId::new(gone))
        })
        .await;
    let told = async {
        while removed.desk().member.fault().is_none_or(|fault| !fault.contains("was removed")) {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(PATIENCE, told).await.expect("it learns of it");
    assert!(removed.desk().member.leader().is_none(), "it hears no leader any more");
    let late = removed.desk().once(tenant("late", 9)).await;
    assert!(matches!(late, Err(Error::Removed)), "{late:?}");
    removed.stop().await;
    let job = Command::Job(JobCommand::Create { kind: "purge".into(), vault: None, steps: 1 });
    assert!(matches!(fleet.decide(job).await, Outcome::Job(_)));
}

/// A member whose folder was lost, started without `--join`: it founds a group of its own, under the same id and address.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_member_that_lost_its_folder_and_founds_another_group_is_never_merged() {
    let mut fleet = Fleet::new(3, 1, 1).await;
    let job = || Command::Job(JobCommand::Create { kind: "purge".into(), vault: None, steps: 1 });
    let jobs = |server: &Server| server.desk().member.map().read(|state| state.jobs().iter().count());
    assert!(matches!(fleet.decide(job()).await, Outcome::Job(_)));
    fleet.members.remove(&1).expect("it runs").kill().await;
    std::fs::rename(fleet.folder().join("1"), fleet.folder().join("lost")).expect("renamed");
    let options = Options { join: Vec::new(), ..fleet.options(1) };
    let fresh = Server::start(options).await.expect("a member");
    assert_eq!(fresh.desk().member.id(), MemberId::FIRST);
    let old = fleet.leader().await;
    let group = fleet.member(old).desk().member.group_id();
    assert_ne!(fresh.desk().member.group_id(), group);
    for _ in 0..20 {
        assert!(matches!(fleet.decide(job()).await, Outcome::Job(_)));
    }
    assert_eq!(jobs(&fresh), 0, "it took nothing");
    assert_eq!(fresh.desk().member.group().len(), 1, "it is alone");
    assert!(fresh.desk().member.leads() && fresh.desk().member.fault().is_none());
    // Whoever is of the old group and asks it, and the other way round, is refused by name.
    let own = fresh.desk().member.group_id();
    for (number, said) in [(1, group), (old, own)] {
        let mut call = tonic::Request::new(wire::ProposeRequest { version: VERSION, batch: vec![1] });
        call.metadata_mut().insert("undercroft-group", said.to_string().parse().expect("text"));
        let refused = fleet.client(number).propose(call).await.expect_err("another group");
        assert_eq!(refused.code(), Code::FailedPrecondition, "{refused}");
        assert!(refused.message().contains(&said.to_string()), "{refused}");
    }
    assert_eq!(jobs(fleet.member(fleet.leader().await)), 21);
    fresh.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_step_of_a_job_goes_to_one_node_until_it_is_done() {
    let fleet = Fleet::new(1, 1, 1).await;
    let nodes = fleet.nodes(&["a", "b"]).await;
    let job = Command::Job(JobCommand::Create { kind: "purge".into(), vault: None, steps: 2 });
    assert!(matches!(fleet.decide(job).await, Outcome::Job(_)));
    let mut client = fleet.client(1);
    let ask = |node: NodeId| wire::JobStepsRequest { version: VERSION, node: node.get(), most: 9 };
    let taken = client.take_job_steps(ask(nodes[0])).await.expect("steps").into_inner().steps;
    assert_eq!((taken.len(), taken[0].step, taken[0].kind.as_str()), (1, 0, "purge"));
    let other = client.take_job_steps(ask(nodes[1])).await.expect("steps").into_inner().steps;
    assert!(other.is_empty(), "one node does it: {other:?}");
    let again = client.take_job_steps(ask(nodes[0])).await.expect("steps").into_inner().steps;
    assert_eq!(again.len(), 1, "who has it is told again");
    let report = |step: u32, state: u32| wire::JobStepReport {
        version: VERSION,
        node: nodes[0].get(),
        job: taken[0].job,
        step,
        done: 1,
        total: 1,
        state,
        message: "copied".into(),
    };
    assert!(client.report_job_step(report(0, 7)).await.is_err(), "no such state");
    assert!(!client.report_job_step(report(0, 2)).await.expect("kept").into_inner().stop);
    assert!(client.report_job_step(report(0, 1)).await.expect("told").into_inner().stop, "step 1 is due");
    let next = client.take_job_steps(ask(nodes[1])).await.expect("steps").into_inner().steps;
    assert_eq!((next.len(), next[0].step), (1, 1), "the next step is anybody's");
    let done = wire::JobStepReport { node: nodes[1].get(), ..report(1, 2) };
    assert!(!client.report_job_step(done).await.expect("kept").into_inner().stop);
    let ended = fleet
        .member(1)
        .desk()
        .member
        .map()
        .read(|state| state.jobs().iter().all(|j| j.state == JobState::Done));
    assert!(ended);
    let stranger = client.take_job_steps(ask(NodeId::new(99))).await.expect_err("no such node");
    assert_eq!(stranger.code(), Code::NotFound);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_witness_that_contradicts_an_earlier_one_is_reported() {
    let fleet = Fleet::new(1, 1, 1).await;
    let node = fleet.nodes(&["a"]).await[0];
    fleet
        .until("the shard is placed", |server| {
            server
                .desk()
                .member
                .map()
                .read(|state| state.shards().iter().all(|shard| !shard.voters.is_empty()))
        })
        .await;
    let Outcome::Tenant { vault, .. } = fleet.decide(tenant("one", 1)).await else { panic!("no tenant") };
    let mut client = fleet.client(1);
    let report = |vault: VaultId, height: u64, digest: u8| wire::WitnessesRequest {
        version: VERSION,
        node: node.get(),
        shard: 1,
        witnesses: vec![wire::Witness {
            vault: undercroft_proto::wire::vault_bytes(vault),
            incarnation: 1,
            height,
            digest: vec![digest; 32],
            head: vec![0; 32],
            log_term: 1,
            log_index: height,
            version: VERSION,
        }],
    };
    for height in [5, 6, 6] {
        let kept = client.report_witnesses(report(vault, height, 1)).await.expect("kept").into_inner();
        assert!(kept.conflicting.is_empty());
    }
    let found = client.report_witnesses(report(vault, 6, 2)).await.expect("answered").into_inner();
    assert_eq!(found.conflicting, vec![undercroft_proto::wire::vault_bytes(vault)]);
    let foreign = wire::WitnessesRequest { node: 77, ..report(vault, 7, 1) };
    assert_eq!(client.report_witnesses(foreign).await.expect_err("no node").code(), Code::NotFound);
    let idle = fleet.join(1, "idle").await.get();
    let foreign = wire::WitnessesRequest { node: idle, ..report(vault, 7, 1) };
    assert_eq!(client.report_witnesses(foreign).await.expect_err("no replica").code(), Code::InvalidArgument);
    let mut cut = report(vault, 8, 1);
    cut.witnesses[0].digest.pop();
    assert_eq!(client.report_witnesses(cut).await.expect_err("31 bytes").code(), Code::InvalidArgument);
    let mut many = report(vault, 9, 1);
    many.witnesses = vec![many.witnesses[0].clone(); 2049];
    assert_eq!(client.report_witnesses(many).await.expect_err("too many").code(), Code::InvalidArgument);
    let kept = fleet.member(1).desk().member.map().read(|state| state.witnesses().of(vault).len());
    assert_eq!(kept, 1, "of one day the newest is kept");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn batches_that_cannot_be_read_are_refused_and_change_nothing() {
    let fleet = Fleet::new(1, 1, 1).await;
    let mut client = fleet.client(1);
    let before = fleet.member(1).desk().member.map().index();
    for batch in [vec![], vec![1, 0, 0], vec![1, 0, 0, 0, 255, 255, 255], vec![0, 0, 0, 0, 1, 0]] {
        let asked = wire::ProposeRequest { version: VERSION, batch };
        client.propose(asked).await.expect_err("no batch");
    }
    let newer = wire::ProposeRequest { version: VERSION, batch: vec![9, 0, 0, 0, 1, 0] };
    let refused = client.propose(newer).await.expect_err("newer");
    assert!(refused.message().contains("version 9"), "{refused}");
    assert_eq!(fleet.member(1).desk().member.map().index(), before);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_a_majority_nothing_is_decided_and_the_caller_is_told() {
    let mut fleet = Fleet::new(3, 1, 1).await;
    let (leader, follower) = (fleet.leader().await, fleet.follower().await);
    let others: Vec<u64> = fleet.members.keys().copied().filter(|number| *number != follower).collect();
    assert!(others.contains(&leader));
    for number in others {
        fleet.members.remove(&number).expect("it runs").kill().await;
    }
    let job = Command::Job(JobCommand::Create { kind: "purge".into(), vault: None, steps: 1 });
    let asked =
        tokio::time::timeout(PATIENCE, fleet.member(follower).desk().once(job)).await.expect("in time");
    assert!(matches!(asked, Err(Error::OutcomeUnknown(_))), "{asked:?}");
}
