//! A group of three members over mutual TLS, and who else may not send it messages.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tonic::{Code, Status};
use undercroft_certs::accept::Incoming;
use undercroft_certs::authority::Request;
use undercroft_certs::{Authority, Identity, Refreshed, Role, Roles, SystemTime as MachineTime, Tls, grpc};
use undercroft_proto::wire::VERSION;
use undercroft_proto::wire::raft::RaftRequest;
use undercroft_proto::wire::raft::raft_transport_client::RaftTransportClient;
use undercroft_proto::{MemberId, NodeId};

use super::{Connect, GroupId, Member, MemberConfig, Network, RealDisk, Saying, Timing};
use crate::Error;
use crate::limits;
use crate::state::fixture::{START, join};
use crate::state::{Batch, Outcome};

const PATIENCE: Duration = Duration::from_secs(20);

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).expect("a clock after 1970").as_secs()
}

/// Issues a certificate, and loads it as its process would.
pub(crate) fn certificates(folder: &Path, role: Role, name: &str) -> Arc<Tls> {
    let (authority, _) = Authority::open_or_make(folder, now()).expect("a CA");
    let identity = Identity::new(role, name).expect("an identity");
    let ips = vec!["127.0.0.1".parse().expect("an address")];
    let request = Request { identity, dns: vec![], ips, days: 30 };
    let (_, held) = authority.issue(&request, false, now()).expect("a certificate");
    Tls::open(&held.folder, role, Arc::new(MachineTime)).expect("certificates")
}

struct Group {
    folder: TempDir,
    members: BTreeMap<u64, (Member, Arc<Tls>, JoinHandle<()>)>,
    addresses: BTreeMap<MemberId, String>,
}

impl Group {
    async fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let mut group = Self { folder, members: BTreeMap::new(), addresses: BTreeMap::new() };
        for id in 1..=3 {
            group.start(id).await;
        }
        group.members[&1].0.found(group.addresses.clone()).await.expect("founded");
        group
    }

    fn certs(&self) -> std::path::PathBuf {
        self.folder.path().join("certs")
    }

    async fn start(&mut self, id: u64) {
        let tls = certificates(&self.certs(), Role::Control, &format!("c{id}"));
        let network = Network::new(MemberId::new(id), Connect::tls(tls.clone()));
        let config = MemberConfig {
            group: GroupId::default(),
            folder: self.folder.path().join(id.to_string()),
            id: MemberId::new(id),
            network,
            timing: Timing::default(),
            snapshot_entries: limits::SNAPSHOT_ENTRIES,
            key_check: Default::default(),
            disk: Arc::new(RealDisk),
        };
        let member = Member::create(config).await.expect("a member");
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address").to_string();
        let service = member.service().into_server();
        let incoming = Incoming::new(listener, tls.clone());
        let server = tokio::spawn(async move {
            let _ =
                tonic::transport::Server::builder().add_service(service).serve_with_incoming(incoming).await;
        });
        self.addresses.insert(MemberId::new(id), address);
        self.members.insert(id, (member, tls, server));
    }

    async fn decide(&self, node: u64) {
        let decided = async {
            loop {
                for (member, _, _) in self.members.values() {
                    match member
                        .propose(&Batch::of(START, [join(&format!("n{node}"), None, node as u8)]))
                        .await
                    {
                        Ok(outcomes) => return outcomes,
                        Err(Error::NotLeader { .. } | Error::OutcomeUnknown(_)) => {}
                        Err(other) => panic!("{other}"),
                    }
                }
                tokio::task::yield_now().await;
            }
        };
        let outcomes = tokio::time::timeout(PATIENCE, decided).await.expect("a decision");
        assert_eq!(outcomes, [Outcome::Node(NodeId::new(node))]);
    }

    async fn stop(self) {
        for (member, _, server) in self.members.into_values() {
            server.abort();
            member.stop().await;
        }
    }
}

/// Sends a member a message, under a certificate.
async fn send(address: &str, tls: &Arc<Tls>) -> Status {
    let channel = grpc::channel(address, tls.clone(), Roles::of(&[Role::Control]), |endpoint| endpoint);
    let saying = Saying::of(GroupId::default());
    let mut client = RaftTransportClient::with_interceptor(channel.expect("an address"), saying);
    let message = RaftRequest { version: VERSION, group: 0, to: 1, from: 2, payload: vec![] };
    client.append(message).await.expect_err("an empty message is refused in any case")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn three_members_decide_over_tls_and_take_new_certificates_meanwhile() {
    let group = Group::new().await;
    group.decide(1).await;
    let mut authority = Authority::open(&group.certs(), now()).expect("the CA");
    for stage in 0..3 {
        let turned = match stage {
            0 => authority.begin(now()),
            1 => authority.switch(30, now()),
            _ => authority.finish(),
        };
        assert_eq!(turned.expect("a stage").len(), 3);
        for (_, tls, _) in group.members.values() {
            assert_eq!(tls.refresh().expect("good files"), Refreshed::Replaced);
        }
        group.decide(stage + 2).await;
    }
    group.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn messages_of_the_group_are_taken_from_members_alone() {
    let group = Group::new().await;
    let address = &group.addresses[&MemberId::new(1)];
    // A member's message is read, and found to be none.
    assert_eq!(send(address, &group.members[&2].1).await.code(), Code::InvalidArgument);
    for role in [Role::Node, Role::Router, Role::Admin] {
        let refused = send(address, &certificates(&group.certs(), role, "x")).await;
        assert_eq!(refused.code(), Code::PermissionDenied);
        assert!(refused.message().contains("for control"), "{refused}");
    }
    let elsewhere = tempfile::tempdir().expect("a folder");
    let foreign = certificates(elsewhere.path(), Role::Control, "c1");
    assert_eq!(send(address, &foreign).await.code(), Code::Unavailable);
    let plain = Connect::plain().channel(address).expect("an address");
    let message = RaftRequest { version: VERSION, group: 0, to: 1, from: 2, payload: vec![] };
    assert!(RaftTransportClient::new(plain).append(message).await.is_err());
    group.decide(1).await;
    group.stop().await;
}
