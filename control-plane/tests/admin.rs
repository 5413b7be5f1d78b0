//! The Admin API over real connections: shapes, refusals, one effect, and the same answers at any member.

mod support;

use axum::http::{Method, Request, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use support::{Fleet, TOKEN};
use tokio::net::TcpStream;

/// One request; the status and the body.
async fn send(fleet: &Fleet, at: u64, request: Request<Full<&'static [u8]>>) -> (u16, Value) {
    let address = fleet.member(at).listening().admin.expect("an interface");
    let stream = TcpStream::connect(address).await.expect("a connection");
    let (mut sender, connection) =
        hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.expect("http");
    tokio::spawn(connection);
    let response = sender.send_request(request).await.expect("a response");
    let status = response.status().as_u16();
    let body = response.into_body().collect().await.expect("a body").to_bytes();
    (status, serde_json::from_slice(&body).unwrap_or(Value::Null))
}

fn request(method: &str, path: &str, body: &Value, key: Option<&str>) -> Request<Full<&'static [u8]>> {
    let text = if body.is_null() { String::new() } else { body.to_string() };
    let mut request = Request::builder()
        .method(method.parse::<Method>().expect("a method"))
        .uri(path)
        .header("host", "localhost")
        .header("authorization", format!("Bearer {TOKEN}"));
    if let Some(key) = key {
        request = request.header("idempotency-key", key);
    }
    request.body(Full::new(text.into_bytes().leak() as &'static [u8])).expect("a request")
}

async fn ask(fleet: &Fleet, at: u64, method: &str, path: &str, body: Value) -> (u16, Value) {
    send(fleet, at, request(method, path, &body, None)).await
}

/// Three members, three live nodes, every shard placed.
async fn serving() -> Fleet {
    let fleet = Fleet::new(3, 2, 3).await;
    fleet.nodes(&["a", "b", "c"]).await;
    fleet
        .until("every shard is placed and led", |server| {
            server.desk().member.map().read(|state| {
                state.shards().iter().all(|shard| !shard.voters.is_empty() && shard.preferred.is_some())
            })
        })
        .await;
    fleet
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_shows_no_token_learns_nothing_but_health() {
    let fleet = Fleet::new(1, 1, 1).await;
    for path in ["/admin/cluster", "/admin/nowhere", "/", "/admin/tenants/1/rotate"] {
        for token in [None, Some("Bearer 0123456789abcdeF"), Some("Basic 0123456789abcdef"), Some("Bearer ")]
        {
            let mut bare = Request::builder().uri(path).header("host", "localhost");
            if let Some(token) = token {
                bare = bare.header("authorization", token);
            }
            let (status, body) = send(&fleet, 1, bare.body(Full::new(&[][..])).expect("a request")).await;
            assert_eq!((status, body), (401, json!({"error": "unauthorized"})), "{path} {token:?}");
        }
    }
    let open = |path: &str| Request::builder().uri(path).header("host", "localhost").body(Full::new(&[][..]));
    let (status, body) = send(&fleet, 1, open("/healthz").expect("a request")).await;
    assert_eq!((status, &body["ok"], &body["mode"]), (200, &json!(true), &json!("writer")));
    assert!(body["last_write"].as_u64().expect("seconds") > 1_600_000_000);
    let (status, _) = send(&fleet, 1, open("/livez").expect("a request")).await;
    assert_eq!(status, 204);
    let (status, body) = send(&fleet, 1, open("/readyz").expect("a request")).await;
    assert_eq!((status, body), (200, json!({"ready": true, "leader": true, "initialised": true})));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tenant_lives_and_dies_through_any_member() {
    let fleet = serving().await;
    let (leader, follower) = (fleet.leader().await, fleet.follower().await);
    let (status, made) = ask(&fleet, follower, "POST", "/admin/tenants", json!({"name": "acme"})).await;
    assert_eq!(status, 200, "{made}");
    let id = made["tenant"]["id"].as_str().expect("an id").to_owned();
    let token = made["token"].as_str().expect("a token").to_owned();
    assert_eq!((token.len(), made["tenant"]["level"].as_str()), (64, Some("sealed")));
    assert!(made["tenant"]["instance"].as_str().is_some() && made["tenant"]["created_at"].as_u64().is_some());
    let (_, list) = ask(&fleet, follower, "GET", "/admin/tenants", Value::Null).await;
    assert_eq!(list["tenants"].as_array().map(Vec::len), Some(1));
    assert!(!list.to_string().contains(&token), "a token is shown once");
    let path = format!("/admin/tenants/{id}");
    let (status, other) = ask(&fleet, leader, "POST", &format!("{path}/rotate"), Value::Null).await;
    assert_eq!(status, 200);
    assert!(other["token"].as_str().is_some_and(|other| other != token));
    let limits = json!({"requests_per_minute": 60, "bytes": 0});
    let (_, limited) = ask(&fleet, leader, "POST", &format!("{path}/limits"), limits).await;
    assert_eq!(limited["limits"], json!({"requests_per_minute": 60, "bytes": null, "drawers": null}));
    let (_, read) =
        ask(&fleet, leader, "POST", &format!("{path}/read"), json!({"read": "eventual", "lag_ms": 9})).await;
    assert_eq!((&read["read"], &read["lag_ms"]), (&json!("eventual"), &json!(9)));
    let (status, _) = ask(&fleet, leader, "POST", &format!("{path}/read"), json!({"read": "eventual"})).await;
    assert_eq!(status, 400);
    let (_, revoked) = ask(&fleet, follower, "POST", &format!("{path}/revoke"), Value::Null).await;
    assert_eq!(revoked["revoked"], json!(true));
    let (status, taken) = ask(&fleet, leader, "POST", "/admin/tenants", json!({"name": "acme"})).await;
    assert_eq!((status, taken["class"].as_str()), (409, Some("conflict")));
    let (status, gone) = ask(&fleet, follower, "DELETE", &path, Value::Null).await;
    assert_eq!((status, gone), (200, json!({"deleted": id})));
    let (status, _) = ask(&fleet, follower, "GET", &path, Value::Null).await;
    assert_eq!(status, 404);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_under_a_key_has_one_effect_at_whatever_member_it_is_repeated() {
    let fleet = serving().await;
    let (leader, follower) = (fleet.leader().await, fleet.follower().await);
    let body = json!({"name": "acme"});
    let create = || request("POST", "/admin/tenants", &body, Some("order-1"));
    let (status, first) = send(&fleet, follower, create()).await;
    assert_eq!(status, 200, "{first}");
    for at in [leader, follower] {
        let (status, again) = send(&fleet, at, create()).await;
        assert_eq!((status, &again["tenant"]["id"]), (200, &first["tenant"]["id"]));
        assert!(
            again["token"].is_null() && again["note"].as_str().is_some_and(|note| note.contains("rotate"))
        );
    }
    let other = json!({"name": "other"});
    let (status, reused) =
        send(&fleet, leader, request("POST", "/admin/tenants", &other, Some("order-1"))).await;
    assert_eq!(status, 409, "{reused}");
    for bad in ["", "a b"] {
        let (status, _) = send(&fleet, leader, request("POST", "/admin/tenants", &other, Some(bad))).await;
        assert_eq!(status, 400, "{bad:?}");
    }
    let path = format!("/admin/tenants/{}", first["tenant"]["id"].as_str().expect("an id"));
    for _ in 0..2 {
        let (status, _) = send(&fleet, follower, request("DELETE", &path, &Value::Null, Some("end"))).await;
        assert_eq!(status, 200, "asked again it is answered again");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_cannot_be_is_refused_by_name_and_with_its_remedy() {
    let fleet = serving().await;
    let refused = [
        ("POST", "/admin/tenants", json!({"name": "a", "colour": 1}), 400, "colour"),
        ("POST", "/admin/tenants", json!({}), 400, "name"),
        ("POST", "/admin/tenants", json!({"name": " a"}), 400, "name"),
        ("POST", "/admin/tenants", json!({"name": "a", "instance": "nowhere"}), 404, "nowhere"),
        ("POST", "/admin/tenants", json!({"name": "a", "instance": "a", "shard": 1}), 400, "exclude"),
        ("POST", "/admin/tenants", json!({"name": "a", "level": "open"}), 400, "hmac-only"),
        ("GET", "/admin/tenants?color=1", Value::Null, 400, "color"),
        ("GET", "/admin/tenants/xyz", Value::Null, 400, "16 lower-case hex"),
        ("PATCH", "/admin/tenants/0000000000000001", json!({"instance": "b"}), 409, "migrate"),
        ("POST", "/admin/instances", json!({"name": "d", "url": "x"}), 409, "joins by itself"),
        ("DELETE", "/admin/instances/a", Value::Null, 409, "drain"),
        ("DELETE", "/admin/instances/zz", Value::Null, 404, "zz"),
        ("POST", "/admin/cluster", json!({}), 409, "initialised already"),
        ("PATCH", "/admin/cluster", json!({"witness_days": 0}), 400, "days"),
        ("DELETE", "/admin/members/77", Value::Null, 404, "77"),
        ("DELETE", "/admin/jobs/9", Value::Null, 404, "job 9"),
        ("GET", "/admin/jobs/9", Value::Null, 404, "job 9"),
        ("GET", "/admin/shards/9", Value::Null, 404, "shard 9"),
        ("GET", "/admin/witnesses/01J9ZK3T5Q8RZXW2M4N6P7V0AB", Value::Null, 404, "vault"),
        ("GET", "/admin/tenants/0000000000000001/stats", Value::Null, 501, "not implemented"),
        ("POST", "/admin/tenants/0000000000000001/migrate", json!({"to": "b"}), 501, "not implemented"),
        ("POST", "/admin/tenants/0000000000000001/ops/verify", Value::Null, 501, "not implemented"),
        ("GET", "/admin/nowhere", Value::Null, 404, "no route"),
        ("PUT", "/admin/cluster", Value::Null, 405, "PUT"),
    ];
    for (method, path, body, expected, says) in refused {
        let (status, answer) = ask(&fleet, 1, method, path, body).await;
        let error = answer["error"].as_str().unwrap_or_default();
        assert!(status == expected && error.contains(says), "{method} {path}: {status} {answer}");
    }
    let large = request("POST", "/admin/tenants", &json!({"name": "n".repeat(70_000)}), None);
    assert_eq!(send(&fleet, 1, large).await.0, StatusCode::PAYLOAD_TOO_LARGE.as_u16());
    assert_eq!(fleet.member(1).desk().member.map().read(|state| state.tenants().len()), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_fleet_is_shown_as_it_is() {
    let fleet = serving().await;
    for name in ["one", "two", "three"] {
        ask(&fleet, 1, "POST", "/admin/tenants", json!({"name": name, "instance": null})).await;
    }
    let (_, cluster) = ask(&fleet, 1, "GET", "/admin/cluster", Value::Null).await;
    assert_eq!(
        (
            &cluster["initialised"],
            &cluster["replicas"],
            &cluster["shards"],
            &cluster["nodes"],
            &cluster["tenants"]
        ),
        (&json!(true), &json!(3), &json!(2), &json!(3), &json!(3))
    );
    assert_eq!(cluster["leader"], json!(fleet.leader().await));
    assert_eq!(cluster["members"].as_array().map(Vec::len), Some(3));
    let (_, nodes) = ask(&fleet, 1, "GET", "/admin/instances", Value::Null).await;
    let nodes = nodes["instances"].as_array().expect("a list").clone();
    assert!(nodes.len() == 3 && nodes.iter().all(|node| node["state"] == "live"), "{nodes:?}");
    let held: u64 = nodes.iter().filter_map(|node| node["tenants"].as_u64()).sum();
    assert_eq!(held, 3, "every tenant is at one instance");
    let (_, health) = ask(&fleet, 1, "GET", "/admin/instances/a/health", Value::Null).await;
    assert_eq!(health, json!({"name": "a", "healthy": true, "state": "healthy"}));
    let (_, drained) = ask(&fleet, 1, "POST", "/admin/instances/a/drain", Value::Null).await;
    assert_eq!(drained["state"], json!("drained"));
    let (_, shards) = ask(&fleet, 1, "GET", "/admin/shards", Value::Null).await;
    assert_eq!(shards["shards"].as_array().map(Vec::len), Some(2));
    let mut seen = Vec::new();
    let mut path = "/admin/placements?limit=2".to_owned();
    loop {
        let (_, page) = ask(&fleet, 1, "GET", &path, Value::Null).await;
        seen.extend(page["placements"].as_array().expect("a list").clone());
        let Some(next) = page["next"].as_str() else { break };
        path = format!("/admin/placements?limit=2&after={next}");
    }
    assert_eq!(seen.len(), 3, "in pages, each once");
    let vault = seen[0]["vault"].as_str().expect("a vault");
    let (status, witnesses) = ask(&fleet, 1, "GET", &format!("/admin/witnesses/{vault}"), Value::Null).await;
    assert_eq!((status, &witnesses["witnesses"], &witnesses["broken_at"]), (200, &json!([]), &Value::Null));
    let (_, decisions) = ask(&fleet, 1, "GET", "/admin/decisions?limit=5", Value::Null).await;
    let decisions_listed = decisions["decisions"].as_array().expect("a list");
    assert!(decisions_listed.len() == 5 && decisions["next"] == json!(5));
    assert!(
        decisions_listed.iter().all(|decision| decision["reason"].as_str().is_some_and(|r| !r.is_empty()))
    );
    let (status, jobs) = ask(&fleet, 1, "GET", "/admin/jobs", Value::Null).await;
    assert_eq!((status, jobs), (200, json!({"jobs": []})));
}
