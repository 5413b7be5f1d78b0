//! `Idempotency-Key` over a real socket: a write that is sent again is done once and answered alike.

mod support;

use serde_json::{Value, json};
use support::{Reply, Server, with_one_vault};
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;
use undercroft_node::http::AppOptions;
use undercroft_palace::Access;

const DRAWERS: &str = "/v1/vaults/one/drawers";

async fn keyed(server: &Server, method: &str, path: &str, key: &str, body: &str) -> Reply {
    server.send(method, path, &[("Idempotency-Key", key)], body).await
}

async fn records(server: &Server) -> Value {
    server.get("/v1/vaults/one/stats").await.expect(200)["records"].clone()
}

async fn save(server: &Server, text: &str) -> String {
    let saved = server.post(DRAWERS, json!({ "text": text })).await.expect(200);
    saved["id"].as_str().expect("an id").to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_save_that_is_sent_again_makes_one_record_and_is_answered_alike() {
    let dir = with_one_vault();
    let server = Server::plain(&dir).await;
    let body = "{\"text\":\"words\"}";
    let first = keyed(&server, "POST", DRAWERS, "key-1", body).await;
    let again = keyed(&server, "POST", DRAWERS, "key-1", body).await;
    assert_eq!((again.status, &again.body), (200, &first.body));
    assert_eq!(again.header("x-undercroft-position"), first.header("x-undercroft-position"));
    assert_eq!(first.expect(200)["created"], true);
    server.stop().await;
    let server = Server::plain(&dir).await;
    let later = keyed(&server, "POST", DRAWERS, "key-1", body).await;
    assert_eq!((later.status, later.body), (200, again.body));
    assert_eq!(records(&server).await, 1);
    keyed(&server, "POST", DRAWERS, "key-2", body).await.expect(200);
    assert_eq!(records(&server).await, 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_key_with_another_body_or_query_is_a_conflict_that_changes_nothing() {
    let dir = with_one_vault();
    let server = Server::plain(&dir).await;
    keyed(&server, "POST", DRAWERS, "key", "{\"text\":\"words\"}").await.expect(200);
    for other in ["{\"text\":\"other words\"}", "{ \"text\":\"words\"}"] {
        let refused = keyed(&server, "POST", DRAWERS, "key", other).await;
        assert!(refused.error().contains("Idempotency-Key"), "{}", refused.text());
        assert_eq!(refused.expect(409)["class"], "conflict");
    }
    assert_eq!(records(&server).await, 1);
    let one = format!("{DRAWERS}?source=one.md");
    let first = keyed(&server, "DELETE", &one, "gone", "").await.expect(200);
    assert_eq!(keyed(&server, "DELETE", &one, "gone", "").await.expect(200), first);
    keyed(&server, "DELETE", &format!("{DRAWERS}?source=two.md"), "gone", "").await.expect(409);
}

#[tokio::test(flavor = "multi_thread")]
async fn every_change_to_drawers_takes_a_key_and_is_done_once() {
    let dir = with_one_vault();
    let server = Server::plain(&dir).await;
    let (changed, gone) = (save(&server, "to be changed").await, save(&server, "to be destroyed").await);
    save(&server, "twice").await;
    save(&server, "twice").await;
    let changes = [
        ("PUT", format!("{DRAWERS}/{changed}"), "{\"text\":\"changed\"}"),
        ("DELETE", format!("{DRAWERS}/{gone}"), ""),
        ("POST", "/v1/vaults/one/dedup".into(), "{\"apply\":true}"),
        ("DELETE", format!("{DRAWERS}?source=notes.md"), ""),
    ];
    for (method, path, body) in changes {
        // One key for all: method and path are part of what it stands for.
        let first = keyed(&server, method, &path, "key", body).await;
        let again = keyed(&server, method, &path, "key", body).await;
        assert_eq!((first.status, first.text()), (200, again.text()), "{method} {path}");
        assert_eq!(again.status, 200, "{method} {path}");
        assert_eq!(first.header("x-undercroft-position"), again.header("x-undercroft-position"));
    }
    // Without a key the second destruction finds nothing.
    server.send("DELETE", &format!("{DRAWERS}/{gone}"), &[], "").await.expect(404);
    assert_eq!(records(&server).await, 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn many_who_send_one_key_at_once_get_one_answer_and_make_one_record() {
    let dir = with_one_vault();
    let server = Server::plain(&dir).await;
    let address = server.address;
    let sending: Vec<_> = (0..24)
        .map(|_| {
            tokio::spawn(async move {
                let key = [("Idempotency-Key", "key")];
                support::send(address, "POST", DRAWERS, &key, "{\"text\":\"words\"}").await
            })
        })
        .collect();
    let mut answers = Vec::new();
    for sent in sending {
        answers.push(sent.await.expect("ends").expect(200));
    }
    answers.dedup();
    assert_eq!(answers.len(), 1, "{answers:?}");
    assert_eq!(records(&server).await, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_hung_up_before_its_answer_sends_again_and_has_one_record() {
    let dir = with_one_vault();
    let server = Server::plain(&dir).await;
    for round in 0..8 {
        let body = format!("{{\"text\":\"words {round}\"}}");
        let request = format!(
            "POST {DRAWERS} HTTP/1.1\r\nHost: {}\r\nIdempotency-Key: key-{round}\r\nContent-Length: {}\r\n\r\n{body}",
            server.address,
            body.len()
        );
        let mut stream = TcpStream::connect(server.address).await.expect("a connection");
        stream.write_all(request.as_bytes()).await.expect("sends");
        drop(stream);
        keyed(&server, "POST", DRAWERS, &format!("key-{round}"), &body).await.expect(200);
    }
    assert_eq!(records(&server).await, 8);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_failed_is_not_remembered() {
    let dir = with_one_vault();
    let server = Server::plain(&dir).await;
    keyed(&server, "POST", DRAWERS, "key", "{\"text\":\"\"}").await.expect(400);
    keyed(&server, "POST", DRAWERS, "key", "{\"text\":").await.expect(400);
    keyed(&server, "POST", DRAWERS, "key", "{\"text\":\"words\"}").await.expect(200);
    assert_eq!(records(&server).await, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_of_another_form_is_refused_by_name() {
    let dir = with_one_vault();
    let server = Server::plain(&dir).await;
    let body = "{\"text\":\"words\"}";
    for key in ["", "a b", "\u{e9}", &"x".repeat(129)] {
        let refused = keyed(&server, "POST", DRAWERS, key, body).await;
        assert!(refused.error().contains("Idempotency-Key"), "{key:?}: {}", refused.text());
        refused.expect(400);
    }
    let twice = [("Idempotency-Key", "a"), ("Idempotency-Key", "a")];
    assert!(server.send("POST", DRAWERS, &twice, body).await.error().contains("Idempotency-Key"));
    assert_eq!(records(&server).await, 0);
    keyed(&server, "POST", DRAWERS, &"x".repeat(128), body).await.expect(200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_that_takes_no_key_says_so() {
    let dir = with_one_vault();
    let server = Server::plain(&dir).await;
    let refusing = [
        ("POST", "/v1/vaults", "{\"id\":\"two\"}"),
        ("DELETE", "/v1/vaults/one", ""),
        ("POST", "/v1/vaults/one/verify", ""),
        ("POST", "/v1/vaults/one/repair", ""),
        ("POST", "/v1/vaults/one/anchor", ""),
        ("POST", "/v1/vaults/one/backups", ""),
        ("POST", "/v1/vaults/one/backups/restore", "{}"),
        ("POST", "/v1/vaults/one/search", "{\"query\":\"a\"}"),
        ("POST", "/v1/vaults/one/drawers/check-duplicate", "{\"text\":\"a\"}"),
        ("POST", "/v1/vaults/one/dedup", "{\"apply\":false}"),
        ("POST", "/v1/vaults/one/dedup", ""),
    ];
    for (method, path, body) in refusing {
        let refused = keyed(&server, method, path, "key", body).await;
        assert!(refused.error().contains("Idempotency-Key"), "{method} {path}: {}", refused.text());
        refused.expect(400);
    }
    assert_eq!(server.get("/v1/vaults").await.expect(200), json!({ "vaults": ["one"] }));
    assert_eq!(server.get("/v1/vaults/one/backups").await.expect(200)["backups"], json!([]));
    // Nothing is promised about what only reads, or is not there.
    keyed(&server, "GET", DRAWERS, "key", "").await.expect(200);
    keyed(&server, "POST", "/v1/nowhere", "key", "").await.expect(404);
    keyed(&server, "PUT", DRAWERS, "key", "").await.expect(405);
    keyed(&server, "PUT", DRAWERS, "no key", "").await.expect(405);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_read_only_server_refuses_a_key_as_it_refuses_the_change() {
    let dir = with_one_vault();
    let server = Server::start(&dir, Access::ReadOnly, AppOptions::default()).await;
    keyed(&server, "POST", DRAWERS, "key", "{\"text\":\"words\"}").await.expect(403);
}
