//! What a server says about itself: no log line at any level holds anything that somebody said or a secret, and `/metrics` holds
//! numbers and names of vaults.

use std::io::Read as _;

use serde_json::json;
use undercroft_tests::support::{Answered, Client, Palace, Served};

const TOKEN: &str = "Tokenlarkspur-0123456789abcdef";
const SECRET: &str = "Secretcampion-0123456789abcdef";

/// Words that are sent, each in one place only, and that no line may hold.
const PLANTED: [&str; 22] = [
    TOKEN,
    SECRET,
    "Wrongtokenmallow",
    "Textquillfeather",
    "Querygrouse",
    "Wingfurlow",
    "Roomsedge",
    "Agentmallow",
    "Channelbriar",
    "Sessionyarrow",
    "Updatedavocet",
    "Sourcetansy",
    "Brokenteasel",
    "Unknownfieldplover",
    "Kindcurlew",
    "Datedunlin",
    "Keyheron",
    "Toolknot",
    "Argumentruff",
    "Pathgodwit",
    "Headerpetrel",
    "Framesanderling",
];

struct Speaker {
    client: Client,
    headers: Vec<(String, String)>,
}

impl Speaker {
    fn ask(&mut self, method: &str, path: &str, body: &str) -> Answered {
        let headers: Vec<(&str, &str)> = self.headers.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect();
        self.client.send(method, path, &headers, body).expect("an answer")
    }
}

/// An assertion for the vault, good for two minutes.
fn assertion(palace: &Palace, vault: &str) -> String {
    palace.run(&["assert-header", vault]).ok().stdout.trim().to_owned()
}

/// Every kind of request with planted words in every place that takes words.
fn say_everything(server: &Served, assertion: &str) {
    let bearer = ("Authorization".to_owned(), format!("Bearer {TOKEN}"));
    let asserted = ("X-Vault-Assertion".to_owned(), assertion.to_owned());
    let key = ("Idempotency-Key".to_owned(), "Keyheron".to_owned());
    let mut speaker =
        Speaker { client: server.client(), headers: vec![bearer.clone(), asserted.clone(), key] };
    let vault = "/v1/vaults/default";
    let save = json!({ "text": "Textquillfeather", "wing": "Wingfurlow", "room": "Roomsedge", "agent": "Agentmallow",
                       "channel": "Channelbriar", "session": "Sessionyarrow" });
    let id = speaker.ask("POST", &format!("{vault}/drawers"), &save.to_string()).expect(200)["id"].clone();
    let id = id.as_str().expect("an id").to_owned();
    speaker.headers.pop();
    for (method, path, body, status) in [
        ("POST", "/search", json!({ "query": "Querygrouse", "wing": "Wingfurlow" }).to_string(), 200),
        ("GET", "/drawers?wing=Wingfurlow&room=Roomsedge", String::new(), 200),
        ("PUT", &format!("/drawers/{id}"), json!({ "text": "Updatedavocet" }).to_string(), 200),
        ("DELETE", "/drawers?source=Sourcetansy", String::new(), 200),
        ("POST", "/drawers/check-duplicate", json!({ "text": "Textquillfeather" }).to_string(), 200),
        ("POST", "/drawers", String::from("{\"text\": Brokenteasel"), 400),
        ("POST", "/drawers", json!({ "Unknownfieldplover": 1 }).to_string(), 400),
        ("POST", "/drawers", json!({ "text": "x", "kind": "Kindcurlew" }).to_string(), 400),
        ("POST", "/drawers", json!({ "text": "x", "content_date": "Datedunlin" }).to_string(), 400),
        ("GET", "/drawers/Pathgodwit", String::new(), 400),
        ("GET", "/history?subject=Querygrouse", String::new(), 200),
        ("POST", "/backups/restore", json!({ "name": "Sourcetansy" }).to_string(), 404),
        ("POST", "/verify", String::new(), 200),
        ("GET", "/Pathgodwit?q=Querygrouse", String::new(), 404),
    ] {
        let answered = speaker.ask(method, &format!("{vault}{path}"), &body);
        assert_eq!(answered.status, status, "{method} {path}: {answered:?}");
    }
    for (name, arguments) in [
        ("undercroft_save", json!({ "content": "Textquillfeather", "wing": "Wingfurlow" })),
        ("undercroft_search", json!({ "query": "Querygrouse" })),
        ("Toolknot", json!({})),
        ("undercroft_search", json!({ "Argumentruff": "Argumentruff" })),
    ] {
        let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call",
                           "params": { "name": name, "arguments": arguments } });
        assert_eq!(speaker.ask("POST", &format!("{vault}/mcp"), &call.to_string()).status, 200);
    }
    for header in [("Authorization", "Bearer Wrongtokenmallow"), ("X-Request-Id", "Headerpetrel \"x")] {
        let mut headers = vec![(header.0.to_owned(), header.1.to_owned())];
        if header.0 != "Authorization" {
            headers.extend([bearer.clone(), asserted.clone()]);
        }
        let mut speaker = Speaker { client: server.client(), headers };
        let _ = speaker.ask("GET", &format!("{vault}/stats"), "");
    }
    for nonsense in [&b"Brokenteasel\r\n\r\n"[..], b"GET /Pathgodwit HTTP/1.1\r\nHeaderpetrel\r\n\r\n"] {
        let _ = server.client().raw(nonsense);
    }
    over_two(server);
}

