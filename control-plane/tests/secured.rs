//! A fleet over mutual TLS: who is who by certificate, keys that are minted and handed out, and operators over HTTPS.

mod support;

use std::path::Path;
use std::sync::Arc;

use axum::http::Request;
use http_body_util::{BodyExt, Full};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use support::{Client, Fleet, MASTER, PATIENCE, TOKEN, heartbeat, joining};
use tokio::net::TcpStream;
use tonic::Code;
use undercroft_certs::{ClientStream, Refreshed, Role, Roles, SystemTime, Trust};
use undercroft_control_plane::Error;
use undercroft_control_plane::keys::GroupKey;
use undercroft_control_plane::process::Server;
use undercroft_control_plane::raft::Connect;
use undercroft_proto::NodeId;
use undercroft_proto::wire::VERSION;
use undercroft_proto::wire::control as wire;
use undercroft_proto::wire::control::map_change::Change;

/// A connection of an operator, who trusts the CA and has no certificate.
async fn operator(fleet: &Fleet, at: u64) -> ClientStream {
    let address = fleet.member(at).listening().admin.expect("an interface").to_string();
    let ca = fleet.folder().join("certs").join("ca.crt");
    let trust = Trust::open(&ca, Arc::new(SystemTime)).expect("the CA");
    trust.connect(&address, Roles::of(&[Role::Control])).await.expect("a connection")
}

async fn ask(fleet: &Fleet, at: u64, method: &str, path: &str, (key, body): (&str, Value)) -> (u16, Value) {
    let stream = operator(fleet, at).await;
    let (mut sender, connection) =
        hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.expect("http");
    tokio::spawn(connection);
    let text = if body.is_null() { String::new() } else { body.to_string() };
    let request = Request::builder()
        .method(method)
        .uri(path)
        .header("host", "localhost")
        .header("idempotency-key", key)
        .header("authorization", format!("Bearer {TOKEN}"))
        .body(Full::new(axum::body::Bytes::from(text)));
    let response = sender.send_request(request.expect("a request")).await.expect("a response");
    let status = response.status().as_u16();
    let body = response.into_body().collect().await.expect("a body").to_bytes();
    (status, serde_json::from_slice(&body).unwrap_or(Value::Null))
}

