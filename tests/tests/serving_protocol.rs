//! Requests as they must not be, sent to the real server as bytes: each is refused with a clear status, or read in the one way that
//! leaves nothing over. None hangs, none reaches a second request, none shows a word of a vault.

use serde_json::json;
use undercroft_tests::support::{Palace, Served};

const WORD: &str = "Quillfeather";

/// Another request, hidden in the body of the first: if it is carried out, the vault is gone.
const HIDDEN: &str = "DELETE /v1/vaults/canary HTTP/1.1\r\nHost: localhost\r\n\r\n";

struct Story {
    palace: Palace,
    server: Served,
}

impl Story {
    fn new() -> Self {
        let palace = Palace::new();
        let _ = palace.run(&["vault", "create", "canary"]).ok();
        let _ = palace.run(&["remember", WORD, "--vault", "canary"]).ok();
        let server = Served::start(&palace);
        Self { palace, server }
    }

    /// The statuses of all answers to these bytes, once the server has closed the connection.
    fn statuses(&self, bytes: &[u8]) -> Vec<u16> {
        let answer = self.server.client().raw(bytes);
        let text = String::from_utf8_lossy(&answer);
        assert!(!text.contains(WORD), "{text}");
        let answers = text.match_indices("HTTP/1.");
        answers.filter_map(|(at, _)| text.get(at + 9..at + 12)?.parse().ok()).collect()
    }

    /// Exactly one answer, a refusal.
    fn refused(&self, bytes: &[u8]) {
        let statuses = self.statuses(bytes);
        let shown = String::from_utf8_lossy(&bytes[..bytes.len().min(120)]).into_owned();
        assert!(statuses.len() == 1 && (400..500).contains(&statuses[0]), "{shown:?}: {statuses:?}");
    }

    fn ends(self) {
        let mut client = self.server.client();
        let vaults = client.send("GET", "/v1/vaults", &[], "").expect("an answer").expect(200);
        assert_eq!(vaults, json!({ "vaults": ["canary", "default"] }));
        let stats = client.send("GET", "/v1/vaults/canary/stats", &[], "").expect("an answer").expect(200);
        assert_eq!(stats["records"], 1);
        let _ = self.server.stop();
        let _ = self.palace.run(&["verify", "--vault", "canary"]).ok().says("VERIFY OK");
    }
}

/// A save with these header lines and this body.
fn save(lines: &str, body: &str) -> Vec<u8> {
    format!("POST /v1/vaults/default/drawers HTTP/1.1\r\nHost: localhost\r\n{lines}\r\n{body}").into_bytes()
}

#[test]
fn lengths_that_can_be_read_in_two_ways_are_refused_or_end_the_connection() {
    let story = Story::new();
    for lines in [
        "Content-Length: 5\r\nContent-Length: 6\r\n",
        "Content-Length: 5, 6\r\n",
        "Content-Length: +5\r\n",
        "Content-Length: 0x5\r\n",
        "Content-Length: 5 5\r\n",
        "Content-Length: 99999999999999999999\r\n",
        "Content-Length: \r\n",
        "Content-Length : 5\r\n",
        "Content-Length:\r\n 5\r\n",
        "Transfer-Encoding: identity\r\n",
        "Transfer-Encoding: chunked, identity\r\n",
        "Transfer-Encoding: xchunked\r\n",
        "Transfer-Encoding : chunked\r\n",
        "Transfer-Encoding:\r\n chunked\r\n",
        "X: a\r\n folded\r\nContent-Length: 0\r\n",
    ] {
        story.refused(&save(lines, HIDDEN));
    }
    // Both lengths at once: the chunks count, and whatever follows them is not looked at.
    for lines in [
        "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
        "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n",
    ] {
        story.refused(&save(lines, &format!("0\r\n\r\n{HIDDEN}")));
    }
    story.ends();
}

#[test]
fn chunks_that_are_none_are_refused() {
    let story = Story::new();
    let long = "a".repeat(40_000);
    for body in [
        "zz\r\n",
        "-1\r\nx\r\n0\r\n\r\n",
        "fffffffffffffffff\r\n",
        "2\r\n{}x\r\n0\r\n\r\n",
        "2\n{}\n0\n\n",
        &format!("2;{long}\r\n{{}}\r\n0\r\n\r\n"),
        &format!("0\r\nX: {long}\r\n\r\n"),
    ] {
        story.refused(&save("Connection: close\r\nTransfer-Encoding: chunked\r\n", body));
    }
    story.ends();
}

