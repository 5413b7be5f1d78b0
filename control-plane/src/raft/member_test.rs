//! A group of members in one process, over real connections: it elects, survives, changes and catches up.

use std::collections::BTreeMap;
use std::time::Duration;

use futures_util::future::join_all;
use openraft::async_runtime::WatchReceiver;
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio_stream::wrappers::TcpListenerStream;
use undercroft_proto::{MemberId, NodeId};

use super::{Member, MemberConfig, Since};
use crate::Error;
use crate::state::fixture::{START, health, join, place};
use crate::state::{
    Batch, ClusterCommand, Command, Health, Level, Limits, Member as Known, Outcome, ReadPolicy, Request,
    Settings, State, Step, TenantCommand,
};

const PATIENCE: Duration = Duration::from_secs(20);

/// A member, its server and where it listens.
struct Running {
    member: Member,
    address: String,
    server: JoinHandle<()>,
    stop: Option<oneshot::Sender<()>>,
}

impl Running {
    /// Stops serving and stops the member, as if its process had gone: nothing is flushed for it.
    async fn kill(mut self) {
        drop(self.stop.take());
        self.member.stop().await;
        self.server.abort();
        let _ = self.server.await;
    }
}

/// A group and its folders.
struct Group {
    folder: TempDir,
    running: BTreeMap<u64, Running>,
    addresses: BTreeMap<u64, String>,
    snapshot_entries: u64,
}

