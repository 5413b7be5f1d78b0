//! What goes wrong under the server: told to the client without the machine, to the log with its cause, and over once the
//! disk is right again.

mod support;

use std::fs;
use std::sync::{Mutex, OnceLock};

use serde_json::json;
use support::{Server, palace, with_one_vault};
use undercroft_node::http::AppOptions;
use undercroft_palace::{Access, Level};

const DRAWERS: &str = "/v1/vaults/one/drawers";

/// The log of this process, in a file.
fn log() -> String {
    static LOG: OnceLock<std::path::PathBuf> = OnceLock::new();
    let path = LOG.get_or_init(|| {
        let (file, path) = tempfile::NamedTempFile::new().expect("a file").keep().expect("it stays");
        let lines = tracing_subscriber::fmt().with_ansi(false).with_writer(Mutex::new(file)).finish();
        tracing::subscriber::set_global_default(lines).expect("the first one");
        path
    });
    fs::read_to_string(path).expect("the log")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failure_of_the_machine_has_its_cause_in_the_log_and_no_path_in_the_answer() {
    let _ = log();
    let dir = with_one_vault();
    let server = Server::plain(&dir).await;
    fs::write(dir.path().join("palace/backups"), "no folder").expect("a file in its place");
    let place = dir.path().to_str().expect("text").to_owned();
    for (method, id) in [("GET", "failing-1"), ("POST", "failing-2")] {
        let reply = server.send(method, "/v1/vaults/one/backups", &[("X-Request-Id", id)], "").await;
        assert!(!reply.text().contains(&place), "{}", reply.text());
        assert!(reply.error().contains("log"), "{}", reply.text());
        assert_eq!(reply.expect(500)["class"], "internal");
        let log = log();
        let line = log.lines().find(|line| line.contains(id) && line.contains("ERROR"));
        let line = line.unwrap_or_else(|| panic!("no cause of {id} in {log}"));
        assert!(line.contains(&place) && line.contains("backups"), "{line}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_vault_that_was_replaced_on_the_disk_is_opened_anew_after_one_refusal() {
    let dir = with_one_vault();
    let server = Server::plain(&dir).await;
    server.post(DRAWERS, json!({ "text": "of the first" })).await.expect(200);
    let folder = dir.path().join("palace/vaults/one");
    fs::rename(&folder, dir.path().join("aside")).expect("taken away");
    let refused = server.post(DRAWERS, json!({ "text": "lost" })).await;
    assert_eq!(refused.expect(409)["class"], "conflict");
    let ready = server.get("/readyz").await.expect(200);
    assert_eq!((&ready["damaged_vaults"], &ready["damaged"][0]["id"]), (&json!(1), &json!("one")));
    server.get(DRAWERS).await.expect(404);
    palace(&dir).create_vault("one", Level::Sealed).expect("another one of the name");
    assert_eq!(server.get(DRAWERS).await.expect(200), json!({ "drawers": [] }));
    server.post(DRAWERS, json!({ "text": "of the second" })).await.expect(200);
    assert_eq!(server.get("/readyz").await.expect(200)["damaged_vaults"], 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_names_one_host_and_the_whole_address_of_its_line_is_judged_too() {
    let dir = with_one_vault();
    let server = Server::plain(&dir).await;
    let rest = "Connection: close\r\n\r\n";
    for (head, status) in [
        ("GET /v1/vaults HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n", "400"),
        ("GET /v1/vaults HTTP/1.1\r\nHost: localhost\r\nHost: example.org\r\n", "400"),
        ("GET http://example.org/v1/vaults HTTP/1.1\r\nHost: localhost\r\n", "403"),
        ("GET http://localhost/v1/vaults HTTP/1.1\r\nHost: example.org\r\n", "403"),
        ("GET http://localhost/v1/vaults HTTP/1.1\r\nHost: localhost\r\n", "200"),
        (
            "GET /v1/vaults HTTP/1.1\r\nHost: localhost\r\nOrigin: http://localhost\r\nOrigin: http://example.org\r\n",
            "403",
        ),
    ] {
        let answer = server.raw(format!("{head}{rest}").as_bytes()).await;
        assert_eq!(answer.split(' ').nth(1), Some(status), "{head}: {answer}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_is_plain_utf8_and_says_so_or_nothing() {
    let dir = with_one_vault();
    let server = Server::plain(&dir).await;
    for (name, value, status) in [
        ("Content-Encoding", "gzip", 415),
        ("Content-Encoding", "identity", 200),
        ("Content-Type", "application/json; charset=iso-8859-1", 415),
        ("Content-Type", "application/json; charset=\"UTF-8\"", 200),
        ("Content-Type", "application/json", 200),
    ] {
        let reply = server.send("POST", DRAWERS, &[(name, value)], "{\"text\":\"words\"}").await;
        assert_eq!(reply.status, status, "{name}: {value}: {}", reply.text());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn one_path_is_one_place_however_it_is_encoded() {
    let dir = with_one_vault();
    let server = Server::start(&dir, Access::Write, AppOptions::default()).await;
    let key = [("Idempotency-Key", "key")];
    let first = server.send("POST", DRAWERS, &key, "{\"text\":\"words\"}").await.expect(200);
    let again = server.send("POST", "/v1/%76aults/%6Fne/drawers", &key, "{\"text\":\"words\"}").await;
    assert_eq!(again.expect(200), first);
    assert_eq!(server.get("/v1/vaults/one/stats").await.expect(200)["records"], 1);
}
