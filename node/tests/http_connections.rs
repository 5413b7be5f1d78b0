//! More connections than there are places, and answers that nobody reads, over a real socket.

mod support;

use std::time::{Duration, Instant};

use serde_json::json;
use support::{PATIENCE, Server, with_one_vault};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpSocket, TcpStream};
use undercroft_node::http::{AppOptions, Capacity, Deadlines};
use undercroft_palace::Access;

const HALF_A_HEAD: &[u8] = b"GET /v1/vaults HTTP/1.1\r\nHost: localhost\r\nX-A: ";
const HALF_A_BODY: &[u8] =
    b"POST /v1/vaults/one/drawers HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{";

async fn server(dir: &TempDir, capacity: Capacity, deadlines: Deadlines) -> Server {
    let options = AppOptions { metrics: true, capacity, deadlines, ..AppOptions::default() };
    Server::start(dir, Access::Write, options).await
}

async fn holding(server: &Server, bytes: &[u8]) -> TcpStream {
    let mut stream = TcpStream::connect(server.address).await.expect("a connection");
    stream.write_all(bytes).await.expect("it is taken");
    stream
}

async fn counted(server: &Server, reason: &str) -> u64 {
    let text = server.get("/metrics").await.text();
    let series = format!("undercroft_http_connections_ended_total{{reason=\"{reason}\"}} ");
    text.lines()
        .find_map(|line| line.strip_prefix(&series))
        .map_or(0, |count| count.parse().expect("a number"))
}

#[tokio::test(flavor = "multi_thread")]
async fn connections_that_send_nothing_more_make_room_for_newcomers() {
    let dir = with_one_vault();
    let capacity = Capacity { connections: 4, connections_of_one: 4, ..Capacity::default() };
    let server = server(&dir, capacity, Deadlines::default()).await;
    let mut held = Vec::new();
    for _ in 0..12 {
        held.push(holding(&server, HALF_A_HEAD).await);
    }
    assert_eq!(server.get("/livez").await.status, 200);
    server.get("/v1/vaults").await.expect(200);
    let mut rest = Vec::new();
    let ended = tokio::time::timeout(PATIENCE, held[0].read_to_end(&mut rest)).await;
    let _ = ended.expect("the one that waited longest was closed");
    assert!(counted(&server, "idle").await >= 8);
}

#[tokio::test(flavor = "multi_thread")]
async fn where_every_connection_is_at_work_health_answers_and_everything_else_says_when_to_come_back() {
    let dir = with_one_vault();
    let capacity = Capacity { connections: 3, connections_of_one: 3, ..Capacity::default() };
    let server = server(&dir, capacity, Deadlines::default()).await;
    let mut held = Vec::new();
    for _ in 0..3 {
        held.push(holding(&server, HALF_A_BODY).await);
    }
    // Until the last of them is at work, a newcomer still takes its place.
    loop {
        let reply = server.get("/v1/vaults").await;
        if reply.status == 503 {
            assert_eq!(reply.header("retry-after"), "1");
            assert_eq!(reply.header("connection"), "close");
            break;
        }
        held.push(holding(&server, HALF_A_BODY).await);
    }
    assert_eq!(server.get("/livez").await.status, 200);
    drop(held);
    let since = Instant::now();
    while server.get("/v1/vaults").await.status != 200 {
        assert!(since.elapsed() < PATIENCE, "the places are free again");
    }
    assert!(counted(&server, "full").await >= 2);
}