impl Group {
    async fn new(members: u64, snapshot_entries: u64) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let mut group =
            Self { folder, running: BTreeMap::new(), addresses: BTreeMap::new(), snapshot_entries };
        for id in 1..=members {
            group.start(id, false).await;
        }
        let founders =
            group.addresses.iter().map(|(id, address)| (MemberId::new(*id), address.clone())).collect();
        group.member(1).found(founders).await.expect("founded");
        group
    }

    async fn start(&mut self, id: u64, again: bool) {
        let at = self.addresses.get(&id).cloned().unwrap_or("127.0.0.1:0".into());
        let listener = TcpListener::bind(&at).await.expect("a port");
        let address = listener.local_addr().expect("an address").to_string();
        let config = MemberConfig {
            snapshot_entries: self.snapshot_entries,
            ..MemberConfig::plain(self.folder.path().join(id.to_string()), MemberId::new(id))
        };
        let started = if again { Member::open(config).await } else { Member::create(config).await };
        let member = started.expect("a member");
        let service = member.service().into_server();
        let (stop, stopped) = oneshot::channel::<()>();
        let server = tokio::spawn(async move {
            let serving = tonic::transport::Server::builder().add_service(service);
            let until = async { drop(stopped.await) };
            let _ = serving.serve_with_incoming_shutdown(TcpListenerStream::new(listener), until).await;
        });
        self.addresses.insert(id, address.clone());
        self.running.insert(id, Running { member, address, server, stop: Some(stop) });
    }

    fn member(&self, id: u64) -> &Member {
        &self.running.get(&id).expect("a running member").member
    }

    async fn kill(&mut self, id: u64) {
        self.running.remove(&id).expect("a running member").kill().await;
    }

    /// The leader that a majority hears. A member that was one and comes back may still think so.
    async fn leader(&self) -> u64 {
        let heard = async {
            loop {
                for (id, running) in &self.running {
                    if running.member.catch_up().await.is_ok() {
                        return *id;
                    }
                }
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(PATIENCE, heard).await.expect("a leader")
    }

    /// Decides on whoever leads, asking again as a client would.
    async fn decide(&self, batch: Batch) -> Vec<Outcome> {
        loop {
            let leader = self.leader().await;
            match self.member(leader).propose(&batch).await {
                Ok(outcomes) => return outcomes,
                Err(Error::NotLeader { .. } | Error::OutcomeUnknown(_)) => tokio::task::yield_now().await,
                Err(other) => panic!("{other}"),
            }
        }
    }

    /// Waits until a member has applied as much as the leader had.
    async fn caught_up(&self, id: u64) {
        let leader = self.leader().await;
        let last =
            self.member(leader).raft().metrics().borrow_watched().last_applied.map(|log_id| log_id.index);
        let wait = self.member(id).raft().wait(Some(PATIENCE));
        wait.applied_index_at_least(last, "caught up").await.expect("caught up");
    }

    fn tenants(&self, id: u64) -> usize {
        self.member(id).map().read(|state| state.tenants().len())
    }
}

/// Founds the cluster with one shard on three nodes.
fn founding() -> Batch {
    let known = Known { id: MemberId::FIRST, address: "127.0.0.1:1".into(), speaks: 1, certificate: None };
    let settings = Settings { id: [7; 16], salt: 11, replicas: 3, witness_days: 7 };
    let mut commands = vec![
        Command::Cluster(ClusterCommand::AddMember(known)),
        Command::Cluster(ClusterCommand::Initialise { settings, shards: 1 }),
    ];
    for node in 1..=3 {
        commands.push(join(&format!("n{node}"), None, node as u8));
        commands.push(health(node, Health::Live));
    }
    commands.push(place(1, &[1, 2, 3]));
    Batch::of(START, commands)
}

/// One more tenant, under a request of its own, so that asking again does it once.
fn tenant(number: u64) -> Batch {
    let mut mac = [0; 32];
    mac[..8].copy_from_slice(&number.to_le_bytes());
    let command = Command::Tenant(TenantCommand::Create {
        name: format!("tenant {number}"),
        token: undercroft_proto::TokenMac::from_bytes(mac),
        level: Level::Sealed,
        limits: Limits::default(),
        read: ReadPolicy::Strong,
        random: number.into(),
        shard: None,
    });
    let request = Some(Request { id: mac, digest: mac });
    Batch { at: START + number, steps: vec![Step { request, command }] }
}

fn all_done(outcomes: &[Outcome]) -> bool {
    outcomes.iter().all(|outcome| outcome.refusal().is_none())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_acknowledged_write_is_lost_when_the_leader_goes_and_comes_back() {
    let mut group = Group::new(3, 10_000).await;
    assert!(all_done(&group.decide(founding()).await));
    for number in 0..20 {
        assert!(all_done(&group.decide(tenant(number)).await));
    }
    let old = group.leader().await;
    group.kill(old).await;
    assert_ne!(group.leader().await, old);
    for number in 20..40 {
        assert!(all_done(&group.decide(tenant(number)).await), "the majority goes on");
    }
    group.start(old, true).await;
    group.caught_up(old).await;
    let ids: Vec<u64> = group.running.keys().copied().collect();
    for id in ids {
        group.caught_up(id).await;
        assert_eq!(group.tenants(id), 40, "member {id}");
    }
    let states: Vec<_> =
        [1, 2, 3].map(|id| group.member(id).map().read(|state| state.encode().expect("bytes"))).into();
    assert!(states.iter().all(|state| *state == states[0]), "one state on every member");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn all_members_restart_from_their_disks() {
    let mut group = Group::new(3, 10).await;
    group.decide(founding()).await;
    for number in 0..35 {
        group.decide(tenant(number)).await;
    }
    for id in [1, 2, 3] {
        group.kill(id).await;
    }
    for id in [1, 2, 3] {
        group.start(id, true).await;
    }
    assert!(all_done(&group.decide(tenant(35)).await));
    for id in [1, 2, 3] {
        group.caught_up(id).await;
        assert_eq!(group.tenants(id), 36, "member {id}");
    }
}

/// What it sent in its first life before it was on its own disk would get its log ids again, for other entries.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_leader_that_is_started_again_at_once_does_not_go_on_in_its_term() {
    let mut group = Group::new(3, 10_000).await;
    group.decide(founding()).await;
    for _ in 0..3 {
        let leader = group.leader().await;
        let term = group.member(leader).raft().metrics().borrow_watched().current_term;
        group.kill(leader).await;
        group.start(leader, true).await;
        let next = group.leader().await;
        let after = group.member(next).raft().metrics().borrow_watched().current_term;
        assert!(after > term, "{after} is led by {next}, {term} was led by {leader}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_member_alone_leads_nobody_and_acknowledges_nothing() {
    let mut group = Group::new(3, 10_000).await;
    group.decide(founding()).await;
    let alone = group.leader().await;
    let others: Vec<u64> = group.running.keys().copied().filter(|id| *id != alone).collect();
    for id in &others {
        group.kill(*id).await;
    }
    let error = group.member(alone).propose(&tenant(1)).await.expect_err("no majority");
    assert!(matches!(error, Error::OutcomeUnknown(_) | Error::NotLeader { .. }), "{error}");
    assert!(group.member(alone).catch_up().await.is_err());
    assert_eq!(group.tenants(alone), 0);
    for id in others {
        group.start(id, true).await;
    }
    assert!(all_done(&group.decide(tenant(1)).await), "asked again, it is done once");
    group.caught_up(alone).await;
    assert_eq!(group.tenants(alone), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_new_member_gets_a_snapshot_votes_and_the_old_one_goes() {
    let mut group = Group::new(3, 10).await;
    group.decide(founding()).await;
    for number in 0..60 {
        group.decide(tenant(number)).await;
    }
    let leader = group.leader().await;
    let wait = group.member(leader).raft().wait(Some(PATIENCE));
    wait.metrics(|m| m.purged.is_some_and(|log_id| log_id.index > 20), "a purged log").await.expect("purged");
    group.start(4, false).await;
    let address = group.running[&4].address.clone();
    group.member(leader).add_learner(MemberId::new(4), &address).await.expect("a learner");
    let wait = group.member(leader).raft().wait(Some(PATIENCE));
    let caught_up = |matched: Option<(u64, u64)>| matched.is_some_and(|(matched, last)| matched + 5 >= last);
    let reached = wait.metrics(
        move |m| {
            let matched = m.replication.as_ref().and_then(|all| all.get(&4).copied().flatten());
            caught_up(matched.map(|log_id| log_id.index).zip(m.last_log_index))
        },
        "caught up by matched index",
    );
    reached.await.expect("caught up");
    assert!(caught_up(group.member(leader).matched(MemberId::new(4))));
    group.caught_up(4).await;
    assert_eq!(group.tenants(4), 60, "by snapshot");
    let gone = [1, 2, 3].into_iter().find(|id| *id != leader).expect("another");
    let voters: Vec<MemberId> =
        [1, 2, 3, 4].into_iter().filter(|id| *id != gone).map(MemberId::new).collect();
    group.member(leader).set_voters(voters).await.expect("new voters");
    // The removed member keeps talking; nobody minds, and the group decides on.
    assert!(all_done(&group.decide(tenant(60)).await));
    group.kill(gone).await;
    assert!(all_done(&group.decide(tenant(61)).await));
    group.caught_up(4).await;
    assert_eq!(group.tenants(4), 62);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn leadership_is_handed_over() {
    let group = Group::new(3, 10_000).await;
    group.decide(founding()).await;
    let old = group.leader().await;
    let next = [1, 2, 3].into_iter().find(|id| *id != old).expect("another");
    group.member(old).hand_over(MemberId::new(next)).await.expect("asked");
    let wait = group.member(next).raft().wait(Some(PATIENCE));
    wait.current_leader(next, "the new leader").await.expect("it leads");
    assert!(all_done(&group.decide(tenant(1)).await));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_member_is_a_group_and_a_follower_names_the_leader() {
    let single = Group::new(1, 10_000).await;
    assert!(all_done(&single.decide(founding()).await));
    let group = Group::new(3, 10_000).await;
    group.decide(founding()).await;
    let leader = group.leader().await;
    let follower = [1, 2, 3].into_iter().find(|id| *id != leader).expect("another");
    group.caught_up(follower).await;
    match group.member(follower).propose(&tenant(1)).await {
        Err(Error::NotLeader { leader: Some((id, address)) }) => {
            assert_eq!((id.get(), &address), (leader, &group.running[&leader].address));
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_watcher_is_told_every_version_in_order() {
    let group = Group::new(1, 10_000).await;
    group.decide(founding()).await;
    let map = group.member(1).map().clone();
    let before = map.read(State::version);
    let batches: Vec<Batch> = (0..20).map(tenant).collect();
    join_all(batches.iter().map(|batch| group.member(1).propose(batch))).await;
    assert_eq!(*map.versions().borrow(), before + 20);
    let Since::Deltas(deltas) = map.since(before) else { panic!("they are kept") };
    let versions: Vec<u64> = deltas.iter().map(|delta| delta.version).collect();
    assert_eq!(versions, (before + 1..=before + 20).collect::<Vec<_>>());
    let live = group.member(1).map().read(|state| state.nodes().get(NodeId::new(1)).is_some());
    assert!(live);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_member_whose_log_is_gone_does_not_start_under_its_id() {
    let mut group = Group::new(1, 10_000).await;
    group.decide(founding()).await;
    group.kill(1).await;
    let folder = group.folder.path().join("1");
    let config = || MemberConfig::plain(folder.clone(), MemberId::new(1));
    assert!(Member::open(MemberConfig { id: MemberId::new(2), ..config() }).await.is_err(), "another id");
    std::fs::rename(folder.join("log"), folder.join("lost")).expect("lost");
    let error = Member::open(config()).await.err().expect("refused");
    assert!(matches!(error, Error::LogMissing(_)), "{error}");
}

#[tokio::test]
async fn what_a_member_keeps_is_for_its_own_user_alone() {
    use std::os::unix::fs::PermissionsExt;

    let folder = tempfile::tempdir().expect("a folder");
    let root = folder.path().join("1");
    let member = Member::create(MemberConfig::plain(root.clone(), MemberId::new(1))).await.expect("a member");
    let mode = |path: &std::path::Path| path.metadata().expect("there").permissions().mode() & 0o777;
    let mut folders = vec![root];
    let mut files = 0;
    while let Some(folder) = folders.pop() {
        assert_eq!(mode(&folder), 0o700, "{}", folder.display());
        for entry in folder.read_dir().expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else {
                files += 1;
                assert_eq!(mode(&path), 0o600, "{}", path.display());
            }
        }
    }
    assert!(files >= 3, "its name, its log, its lock");
    member.stop().await;
}