/// A node joins with its certificate.
async fn join(client: &mut Client, name: &str) -> NodeId {
    let request = joining(client, name, &MASTER).await;
    NodeId::new(client.join(request).await.expect("joined").into_inner().node)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn operators_come_over_https_and_new_certificates_are_used_without_a_restart() {
    let fleet = Fleet::secured(1, 1, 1).await;
    let (status, cluster) = ask(&fleet, 1, "GET", "/admin/cluster", ("k", Value::Null)).await;
    assert_eq!((status, &cluster["initialised"]), (200, &json!(true)));
    let shown =
        |stream: &ClientStream| stream.get_ref().1.peer_certificates().expect("a certificate")[0].clone();
    let before = shown(&operator(&fleet, 1).await);
    let folder = fleet.folder().join("certs");
    let now =
        std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("after 1970").as_secs();
    let authority = undercroft_certs::Authority::open(&folder, now).expect("the CA");
    let identity = undercroft_certs::Identity::new(Role::Control, "c1").expect("an identity");
    let ips = vec!["127.0.0.1".parse().expect("an address")];
    let request = undercroft_certs::authority::Request { identity, dns: vec![], ips, days: 40 };
    authority.issue(&request, true, now).expect("issued anew");
    let tls = fleet.member(1).certificates().expect("certificates").clone();
    assert_eq!(tls.refresh().expect("good files"), Refreshed::Replaced);
    assert_ne!(shown(&operator(&fleet, 1).await), before);
    let address = fleet.member(1).listening().admin.expect("an interface");
    let plain = TcpStream::connect(address).await.expect("a connection");
    let (mut sender, connection) =
        hyper::client::conn::http1::handshake(TokioIo::new(plain)).await.expect("http");
    tokio::spawn(connection);
    let request = Request::builder().uri("/healthz").body(Full::new(axum::body::Bytes::new()));
    assert!(sender.send_request(request.expect("a request")).await.is_err(), "plain HTTP gets nothing");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn beyond_this_machine_operators_need_certificates_too() {
    let fleet = Fleet::new(1, 1, 1).await;
    let mut options = fleet.options(2);
    options.admin.as_mut().expect("an interface").listen = "0.0.0.0:0".into();
    let refused = Server::start(options).await.err().expect("plain");
    assert!(refused.to_string().contains("--cert-dir"), "{refused}");
    let mut options = fleet.options(2);
    options.join.clear();
    options.admin.as_mut().expect("an interface").listen = "0.0.0.0:0".into();
    options.connect = Connect::tls(fleet.certificates(Role::Control, "c2"));
    let server = Server::start(options).await.expect("over TLS");
    assert!(server.listening().secured);
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_speaks_for_itself_alone_through_whatever_member() {
    let fleet = Fleet::secured(3, 1, 1).await;
    let follower = fleet.follower().await;
    for at in [fleet.leader().await, follower] {
        let (mut a, mut b) = (fleet.client_as(at, Role::Node, "a"), fleet.client_as(at, Role::Node, "b"));
        let (node_a, node_b) = (join(&mut a, "a").await, join(&mut b, "b").await);
        a.heartbeat(heartbeat(node_a)).await.expect("heard");
        b.heartbeat(heartbeat(node_b)).await.expect("heard");
        let refused = a.heartbeat(heartbeat(node_b)).await.expect_err("another's");
        assert!(
            refused.code() == Code::PermissionDenied && refused.message().contains("role/node/b"),
            "{refused}"
        );
        let steps = |node: NodeId| wire::JobStepsRequest { version: VERSION, node: node.get(), most: 1 };
        a.take_job_steps(steps(node_a)).await.expect("its own");
        let witness = |node: NodeId| wire::WitnessesRequest {
            version: VERSION,
            node: node.get(),
            shard: 1,
            witnesses: vec![],
        };
        let step =
            wire::JobStepReport { version: VERSION, node: node_b.get(), state: 1, ..Default::default() };
        let watch =
            |node: NodeId| wire::WatchRequest { version: VERSION, role: 1, have: 0, node: node.get() };
        for refused in [
            a.take_job_steps(steps(node_b)).await.err(),
            a.report_witnesses(witness(node_b)).await.err(),
            a.report_job_step(step).await.err(),
            a.watch(watch(node_b)).await.err(),
        ] {
            assert_eq!(refused.expect("another's").code(), Code::PermissionDenied);
        }
        assert_eq!(a.watch(watch(NodeId::new(0))).await.expect_err("nobody").code(), Code::NotFound);
        a.watch(watch(node_a)).await.expect("its own");
        // Under another's name it would take that node's place.
        let posing = joining(&mut a, "b", &MASTER).await;
        assert_eq!(a.join(posing).await.expect_err("another's name").code(), Code::PermissionDenied);
        let mut router = fleet.client_as(at, Role::Router, "r");
        let refused = router.report_witnesses(witness(node_a)).await.expect_err("a router");
        assert_eq!(refused.code(), Code::PermissionDenied);
        assert_eq!(
            router.heartbeat(heartbeat(node_a)).await.expect_err("no node").code(),
            Code::PermissionDenied
        );
        let mut member = fleet.client_as(at, Role::Control, "c9");
        let refused = member.heartbeat(heartbeat(node_a)).await.expect_err("for nobody");
        assert_eq!(refused.code(), Code::PermissionDenied);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn members_are_known_by_their_certificates() {
    let mut fleet = Fleet::secured(2, 1, 1).await;
    let bound = |server: &Server| {
        server.desk().member.map().read(|state| {
            let members = state.cluster().members();
            let ok =
                |id: u64, uri: Option<&str>| uri == Some(format!("undercroft:role/control/c{id}").as_str());
            members.map(|member| ok(member.id.get(), member.certificate.as_deref())).collect::<Vec<_>>()
        }) == [true, true]
    };
    fleet.until("both are bound", bound).await;
    // One more under the certificate of the second.
    let mut posing = fleet.options(3);
    posing.connect = Connect::tls(fleet.certificates(Role::Control, "c2"));
    let refused = Server::start(posing).await.err().expect("it is member 2's").to_string();
    assert!(refused.contains("role/control/c2"), "{refused}");
    // The second with another certificate.
    fleet.members.remove(&2).expect("it runs").stop().await;
    let mut renamed = fleet.options(2);
    renamed.connect = Connect::tls(fleet.certificates(Role::Control, "c7"));
    let refused = Server::start(renamed).await.err().expect("bound to c2");
    assert!(matches!(&refused, Error::OtherCertificate { member, .. } if member.get() == 2), "{refused}");
    fleet.start(2).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_member_with_another_key_neither_enters_nor_starts() {
    let mut fleet = Fleet::new(2, 1, 1).await;
    for through in [1, 2] {
        let mut other = fleet.options(3);
        other.join = vec![fleet.member(through).listening().address.to_string()];
        other.keys.group = GroupKey::new([5; 32]);
        let refused = Server::start(other).await.err().expect("another key").to_string();
        assert!(refused.contains("UNDERCROFT_ORCH_KEY"), "{refused}");
    }
    assert!(!fleet.folder().join("3").join("member").exists(), "nothing was begun");
    fleet.members.remove(&2).expect("it runs").stop().await;
    let mut other = fleet.options(2);
    other.keys.group = GroupKey::new([5; 32]);
    let refused = Server::start(other).await.err().expect("another key");
    assert!(
        matches!(refused, Error::OtherKey(_)) && refused.to_string().contains("every member"),
        "{refused}"
    );
    fleet.start(2).await;
}

/// The newest keys that a watcher is told.
async fn keys(client: &mut Client, role: u32, node: u64) -> wire::Keys {
    let asked = wire::WatchRequest { version: VERSION, role, have: 0, node };
    let mut replies = client.watch(asked).await.expect("a map").into_inner();
    loop {
        let reply = replies.message().await.expect("a reply").expect("one more");
        for change in reply.changes {
            if let Some(Change::Keys(keys)) = change.change {
                return keys;
            }
        }
    }
}

/// Whether any file below a folder has these bytes, or their hexadecimal digits.
fn on_disk(folder: &Path, secret: &[u8]) -> bool {
    let digits = hex::encode(secret);
    std::fs::read_dir(folder).expect("a folder").any(|entry| {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            return on_disk(&path, secret);
        }
        let bytes = std::fs::read(&path).expect("a file");
        let has = |part: &[u8]| bytes.windows(part.len()).any(|window| window == part);
        has(secret) || has(digits.as_bytes())
    })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn keys_of_assertions_are_minted_handed_out_rotated_and_never_on_disk_in_clear() {
    let fleet = Fleet::secured(2, 1, 1).await;
    let minted =
        |server: &Server| server.desk().member.map().read(|state| state.assertion_keys().current().is_some());
    fleet.until("the first key is minted", minted).await;
    let (mut node, mut router) = (fleet.client_as(1, Role::Node, "a"), fleet.client_as(2, Role::Router, "r"));
    let id = join(&mut node, "a").await.get();
    let (to_node, to_router) = (keys(&mut node, 1, id).await, keys(&mut router, 2, 0).await);
    assert_eq!(to_node.assertion, to_router.assertion);
    assert_eq!((to_node.assertion.len(), to_node.assertion[0].key.len()), (1, 32));
    assert!(to_node.token.is_empty() && to_router.token == [4; 32], "tokens are the routers' business");
    let rotate = |key| ("POST", "/admin/assertion-keys/rotate", (key, Value::Null));
    let mut told = Vec::new();
    for at in [1, 2] {
        let (method, path, body) = rotate("once");
        let (status, keys) = ask(&fleet, at, method, path, body).await;
        assert_eq!(status, 200, "{keys}");
        assert_eq!((&keys["current"]["id"], &keys["previous"]["id"]), (&json!(2), &json!(1)), "one effect");
        told.push(keys.to_string());
    }
    let two = keys(&mut node, 1, id).await.assertion;
    assert_eq!(two.iter().map(|key| key.id).collect::<Vec<_>>(), [2, 1]);
    assert_eq!(two[1].key, to_node.assertion[0].key);
    let (method, path, body) = rotate("again");
    let (status, busy) = ask(&fleet, 1, method, path, body).await;
    assert!(status == 409 && busy["error"].as_str().is_some_and(|e| e.contains("still good")), "{busy}");
    let at_once = ("leaked", json!({"at_once": true}));
    let (status, keys_now) = ask(&fleet, 1, "POST", "/admin/assertion-keys/rotate", at_once).await;
    assert_eq!((status, &keys_now["current"]["id"], &keys_now["previous"]), (200, &json!(3), &Value::Null));
    let three = keys(&mut router, 2, 0).await.assertion;
    assert_eq!(three.iter().map(|key| key.id).collect::<Vec<_>>(), [3]);
    fleet.member(1).desk().member.raft().trigger().snapshot().await.expect("asked");
    let snapshot = fleet.folder().join("1/snapshots/newest.snapshot");
    let written = async {
        while !snapshot.exists() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(PATIENCE, written).await.expect("a snapshot");
    for secret in two.iter().chain(&three).map(|key| key.key.clone()).chain([vec![4; 32]]) {
        assert!(!on_disk(&fleet.folder().join("1"), &secret) && !on_disk(&fleet.folder().join("2"), &secret));
        assert!(told.iter().all(|text| !text.contains(&hex::encode(&secret))), "never shown");
    }
    let said = wire::MapReport { version: VERSION, router: String::new(), map_version: 1 };
    assert!(router.report_map(said.clone()).await.expect("heard").into_inner().map_version > 1);
    assert_eq!(node.report_map(said).await.expect_err("no router").code(), Code::PermissionDenied);
}
