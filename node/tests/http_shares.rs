//! One client among many: what it holds with half a request is its own share, over a real socket.

mod support;

use std::time::{Duration, Instant};

use serde_json::json;
use support::{PATIENCE, Server, palace, with_one_vault};
use tempfile::TempDir;
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;
use undercroft_node::http::{AppOptions, Bearer, Capacity, Deadlines};
use undercroft_palace::{Access, Level};

const HALF_A_BODY: &[u8] =
    b"POST /v1/vaults/one/drawers HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{";
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

async fn server(dir: &TempDir, options: AppOptions) -> Server {
    Server::start(dir, Access::Write, options).await
}

async fn holding(server: &Server, bytes: &[u8]) -> TcpStream {
    let mut stream = TcpStream::connect(server.address).await.expect("a connection");
    stream.write_all(bytes).await.expect("it is taken");
    stream
}

fn frame(kind: u8, flags: u8, stream: u8, payload: &[u8]) -> Vec<u8> {
    let mut frame = u32::try_from(payload.len()).expect("it is small").to_be_bytes()[1..].to_vec();
    frame.extend([kind, flags, 0, 0, 0, stream]);
    frame.extend(payload);
    frame
}

/// `GET path` of HTTP/2, with further lines: indexed fields of the static table, and literals without a name there.
fn get(path: &str, lines: usize) -> Vec<u8> {
    let mut head = vec![0x82, 0x86, 0x04, u8::try_from(path.len()).expect("it is small")];
    head.extend(path.as_bytes());
    head.extend([0x01, 9]);
    head.extend(b"localhost");
    for n in 0..lines {
        head.extend([
            0x00,
            3,
            b'x',
            b'a' + u8::try_from(n / 26).expect("it is small"),
            b'a' + u8::try_from(n % 26).expect("it is small"),
        ]);
        head.extend([1, b'y']);
    }
    frame(1, 5, 1, &head)
}

