//! Who may ask, and what a read-only server refuses, over a real socket.

mod support;

use serde_json::json;
use std::time::{SystemTime, UNIX_EPOCH};
use support::{Server, palace, with_one_vault};
use undercroft_node::http::{AppOptions, AssertionSecret, Bearer, assertion, check_exposure};
use undercroft_palace::{Access, Level};

const BEARER: (&str, &str) = ("authorization", "Bearer the-token");

fn guarded() -> AppOptions {
    AppOptions { bearer: Some(Bearer::new("the-token".into())), ..AppOptions::default() }
}

fn secret() -> AssertionSecret {
    AssertionSecret::new("the secret".into())
}

fn asserted() -> AppOptions {
    AppOptions { assertions: Some(secret()), ..guarded() }
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).expect("a clock after 1970").as_secs()
}

fn is_bare_401(reply: &support::Reply) {
    assert_eq!(reply.status, 401, "{}", reply.text());
    assert_eq!(reply.json(), json!({ "error": "unauthorized" }));
    assert_eq!(reply.header("content-type"), "application/json");
    assert_eq!(reply.header("www-authenticate"), "Bearer");
    assert_eq!(reply.header("x-undercroft-position"), "");
}

#[tokio::test(flavor = "multi_thread")]
async fn every_route_but_health_needs_exactly_the_bearer() {
    let dir = with_one_vault();
    let server = Server::start(&dir, Access::Write, AppOptions { metrics: true, ..guarded() }).await;
    let routes = [
        ("GET", "/v1/vaults"),
        ("POST", "/v1/vaults"),
        ("DELETE", "/v1/vaults/one"),
        ("GET", "/v1/vaults/one/stats"),
        ("POST", "/v1/vaults/one/search"),
        ("GET", "/v1/vaults/nobody/stats"),
        ("POST", "/mcp"),
        ("GET", "/metrics"),
        ("GET", "/metrics/"),
        ("GET", "/nowhere"),
        ("GET", "/healthz/x"),
        ("PATCH", "/v1/vaults"),
    ];
    let wrong = [
        vec![],
        vec![("authorization", "")],
        vec![("authorization", "Bearer")],
        vec![("authorization", "Bearer ")],
        vec![("authorization", "Bearer the-toke")],
        vec![("authorization", "Bearer the-token2")],
        vec![("authorization", "Bearer  the-token")],
        vec![("authorization", "Basic the-token")],
        vec![("authorization", "the-token")],
        vec![BEARER, BEARER],
    ];
    for (method, path) in routes {
        for headers in &wrong {
            is_bare_401(&server.send(method, path, headers, "{").await);
        }
    }
    for open in ["/healthz", "/livez", "/readyz", "/healthz/"] {
        assert_eq!(server.get(open).await.status, 200, "{open}");
    }
    server.send("GET", "/v1/vaults", &[BEARER], "").await.expect(200);
    assert_eq!(
        server.send("GET", "/v1/vaults", &[("authorization", "bearer the-token")], "").await.status,
        200
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn readiness_gives_counts_to_anyone_and_names_behind_the_bearer() {
    let dir = with_one_vault();
    std::fs::write(dir.path().join("palace/vaults/one/vault.db"), vec![0x5a; 8192]).unwrap();
    palace(&dir).create_vault("two", Level::Sealed).unwrap();
    let server = Server::start(&dir, Access::Write, guarded()).await;
    let damaged = server.send("GET", "/v1/vaults/one/stats", &[BEARER], "").await.expect(409);
    assert_eq!(damaged["class"], "integrity");
    let text = [("authorization", "Bearer the-token")];
    server.send("POST", "/v1/vaults/two/drawers", &text, "{\"text\":\"fine\"}").await.expect(200);
    let counts = server.get("/readyz").await.expect(200);
    assert_eq!(counts, json!({ "ready": true, "open_vaults": 1, "damaged_vaults": 1 }));
    let named = server.send("GET", "/readyz", &[BEARER], "").await.expect(200);
    assert_eq!(named["damaged"][0]["id"], "one");
    assert_eq!(server.get("/healthz").await.text(), "ok");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_assertion_is_checked_before_the_vault_is_looked_for() {
    let dir = with_one_vault();
    let server = Server::start(&dir, Access::Write, asserted()).await;
    let fresh = assertion(&secret(), now(), "one");
    let headers = [BEARER, ("x-vault-assertion", fresh.as_str())];
    server.send("GET", "/v1/vaults/one/stats", &headers, "").await.expect(200);
    let unknown = assertion(&secret(), now(), "nobody");
    let headers = [BEARER, ("x-vault-assertion", unknown.as_str())];
    server.send("GET", "/v1/vaults/nobody/stats", &headers, "").await.expect(404);
    let old = assertion(&secret(), now() - 200, "one");
    let foreign = assertion(&AssertionSecret::new("another".into()), now(), "one");
    for path in
        ["/v1/vaults/one/stats", "/v1/vaults/nobody/stats", "/v1/vaults/one/kg/stats", "/v1/vaults/%20/stats"]
    {
        is_bare_401(&server.send("GET", path, &[BEARER], "").await);
        for shown in [&old, &foreign, &unknown, &String::from("x")] {
            if path.contains("nobody") && *shown == unknown {
                continue;
            }
            is_bare_401(&server.send("GET", path, &[BEARER, ("x-vault-assertion", shown)], "").await);
        }
        let twice = [BEARER, ("x-vault-assertion", fresh.as_str()), ("x-vault-assertion", fresh.as_str())];
        is_bare_401(&server.send("GET", path, &twice, "").await);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn under_assertions_vaults_are_made_by_name_and_not_listed() {
    let dir = with_one_vault();
    let server = Server::start(&dir, Access::Write, asserted()).await;
    server.send("GET", "/v1/vaults", &[BEARER], "").await.expect(403);
    let two = assertion(&secret(), now(), "two");
    let headers = [BEARER, ("x-vault-assertion", two.as_str())];
    is_bare_401(&server.send("POST", "/v1/vaults", &headers, "{\"id\":\"three\"}").await);
    is_bare_401(&server.send("POST", "/v1/vaults", &headers, "{\"id\":\"one\"}").await);
    server.send("POST", "/v1/vaults", &headers, "{\"id\":\"two\"}").await.expect(201);
    let reviewed = "/v1/vaults/two/drawers?wing=quarantine-pending";
    server.send("GET", reviewed, &headers, "").await.expect(403);
    let body = "{\"query\":\"a\",\"wing\":\"quarantine-pending\"}";
    server.send("POST", "/v1/vaults/two/search", &headers, body).await.expect(403);
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_bearer_pages_of_a_browser_do_not_reach_the_vaults() {
    let dir = with_one_vault();
    let server = Server::plain(&dir).await;
    for host in ["evil.example", "evil.example:8765", "127.0.0.1.nip.io", "", "[::2]"] {
        assert_eq!(server.send("GET", "/v1/vaults", &[("host", host)], "").await.status, 403, "{host}");
    }
    for origin in ["https://evil.example", "null", "http://localhost.evil.example", "file://"] {
        let headers = [("origin", origin)];
        let reply = server.send("POST", "/v1/vaults/one/drawers", &headers, "{\"text\":\"a\"}").await;
        assert_eq!(reply.status, 403, "{origin}");
    }
    let own = [("host", "localhost:8765"), ("origin", "http://127.0.0.1:9000")];
    server.send("GET", "/v1/vaults", &own, "").await.expect(200);
    assert_eq!(server.get("/v1/vaults/one/stats").await.expect(200)["records"], 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_read_only_server_reads_and_does_nothing_else() {
    let dir = with_one_vault();
    let server = Server::start(&dir, Access::ReadOnly, AppOptions::default()).await;
    let refused = [
        ("POST", "/v1/vaults"),
        ("DELETE", "/v1/vaults/one"),
        ("POST", "/v1/vaults/one/drawers"),
        ("PUT", "/v1/vaults/one/drawers/x"),
        ("DELETE", "/v1/vaults/one/drawers/x"),
        ("POST", "/v1/vaults/one/drawers/check-duplicate"),
        ("POST", "/v1/vaults/one/dedup"),
        ("POST", "/v1/vaults/one/backups"),
        ("POST", "/v1/vaults/one/backups/restore"),
        ("POST", "/v1/vaults/one/repair"),
        ("POST", "/v1/vaults/one/anchor"),
        ("POST", "/v1/vaults/one/rotate"),
        ("POST", "/v1/vaults/one/import"),
        ("POST", "/v1/vaults/one/forget"),
        ("POST", "/nowhere"),
        ("HEAD", "/v1/vaults"),
        ("PATCH", "/v1/vaults/one/search"),
    ];
    for (method, path) in refused {
        let reply = server.send(method, path, &[], "{").await;
        assert_eq!(reply.status, 403, "{method} {path}: {}", reply.text());
        if method != "HEAD" {
            assert_eq!(reply.error(), "server is read-only");
        }
    }
    server.post("/v1/vaults/one/search", json!({ "query": "a" })).await.expect(200);
    assert_eq!(server.send("POST", "/v1/vaults/one/verify", &[], "").await.expect(200)["ok"], true);
    let stats = server.get("/v1/vaults/one/stats").await.expect(200);
    assert_eq!((&stats["read_only"], &stats["chain_records"]), (&json!(true), &json!(0)));
}

#[test]
fn a_server_without_bearer_does_not_listen_beyond_this_machine() {
    for host in ["127.0.0.1", "localhost", "::1"] {
        check_exposure(host, &AppOptions::default()).unwrap();
    }
    for host in ["0.0.0.0", "::", "192.0.2.1", "example.org"] {
        check_exposure(host, &AppOptions::default()).unwrap_err();
        check_exposure(host, &guarded()).unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn agents_reach_the_vault_of_the_path_and_the_resident_one_and_no_other() {
    let dir = with_one_vault();
    palace(&dir).create_vault("two", Level::Sealed).unwrap();
    let options = undercroft_node::serving::ServingOptions {
        access: Access::Write,
        resident: Some("one".into()),
        bounds: undercroft_node::serving::Bounds::default(),
    };
    let server = Server::start_with(&dir, options, asserted()).await;
    let call = json!({
        "jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": { "name": "undercroft_save", "arguments": { "content": "said to an agent", "wing": "w", "room": "r" } },
    })
    .to_string();
    let one = assertion(&secret(), now(), "one");
    let two = assertion(&secret(), now(), "two");
    for (path, right, wrong) in [("/mcp", &one, &two), ("/v1/vaults/two/mcp", &two, &one)] {
        is_bare_401(&server.send("POST", path, &[BEARER], &call).await);
        is_bare_401(&server.send("POST", path, &[BEARER, ("x-vault-assertion", wrong)], &call).await);
        let headers = [BEARER, ("x-vault-assertion", right.as_str())];
        let reply = server.send("POST", path, &headers, &call).await;
        assert_eq!(reply.header("x-undercroft-position"), "0:1", "{path}: {}", reply.text());
        assert_ne!(reply.expect(200)["result"]["isError"], json!(true), "{path}");
        let old = [headers[0], headers[1], ("mcp-protocol-version", "1999-01-01")];
        assert_eq!(server.send("POST", path, &old, &call).await.status, 400, "{path}");
        assert_eq!(server.send("GET", path, &headers, "").await.status, 405, "{path}");
    }
}
