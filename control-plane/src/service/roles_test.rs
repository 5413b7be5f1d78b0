//! Which role may make which call of the control service, over real connections.

use std::sync::Arc;

use tokio::net::TcpListener;
use tokio::sync::watch;
use tonic::Code;
use undercroft_certs::accept::Incoming;
use undercroft_certs::{Role, Roles, Tls, grpc};
use undercroft_proto::MemberId;
use undercroft_proto::wire::VERSION;
use undercroft_proto::wire::control as wire;
use undercroft_proto::wire::control::control_client::ControlClient;

use super::{ControlService, Desk, Lead, Peers};
use crate::keys::GroupKey;
use crate::ports::Ports;
use crate::raft::tls_test::certificates;
use crate::raft::{Connect, Member, MemberConfig, Network};

type Client = ControlClient<tonic::transport::Channel>;

fn client(address: &str, tls: Arc<Tls>) -> Client {
    let channel = grpc::channel(address, tls, Roles::of(&[Role::Control]), |endpoint| endpoint);
    Client::new(channel.expect("an address"))
}

/// What each call ends with: the calls of nodes, those of members, the map for nodes and the map for routers.
async fn codes(client: &mut Client) -> [Code; 4] {
    let code = |status: Option<tonic::Status>| status.map_or(Code::Ok, |status| status.code());
    let challenge = client.challenge(wire::ChallengeRequest { version: VERSION, name: "n".into() }).await;
    let propose = client.propose(wire::ProposeRequest { version: VERSION, ..Default::default() }).await;
    let map = |role| wire::WatchRequest { version: VERSION, role, ..Default::default() };
    let (nodes, routers) = (client.watch(map(1)).await, client.watch(map(2)).await);
    [code(challenge.err()), code(propose.err()), code(nodes.err()), code(routers.err())]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_role_makes_its_own_calls_and_no_others() {
    let folder = tempfile::tempdir().expect("a folder");
    let certs = folder.path().join("certs");
    let connect = Connect::tls(certificates(&certs, Role::Control, "c1"));
    let network = Network::new(MemberId::new(1), connect.clone());
    let config = MemberConfig { network, ..MemberConfig::plain(folder.path().join("1"), MemberId::new(1)) };
    let member = Arc::new(Member::create(config).await.expect("a member"));
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address").to_string();
    let incoming = Incoming::new(listener, connect.certificates().expect("certificates").clone());
    let (peers, ports, key) =
        (Peers::new(connect), Ports::of_this_machine(), Arc::new(GroupKey::new([4; 32])));
    let desk = Desk { member: member.clone(), peers, ports, key };
    let (_stop, stopped) = watch::channel(false);
    let service = ControlService::new(desk, Lead::default(), None, stopped).into_server();
    let server = tokio::spawn(async move {
        let _ = tonic::transport::Server::builder().add_service(service).serve_with_incoming(incoming).await;
    });
    let denied = Code::PermissionDenied;
    for (role, [nodes, members, map, map_of_routers]) in [
        (Role::Node, [Code::Ok, denied, Code::NotFound, denied]),
        (Role::Router, [denied, denied, denied, Code::Ok]),
        (Role::Admin, [denied; 4]),
        // An empty batch is read, and found to be none.
        (Role::Control, [denied, Code::InvalidArgument, denied, denied]),
    ] {
        let tls = certificates(&certs, role, "c1");
        let found = codes(&mut client(&address, tls)).await;
        assert_eq!(found, [nodes, members, map, map_of_routers], "{role}");
    }
    let plain = Connect::plain().channel(&address).expect("an address");
    assert!(codes(&mut Client::new(plain)).await.iter().all(|code| *code != Code::Ok));
    server.abort();
    member.stop().await;
}