/// Fills the vault so that one search answers with about eleven megabytes.
async fn with_long_texts(server: &Server) {
    for n in 0..110 {
        let text = format!("number {n} {}", "harbour ".repeat(12_400));
        server.post("/v1/vaults/one/drawers", json!({ "text": text })).await.expect(200);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_of_hits_has_a_bound_in_bytes_and_the_refusal_names_the_limit() {
    let dir = with_one_vault();
    let server = Server::plain(&dir).await;
    for n in 0..2 {
        for at in 0..85 {
            let text = format!("number {n} {at} {}", "harbour ".repeat(12_400));
            server.post("/v1/vaults/one/drawers", json!({ "text": text })).await.expect(200);
        }
        let reply =
            server.post("/v1/vaults/one/search", json!({ "query": "harbour", "limit": 10_000 })).await;
        let (status, starts) = [(200, "{\"hits\""), (400, "{\"error\":\"invalid limit: ")][n];
        assert_eq!(reply.status, status);
        assert!(reply.text().starts_with(starts), "{}", &reply.text()[..200]);
    }
    let page = json!({ "query": "harbour", "limit": 100, "offset": 100 });
    let hits = server.post("/v1/vaults/one/search", page).await.expect(200)["hits"].as_array().unwrap().len();
    assert_eq!(hits, 70);
}

/// Asks for everything and reads no more than the head of the answer.
async fn asks_and_reads_nothing(server: &Server) -> TcpStream {
    let socket = TcpSocket::new_v4().expect("a socket");
    socket.set_recv_buffer_size(4096).expect("a small buffer");
    let mut stream = socket.connect(server.address).await.expect("a connection");
    let body = json!({ "query": "harbour", "limit": 110 }).to_string();
    let request = format!(
        "POST /v1/vaults/one/search HTTP/1.1\r\nHost: localhost\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).await.expect("it is taken");
    let mut head = [0; 12];
    stream.read_exact(&mut head).await.expect("an answer begins");
    assert_eq!(&head, b"HTTP/1.1 200");
    stream
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_nobody_reads_is_given_up_and_others_wait_for_room_meanwhile() {
    let dir = with_one_vault();
    let capacity = Capacity { answer_bytes: 16 << 20, ..Capacity::default() };
    let deadlines = Deadlines { answer: Duration::from_secs(2), ..Deadlines::default() };
    let server = server(&dir, capacity, deadlines).await;
    with_long_texts(&server).await;
    let _unread = asks_and_reads_nothing(&server).await;
    let again = server.post("/v1/vaults/one/search", json!({ "query": "harbour", "limit": 110 })).await;
    assert_eq!((again.status, again.header("retry-after").as_str()), (503, "1"));
    // What is small is answered.
    server.post("/v1/vaults/one/drawers", json!({ "text": "small" })).await.expect(200);
    let since = Instant::now();
    while counted(&server, "stalled").await == 0 {
        assert!(since.elapsed() < PATIENCE, "the connection is ended");
    }
    server.post("/v1/vaults/one/search", json!({ "query": "harbour", "limit": 110 })).await.expect(200);
}

#[tokio::test(flavor = "multi_thread")]
async fn stopping_does_not_wait_for_who_reads_nothing_or_sends_half_a_head() {
    let dir = with_one_vault();
    let server = server(&dir, Capacity::default(), Deadlines::default()).await;
    with_long_texts(&server).await;
    let _unread = asks_and_reads_nothing(&server).await;
    let _half = holding(&server, HALF_A_HEAD).await;
    let since = Instant::now();
    let drained = server.stop().await;
    assert!(since.elapsed() < Duration::from_secs(8), "{:?}", since.elapsed());
    assert!(drained.answered && drained.vaults_left == 0, "{drained:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_sends_no_more_gets_its_answer() {
    let dir = with_one_vault();
    let server = Server::plain(&dir).await;
    let mut stream = holding(&server, b"GET /v1/vaults HTTP/1.1\r\nHost: localhost\r\n\r\n").await;
    stream.shutdown().await.expect("its half is closed");
    let mut answer = String::new();
    tokio::time::timeout(PATIENCE, stream.read_to_string(&mut answer))
        .await
        .expect("in time")
        .expect("whole");
    assert!(answer.starts_with("HTTP/1.1 200") && answer.contains("[\"one\"]"), "{answer}");
}
