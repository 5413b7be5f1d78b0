//! What too much, too slow and nonsense come to, and that stopping loses nothing, over a real socket.

mod support;

use std::time::Duration;

use serde_json::json;
use support::{PATIENCE, Server, palace, send, with_one_vault};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use undercroft_node::http::{AppOptions, Bearer, Deadlines};
use undercroft_palace::{Access, Level};

fn status_of(answer: &str) -> &str {
    answer.split(' ').nth(1).unwrap_or("closed without an answer")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_over_the_limit_is_refused_whether_or_not_it_says_how_long_it_is() {
    let dir = with_one_vault();
    let server = Server::plain(&dir).await;
    let announced = "POST /v1/vaults/one/drawers HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: 1048577\r\n\r\n";
    assert_eq!(status_of(&server.raw(announced.as_bytes()).await), "413");
    let text = "x".repeat(1 << 20);
    let body = json!({ "text": text }).to_string();
    let chunked = format!(
        "POST /v1/vaults/one/drawers HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n{:x}\r\n{body}\r\n0\r\n\r\n",
        body.len()
    );
    assert_eq!(status_of(&server.raw(chunked.as_bytes()).await), "413");
    let long = json!({ "text": "x".repeat(100_001) });
    server.post("/v1/vaults/one/drawers", long).await.expect(400);
    server.post("/v1/vaults/one/drawers", json!({ "text": "x".repeat(100_000) })).await.expect(200);
}

#[tokio::test(flavor = "multi_thread")]
async fn malformed_requests_are_refused_and_hang_nothing() {
    let dir = with_one_vault();
    let server = Server::plain(&dir).await;
    let long = "a".repeat(70_000);
    let many: String = (0..200).map(|n| format!("X-{n}: y\r\n")).collect();
    let cases = [
        "nonsense\r\n\r\n".to_owned(),
        "GET /v1/vaults\r\n\r\n".to_owned(),
        "GET /v1/vaults HTTP/9.9\r\n\r\n".to_owned(),
        format!("GET /{long} HTTP/1.1\r\nHost: localhost\r\n\r\n"),
        format!("GET / HTTP/1.1\r\nHost: localhost\r\nX: {long}\r\n\r\n"),
        format!("GET / HTTP/1.1\r\nHost: localhost\r\n{many}\r\n"),
        "GET / HTTP/1.1\r\nHost: localhost\r\nX\u{0}: y\r\n\r\n".to_owned(),
        "POST /v1/vaults/one/drawers HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n{}".to_owned(),
        "POST /v1/vaults/one/drawers HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n{}".to_owned(),
        "POST /v1/vaults/one/drawers HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: cow\r\n\r\n{}".to_owned(),
        "POST /v1/vaults/one/drawers HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n".to_owned(),
    ];
    for case in cases {
        let answer = server.raw(case.as_bytes()).await;
        let shown: String = case.chars().take(60).collect();
        assert!(status_of(&answer).starts_with('4'), "{shown:?}: {answer:?}");
    }
    let bytes = b"POST /v1/vaults/one/drawers HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: 13\r\n\r\n{\"text\":\"\xff\xfe\"}";
    assert_eq!(status_of(&server.raw(bytes).await), "400");
    // Bytes that are no UTF-8 are not read as other characters.
    server.get("/v1/vaults/one/drawers?wing=%ff").await.expect(400);
    server.get("/v1/vaults/one/drawers?wing=%C3%BC&room=100%25").await.expect(200);
    // Both lengths at once: the chunked one counts, and what follows is not a second request.
    let smuggled = "POST /v1/vaults/one/drawers HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nDELETE /v1/vaults/one HTTP/1.1\r\nHost: localhost\r\n\r\n";
    let answer = server.raw(smuggled.as_bytes()).await;
    assert_eq!(answer.matches("HTTP/1.1").count(), 1, "{answer}");
    assert_eq!(server.get("/v1/vaults").await.expect(200), json!({ "vaults": ["one"] }));
}

#[tokio::test(flavor = "multi_thread")]
async fn who_sends_too_slowly_loses_the_connection_and_delays_nobody() {
    let dir = with_one_vault();
    let soon = Duration::from_millis(50);
    let options = AppOptions {
        deadlines: Deadlines { head: soon, body: soon, ..Deadlines::default() },
        ..AppOptions::default()
    };
    let server = Server::start(&dir, Access::Write, options).await;
    let half_a_head = server.raw(b"GET /v1/vaults HTTP/1.1\r\nHost: loc").await;
    assert!(half_a_head.is_empty() || status_of(&half_a_head) == "408", "{half_a_head}");
    let half_a_body = server
        .raw(b"POST /v1/vaults/one/drawers HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{")
        .await;
    assert_eq!(status_of(&half_a_body), "408");
    server.get("/v1/vaults").await.expect(200);
}

#[tokio::test(flavor = "multi_thread")]
async fn clients_of_one_vault_share_transactions_and_every_position_holds_its_write() {
    let dir = with_one_vault();
    let options = AppOptions { metrics: true, ..AppOptions::default() };
    let server = Server::start(&dir, Access::Write, options).await;
    let address = server.address;
    let clients: Vec<_> = (0..16)
        .map(|client| {
            tokio::spawn(async move {
                let mut last = 0;
                for n in 0..10 {
                    let body = json!({ "text": format!("client {client} says {n}") }).to_string();
                    let reply = send(address, "POST", "/v1/vaults/one/drawers", &[], &body).await;
                    assert_eq!(reply.status, 200, "{}", reply.text());
                    let position = reply.header("x-undercroft-position");
                    let height: u64 = position.strip_prefix("0:").unwrap().parse().unwrap();
                    assert!(height > last, "{height} after {last}");
                    last = height;
                }
            })
        })
        .collect();
    for client in clients {
        client.await.unwrap();
    }
    let stats = server.get("/v1/vaults/one/stats").await;
    assert_eq!(stats.header("x-undercroft-position"), "0:160");
    assert_eq!(stats.expect(200)["records"], 160);
    let metrics = server.get("/metrics").await;
    assert_eq!(metrics.header("content-type"), "text/plain; version=0.0.4");
    let text = metrics.text();
    let value = |series: &str| -> u64 {
        let line = text.lines().find_map(|line| line.strip_prefix(&format!("{series} ")));
        line.unwrap_or_else(|| panic!("{series} in {text}")).parse().unwrap()
    };
    assert_eq!(value("undercroft_drawer_writes_total{outcome=\"created\"}"), 160);
    assert_eq!(value("undercroft_audit_chain_height{vault=\"one\"}"), 160);
    assert_eq!(value("undercroft_http_requests_total{route=\"v1_drawers\",status=\"200\"}"), 160);
    assert!(value("undercroft_write_groups_total") < 160, "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn names_of_vaults_are_no_metrics_under_assertions() {
    let dir = with_one_vault();
    let options = AppOptions {
        metrics: true,
        bearer: Some(Bearer::new("t".into())),
        assertions: Some(undercroft_node::http::AssertionSecret::new("s".into())),
        ..AppOptions::default()
    };
    let server = Server::start(&dir, Access::Write, options).await;
    server.serving.vault("one").await.unwrap();
    let text = server.send("GET", "/metrics", &[("authorization", "Bearer t")], "").await.text();
    assert!(text.contains("undercroft_vault_opens_total 1") && !text.contains("\"one\""), "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn stopping_under_load_loses_nothing_that_was_acknowledged() {
    let dir = with_one_vault();
    palace(&dir).create_vault("two", Level::Sealed).unwrap();
    let mut server = Server::plain(&dir).await;
    let address = server.address;
    let (first, mut acknowledged_first) = tokio::sync::mpsc::channel::<()>(64);
    let clients: Vec<_> = (0..8)
        .map(|client| {
            let first = first.clone();
            tokio::spawn(async move { keep_saving(address, client, first).await })
        })
        .collect();
    acknowledged_first.recv().await.unwrap();
    server.tell_to_stop();
    let mut acknowledged = 0;
    for client in clients {
        acknowledged += client.await.unwrap();
    }
    let drained = server.stop().await;
    assert!(drained.answered && drained.vaults_left == 0, "{drained:?}");
    let mut kept = 0;
    for name in ["one", "two"] {
        let vault = palace(&dir).open_vault(name, Access::ReadOnly).unwrap();
        assert_eq!(*vault.recovery(), undercroft_vault::Recovery::Current, "{name} was anchored");
        assert!(vault.verify(&mut |_| {}).unwrap().ok);
        kept += vault.stats().unwrap().records;
    }
    // An answer may be lost on the way; a write that was acknowledged may not.
    assert!(acknowledged > 0 && kept >= acknowledged, "{kept} kept of {acknowledged}");
}

/// Saves on one connection until the server closes it; gives the number of acknowledged saves.
async fn keep_saving(
    address: std::net::SocketAddr,
    client: usize,
    first: tokio::sync::mpsc::Sender<()>,
) -> u64 {
    let vault = if client.is_multiple_of(2) { "one" } else { "two" };
    let Ok(mut stream) = TcpStream::connect(address).await else { return 0 };
    let mut acknowledged = 0;
    loop {
        let body = json!({ "text": format!("client {client} text {acknowledged}") }).to_string();
        let request = format!(
            "POST /v1/vaults/{vault}/drawers HTTP/1.1\r\nHost: localhost\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        if stream.write_all(request.as_bytes()).await.is_err() {
            return acknowledged;
        }
        let mut answer = vec![0; 4096];
        match tokio::time::timeout(PATIENCE, stream.read(&mut answer)).await.expect("an answer or an end") {
            Ok(read) if read > 0 && answer.starts_with(b"HTTP/1.1 200") => acknowledged += 1,
            _ => return acknowledged,
        }
        // Nobody counts further ones.
        let _ = first.try_send(());
    }
}