/// The same over HTTP/2 (RFC 9113): a head in literal fields without an index (RFC 7541, section 6.2.2), then the end.
fn over_two(server: &Served) {
    let mut head = Vec::new();
    let bearer = format!("Bearer {TOKEN}");
    for (name, value) in [
        (":method", "GET"),
        (":scheme", "http"),
        (":path", "/Pathgodwit"),
        (":authority", "localhost"),
        ("authorization", bearer.as_str()),
        ("framesanderling", "Framesanderling"),
    ] {
        for part in [name, value] {
            if part == name {
                head.push(0);
            }
            head.push(u8::try_from(part.len()).expect("a short field"));
            head.extend_from_slice(part.as_bytes());
        }
    }
    let frame = |kind: u8, flags: u8, stream: u8, payload: &[u8]| {
        let length = u8::try_from(payload.len()).expect("a short frame");
        [&[0, 0, length, kind, flags, 0, 0, 0, stream], payload].concat()
    };
    let mut bytes = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec();
    bytes.extend(frame(4, 0, 0, &[]));
    // The whole request, then a goodbye.
    bytes.extend(frame(1, 0b101, 1, &head));
    bytes.extend(frame(7, 0, 0, &[0; 8]));
    let answer = server.client().raw(&bytes);
    assert!(answer.len() > 9, "it speaks HTTP/2");
}

/// A server at this level, after everything was said to it: its lines.
fn lines(level: &str, format: &str) -> String {
    let palace = Palace::new()
        .with("UNDERCROFT_MCP_HTTP_TOKEN", TOKEN)
        .with("UNDERCROFT_ASSERTION_SECRET", SECRET)
        .with("UNDERCROFT_LOG", level)
        .with("UNDERCROFT_LOG_FORMAT", format);
    let server = Served::start(&palace);
    say_everything(&server, &assertion(&palace, "default"));
    server.stop()
}

#[test]
fn no_line_at_any_level_holds_what_was_said_or_a_secret() {
    for level in ["error", "warn", "info", "debug", "trace", "trace,h2=trace,hyper=trace,undercroft=trace"] {
        for format in ["text", "json"] {
            let printed = lines(level, format);
            for word in PLANTED {
                let held = printed.lines().find(|line| line.to_lowercase().contains(&word.to_lowercase()));
                assert!(held.is_none(), "{word} at {level} in {format}: {held:?}");
            }
            // The hunt has something to look at.
            let requests = printed.lines().filter(|line| line.contains("v1/vaults/{id}/search")).count();
            assert_eq!(requests > 0, level != "error" && level != "warn", "{level}: {printed}");
        }
    }
}