#[test]
fn heads_that_are_malformed_too_long_or_no_text_are_refused() {
    let story = Story::new();
    let long = "a".repeat(70_000);
    let many: String = (0..200).map(|n| format!("X-{n}: y\r\n")).collect();
    let with = |line: &str| format!("{line}\r\nHost: localhost\r\nConnection: close\r\n\r\n").into_bytes();
    for bytes in [
        b"nonsense\r\n\r\n".to_vec(),
        with("GET /v1/vaults"),
        with("GET  /v1/vaults HTTP/1.1"),
        with("GET /v1/vaults HTTP/1.1 x"),
        with("GET /v1/vaults HTTP/9.9"),
        with("G\u{0}T /v1/vaults HTTP/1.1"),
        with("GET v1/vaults HTTP/1.1"),
        with(&format!("GET /{long} HTTP/1.1")),
        with(&format!("GET / HTTP/1.1\r\nX: {long}")),
        with(&format!("GET / HTTP/1.1\r\n{many}X: y")),
        with("GET / HTTP/1.1\r\nX\u{0}: y"),
        with("GET / HTTP/1.1\r\nX: a\u{0}b"),
        with("GET / HTTP/1.1\r\nno colon"),
        with("GET / HTTP/1.1\r\n: no name"),
        with("GET /v1/vaults/canary%FF/stats HTTP/1.1"),
        with("GET /v1/vaults/%00/stats HTTP/1.1"),
        with("GET /v1/vaults/canary%2f..%2fdefault/stats HTTP/1.1"),
        with("GET /v1/vaults/../vaults/canary/stats HTTP/1.1"),
        b"GET /v1/vaults/\xff\xfe/stats HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".to_vec(),
        with("GET /v1/vaults/canary/drawers?wing=%ff HTTP/1.1"),
        with("GET /v1/vaults HTTP/1.1\r\nHost: elsewhere.example"),
        b"GET /v1/vaults HTTP/1.1\r\nConnection: close\r\n\r\n".to_vec(),
        with("CONNECT localhost:1 HTTP/1.1"),
        with("TRACE /v1/vaults HTTP/1.1"),
    ] {
        story.refused(&bytes);
    }
    story.ends();
}

#[test]
fn bodies_that_are_cut_no_text_or_no_json_are_refused_and_change_nothing() {
    let story = Story::new();
    let close = "Connection: close\r\n";
    let deep = format!("{}{}", "[".repeat(50_000), "]".repeat(50_000));
    for body in [
        &b"{\"text\":\"\xff\xfe\"}"[..],
        b"{\"text\":\"\\ud800\"}",
        b"{\"text\":",
        b"{\"text\":\"a\",\"text\":\"b\"}",
        b"{\"text\":\"a\"}{\"text\":\"b\"}",
        b"[]",
        b"null",
        b"\"text\"",
        b"",
        b"{\"text\":1e999}",
        deep.as_bytes(),
    ] {
        let mut bytes = save(&format!("{close}Content-Length: {}\r\n", body.len()), "");
        bytes.extend_from_slice(body);
        story.refused(&bytes);
    }
    story.refused(&save(&format!("{close}Content-Length: 1048577\r\n"), ""));
    let mut client = story.server.client();
    let stats = client.send("GET", "/v1/vaults/default/stats", &[], "").expect("an answer").expect(200);
    assert_eq!(stats["records"], 0);
    story.ends();
}

#[test]
fn a_client_that_goes_away_in_the_middle_leaves_nothing_behind() {
    let story = Story::new();
    for part in [&b"POST /v1/vaults/default/dra"[..], &save("Content-Length: 100\r\n", "{\"text\":\"half")] {
        for _ in 0..50 {
            story.server.client().leave(part);
        }
    }
    let mut client = story.server.client();
    let stats = client.send("GET", "/v1/vaults/default/stats", &[], "").expect("an answer").expect(200);
    assert_eq!(stats["records"], 0);
    story.ends();
}