#[tokio::test(flavor = "multi_thread")]
async fn unfinished_bodies_of_one_vault_turn_away_its_own_requests_and_no_others() {
    let dir = with_one_vault();
    palace(&dir).create_vault("two", Level::Sealed).expect("a vault");
    let capacity = Capacity { arriving_of_vault: 2, ..Capacity::default() };
    let server = server(&dir, AppOptions { capacity, ..AppOptions::default() }).await;
    let held = [holding(&server, HALF_A_BODY).await, holding(&server, HALF_A_BODY).await];
    let since = Instant::now();
    loop {
        let reply = server.post("/v1/vaults/one/drawers", json!({ "text": "words" })).await;
        if reply.status == 429 {
            assert_eq!(reply.header("retry-after"), "1");
            break;
        }
        assert!(since.elapsed() < PATIENCE, "both are arriving");
    }
    server.post("/v1/vaults/two/drawers", json!({ "text": "words" })).await.expect(200);
    server.get("/v1/vaults/one/stats").await.expect(200);
    drop(held);
    while server.post("/v1/vaults/one/drawers", json!({ "text": "words" })).await.status != 200 {
        assert!(since.elapsed() < PATIENCE, "their places are free again");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn bytes_of_bodies_have_a_bound() {
    let dir = with_one_vault();
    let capacity = Capacity { bodies_bytes: 4_000, ..Capacity::default() };
    let server = server(&dir, AppOptions { capacity, ..AppOptions::default() }).await;
    let large = json!({ "text": "x".repeat(1_100) });
    let reply = server.post("/v1/vaults/one/drawers", large).await;
    assert_eq!((reply.status, reply.header("retry-after").as_str()), (429, "1"));
    for _ in 0..8 {
        server.post("/v1/vaults/one/drawers", json!({ "text": "x".repeat(900) })).await.expect(200);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn who_sends_nothing_or_part_of_a_preface_is_not_waited_for() {
    let dir = with_one_vault();
    let deadlines = Deadlines { head: Duration::from_millis(100), ..Deadlines::default() };
    let server = server(&dir, AppOptions { deadlines, ..AppOptions::default() }).await;
    for part in [0, 1, 10, PREFACE.len() - 1, PREFACE.len()] {
        server.raw(&PREFACE[..part]).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn refused_requests_whose_answers_nobody_takes_hold_no_connection() {
    let dir = with_one_vault();
    let capacity = Capacity { connections: 3, connections_of_one: 3, ..Capacity::default() };
    let bearer = Some(Bearer::new("token".to_owned()));
    let server = server(&dir, AppOptions { capacity, bearer, ..AppOptions::default() }).await;
    // The client takes no byte of any answer.
    let no_window = [PREFACE, &frame(4, 0, 0, &[0, 4, 0, 0, 0, 0]), &get("/v1/vaults", 0)].concat();
    let mut held = Vec::new();
    for _ in 0..3 {
        held.push(holding(&server, &no_window).await);
    }
    let since = Instant::now();
    let shown = [("authorization", "Bearer token")];
    while server.send("GET", "/v1/vaults", &shown, "").await.status != 200 {
        assert!(since.elapsed() < Duration::from_secs(10), "they make room");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn lines_of_a_head_are_counted_over_http_2_too() {
    let dir = with_one_vault();
    let deadlines = Deadlines { head: Duration::from_millis(500), ..Deadlines::default() };
    let server = server(&dir, AppOptions { deadlines, ..AppOptions::default() }).await;
    for (lines, answer) in [(60, "{\"vaults\":[\"one\"]}"), (65, "the head has over 64 lines")] {
        let asked = [PREFACE, &frame(4, 0, 0, &[]), &get("/v1/vaults", lines)].concat();
        let said = server.raw(&asked).await;
        assert!(said.contains(answer), "{lines}: {said:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_of_this_machine_writes_nothing_without_asking_before() {
    let dir = with_one_vault();
    let server = Server::plain(&dir).await;
    let (json, page) = (("content-type", "application/json"), ("origin", "http://localhost:3000"));
    let (plain, foreign) = (("content-type", "text/plain"), ("origin", "http://example.org"));
    let save = ("/v1/vaults/one/drawers", "{\"text\":\"words\"}");
    let cases: [(&[(&str, &str)], u16); 7] = [
        (&[], 200),
        (&[json], 200),
        (&[json, page], 200),
        (&[("content-type", "Application/JSON; charset=utf-8"), page], 200),
        (&[page], 415),
        (&[plain], 415),
        (&[plain, page], 415),
    ];
    for (headers, status) in cases {
        let reply = server.send("POST", save.0, headers, save.1).await;
        assert_eq!(reply.status, status, "{headers:?}: {}", reply.text());
    }
    assert_eq!(server.send("POST", save.0, &[json, foreign], save.1).await.status, 403);
    // Not either where there is no body to be of a type.
    assert_eq!(server.send("POST", "/v1/vaults/one/anchor", &[page], "").await.status, 415);
    assert_eq!(server.send("GET", "/v1/vaults", &[page], "").await.status, 200);
    // Nobody answers a page that asks before.
    assert_eq!(server.send("OPTIONS", save.0, &[page], "").await.status, 405);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_transfer_coding_beside_chunked_is_not_taken() {
    let dir = with_one_vault();
    let server = Server::plain(&dir).await;
    let coded = b"POST /v1/vaults/one/drawers HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nTransfer-Encoding: gzip, chunked\r\n\r\n10\r\n{\"text\":\"words\"}\r\n0\r\n\r\n";
    let answer = server.raw(coded).await;
    assert!(answer.starts_with("HTTP/1.1 415"), "{answer}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_name_that_no_backup_can_have_is_not_found() {
    let dir = with_one_vault();
    let server = Server::plain(&dir).await;
    for name in ["a\0b", &"x".repeat(300), "/", "../one"] {
        let reply = server.post("/v1/vaults/one/backups/restore", json!({ "name": name })).await;
        assert_eq!(reply.status, 404, "{}", reply.text());
    }
    let reply = server.post("/v1/vaults/one/backups/restore", json!({ "name": "/" })).await;
    assert!(reply.error().contains("'/'"), "{}", reply.text());
}