#[test]
fn counters_hold_what_was_done_and_name_nothing_but_vaults() {
    let palace = Palace::new().with("UNDERCROFT_METRICS", "1");
    let server = Served::start(&palace);
    let mut client = server.client();
    for n in 0..5 {
        let body =
            json!({ "text": format!("Textquillfeather {n}"), "wing": "Wingfurlow", "room": "Roomsedge" });
        let saved =
            client.send("POST", "/v1/vaults/default/drawers", &[], &body.to_string()).expect("an answer");
        let id = saved.expect(200)["id"].as_str().expect("an id").to_owned();
        if n == 0 {
            let path = format!("/v1/vaults/default/drawers/{id}");
            client.send("DELETE", &path, &[], "").expect("an answer").expect(200);
        }
    }
    let body = json!({ "query": "Textquillfeather" }).to_string();
    client.send("POST", "/v1/vaults/default/search", &[], &body).expect("an answer").expect(200);
    let metrics = client.send("GET", "/metrics", &[], "").expect("an answer");
    assert_eq!(metrics.status, 200);
    for line in [
        "undercroft_drawer_writes_total{outcome=\"created\"} 5",
        "undercroft_drawer_deletes_total 1",
        "undercroft_chain_commits_total 6",
        "undercroft_search_duration_seconds_count 1",
        "undercroft_hmac_verify_failures_total{surface=\"drawer\"} 0",
        "undercroft_drawers{vault=\"default\"} 4",
        "undercroft_audit_chain_height{vault=\"default\"} 6",
        "undercroft_log_lines_dropped_total 0",
    ] {
        assert!(metrics.body.lines().any(|found| found == line), "{line}\n{}", metrics.body);
    }
    assert!(metrics.body.contains("undercroft_store_bytes{vault=\"default\"} "), "{}", metrics.body);
    for word in PLANTED {
        assert!(!metrics.body.contains(word), "{word}");
    }
    let _ = server.stop();
}

#[test]
fn stored_bytes_that_were_changed_are_counted_by_what_fails() {
    let palace = Palace::new().with("UNDERCROFT_METRICS", "1");
    let id = palace.remember("one that somebody will change on disk");
    let other = rusqlite::Connection::open(palace.vault().join("vault.db")).expect("the file");
    other.execute("UPDATE drawers SET content = zeroblob(99)", []).expect("changed");
    drop(other);
    let server = Served::start(&palace);
    let mut client = server.client();
    let refused =
        client.send("GET", &format!("/v1/vaults/default/drawers/{id}"), &[], "").expect("an answer");
    assert_eq!(refused.expect(409)["class"], "integrity");
    let metrics = client.send("GET", "/metrics", &[], "").expect("an answer").body;
    assert!(metrics.contains("undercroft_hmac_verify_failures_total{surface=\"drawer\"} 1"), "{metrics}");
    let _ = server.stop();
}

#[test]
fn a_log_that_nobody_reads_stops_nothing() {
    let palace = Palace::new().with("UNDERCROFT_LOG_FORMAT", "json").with("UNDERCROFT_METRICS", "1");
    let mut command = palace.command(&["serve-http", "--port", "0"]);
    let mut child = command.spawn().expect("the binary starts");
    let mut said = Vec::new();
    let mut stderr = child.stderr.take().expect("its standard error");
    while !said.ends_with(b"\n") {
        let mut byte = [0];
        stderr.read_exact(&mut byte).expect("it says where it listens");
        said.push(byte[0]);
    }
    let said = String::from_utf8(said).expect("text");
    let address = said.trim().rsplit_once("http://").expect("an address").1.parse().expect("an address");
    let mut client = Client::connect(address).expect("a connection");
    // Standard output is a pipe of 64 KiB that is not read: 5,000 lines and the queue before it are well above that.
    for _ in 0..8_000 {
        assert_eq!(client.send("GET", "/v1/vaults", &[], "").expect("an answer").status, 200);
    }
    let metrics = client.send("GET", "/metrics", &[], "").expect("an answer").body;
    let dropped = metrics.lines().find_map(|line| line.strip_prefix("undercroft_log_lines_dropped_total "));
    assert!(dropped.expect("the series").parse::<u64>().expect("a number") > 0, "{metrics}");
    child.kill().expect("killed");
    child.wait().expect("it ended");
}
