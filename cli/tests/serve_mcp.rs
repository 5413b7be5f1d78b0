//! The agent protocol over the built binary's standard input and output, as any client speaks it.

#![expect(clippy::unwrap_used, reason = "a test stops at the first thing that is not as it must be")]

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc;

use serde_json::{Value, json};

const BINARY: &str = env!("CARGO_BIN_EXE_undercroft");

struct Palace {
    dir: tempfile::TempDir,
}

impl Palace {
    fn initialised() -> Self {
        let palace = Self { dir: tempfile::tempdir().unwrap() };
        assert!(palace.command(&["init"]).output().unwrap().status.success());
        palace
    }

    fn home(&self) -> PathBuf {
        self.dir.path().join("palace")
    }

    /// A command with nothing in its environment but this installation.
    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(BINARY);
        command.args(arguments).env_clear().env("UNDERCROFT_HOME", self.home());
        command
    }

    /// What a server writes for this input, to its end.
    fn told(&self, environment: &[(&str, &str)], arguments: &[&str], input: &[u8]) -> (Vec<u8>, Option<i32>) {
        let mut child = self
            .command(&[&["serve-mcp"], arguments].concat())
            .envs(environment.iter().copied())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let input = input.to_vec();
        // Beside the reading, so that neither waits for the other; a server that refuses to start reads nothing.
        let writer = std::thread::spawn(move || drop(stdin.write_all(&input)));
        let output = child.wait_with_output().unwrap();
        writer.join().unwrap();
        (output.stdout, output.status.code())
    }

    /// The replies to messages sent one after the other.
    fn replies(&self, arguments: &[&str], messages: &[Value]) -> Vec<Value> {
        let input: String = messages.iter().map(|message| format!("{message}\n")).collect();
        let (stdout, code) = self.told(&[], arguments, input.as_bytes());
        assert_eq!(code, Some(0));
        lines(&stdout)
    }
}

/// A server that a client talks to.
struct Talk {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Talk {
    fn start(palace: &Palace, arguments: &[&str]) -> Self {
        let mut child = palace
            .command(&[&["serve-mcp"], arguments].concat())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (input, output) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        Self { child, input, output }
    }

    fn ask(&mut self, message: &Value) -> Value {
        writeln!(self.input, "{message}").unwrap();
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap()
    }

    /// The result of a tool that must succeed.
    fn tool(&mut self, name: &str, arguments: Value) -> Value {
        let reply = self.ask(&call(1, name, arguments));
        assert_eq!(reply["result"]["isError"], false, "{reply}");
        reply["result"].clone()
    }

    fn end(mut self) {
        drop(self.input);
        assert!(self.child.wait().unwrap().success());
    }
}

fn request(id: u32, method: &str, params: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
}

fn call(id: u32, name: &str, arguments: Value) -> Value {
    request(id, "tools/call", json!({ "name": name, "arguments": arguments }))
}

/// Every line as JSON; fails on anything else.
fn lines(stdout: &[u8]) -> Vec<Value> {
    let text = std::str::from_utf8(stdout).expect("UTF-8");
    assert!(text.is_empty() || text.ends_with('\n'), "the last line does not end");
    assert!(!text.contains('\r'), "a line ends in CR");
    text.split_terminator('\n').map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn text(reply: &Value) -> &str {
    reply["result"]["content"][0]["text"].as_str().unwrap()
}

#[test]
fn whatever_the_locale_the_logs_and_the_line_ends_standard_output_is_lines_of_json() {
    let content = "\u{1f980} 蟹 — ça \u{2028} e\u{301}";
    for (end, environment) in [
        ("\n", &[][..]),
        ("\r\n", &[("LANG", "zh_TW.BIG5"), ("LC_ALL", "zh_TW.cp950"), ("PYTHONIOENCODING", "cp950")]),
        (
            "\n\n  \r\n",
            &[
                ("UNDERCROFT_LOG", "trace"),
                ("RUST_LOG", "trace"),
                ("UNDERCROFT_LOG_FORMAT", "json"),
                ("UNDERCROFT_SEARCH_TRACE", "1"),
                ("UNDERCROFT_FUSION", "no such"),
                ("UNDERCROFT_NO_SUCH", "x"),
            ],
        ),
    ] {
        let palace = Palace::initialised();
        let messages = [
            request(1, "initialize", json!({ "protocolVersion": "2025-06-18" })),
            json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
            call(2, "undercroft_save", json!({ "content": content, "wing": "蟹\u{1f980}" })),
            call(3, "undercroft_search", json!({ "query": "蟹 \u{1f980}" })),
        ];
        let input: String = messages.iter().map(|message| format!("{message}{end}")).collect();
        let (stdout, code) = palace.told(environment, &[], input.as_bytes());
        let replies = lines(&stdout);
        assert_eq!((code, replies.len()), (Some(0), 3), "{environment:?}");
        assert_eq!(replies[2]["result"]["structuredContent"]["hits"][0]["content"], content);
        assert!(
            text(&replies[2]).contains(content) && text(&replies[2]).contains("(蟹\u{1f980}/inbox, filed ")
        );
    }
}

#[test]
fn every_version_is_negotiated() {
    let palace = Palace::initialised();
    let table = [
        (json!({ "protocolVersion": "2024-11-05" }), "2024-11-05"),
        (json!({ "protocolVersion": "2025-03-26" }), "2025-03-26"),
        (json!({ "protocolVersion": "2025-06-18" }), "2025-06-18"),
        (json!({ "protocolVersion": "2025-11-25" }), "2025-11-25"),
        (json!({ "protocolVersion": "9999-01-01" }), "2025-11-25"),
        (json!({}), "2024-11-05"),
    ];
    let messages: Vec<Value> =
        table.iter().map(|(params, _)| request(1, "initialize", params.clone())).collect();
    for (reply, (params, version)) in palace.replies(&[], &messages).iter().zip(&table) {
        assert_eq!(reply["result"]["protocolVersion"], *version, "{params}");
        assert_eq!(reply["result"]["serverInfo"]["name"], "undercroft");
    }
}

#[test]
fn what_cannot_be_read_is_answered_and_the_next_line_is_read() {
    let palace = Palace::initialised();
    let ping = request(9, "ping", json!({}));
    let mut input = b"nope\n\xff\xfe\n[]\n{\"jsonrpc\":\"2.0\",\"id\":4,\"method\":\"no/such\"}\n".to_vec();
    input.extend(vec![b'x'; 5 << 20]);
    input.extend(format!("\n{ping}").into_bytes());
    let (stdout, code) = palace.told(&[], &[], &input);
    let replies = lines(&stdout);
    let codes: Vec<&Value> = replies.iter().map(|reply| &reply["error"]["code"]).collect();
    assert_eq!(
        codes,
        [&json!(-32_700), &json!(-32_700), &json!(-32_600), &json!(-32_601), &json!(-32_600), &Value::Null]
    );
    assert_eq!((code, &replies[5]["id"], &replies[5]["result"]), (Some(0), &json!(9), &json!({})));
    assert_eq!(palace.told(&[], &[], b""), (Vec::new(), Some(0)));
}

#[test]
fn the_list_of_tools_is_the_one_that_was_agreed_on() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/tools_list.json");
    let palace = Palace::initialised();
    let listed = palace.replies(&[], &[request(1, "tools/list", json!({}))])[0]["result"].clone();
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::create_dir_all(PathBuf::from(path).parent().unwrap()).unwrap();
        std::fs::write(path, format!("{listed:#}\n")).unwrap();
    }
    let golden: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    assert_eq!(listed, golden, "tools/list changed; UPDATE_GOLDEN=1 writes {path} anew");
    assert_eq!(palace.replies(&["--read-only"], &[request(1, "tools/list", json!({}))])[0]["result"], golden);
}

#[test]
fn two_servers_and_a_reader_share_a_vault_and_nobody_waits_in_vain() {
    let palace = Palace::initialised();
    let create = |who: &'static str| {
        let mut talk = Talk::start(&palace, &[]);
        std::thread::spawn(move || {
            let ids: Vec<String> = (0..20)
                .map(|n| {
                    talk.tool(
                        "undercroft_save",
                        json!({ "content": format!("{who} wrote line {n}"), "wing": who }),
                    )
                })
                .map(|result| result["structuredContent"]["id"].as_str().unwrap().to_owned())
                .collect();
            talk.end();
            ids
        })
    };
    let mut reader = Talk::start(&palace, &["--read-only"]);
    let (stop, stopped) = mpsc::channel::<()>();
    let reading = std::thread::spawn(move || {
        let mut most = 0;
        // Until the writers are done, and once after that.
        loop {
            let is_last = stopped.try_recv() != Err(mpsc::TryRecvError::Empty);
            let found = reader.tool("undercroft_search", json!({ "query": "wrote line", "limit": 50 }));
            let count = found["structuredContent"]["hits"].as_array().unwrap().len();
            assert!(count >= most, "what was there is gone");
            most = count;
            if is_last {
                reader.end();
                return most;
            }
        }
    });
    let writers = [create("left"), create("right")];
    let ids: Vec<String> = writers.into_iter().flat_map(|writer| writer.join().unwrap()).collect();
    drop(stop);
    assert_eq!(reading.join().unwrap(), 40);
    assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), 40);
    let replies = palace
        .replies(&[], &[call(1, "undercroft_status", json!({})), call(2, "undercroft_verify", json!({}))]);
    assert_eq!(replies[0]["result"]["structuredContent"]["records"], 40);
    assert!(text(&replies[1]).ends_with("result: VERIFY OK"), "{}", text(&replies[1]));
}

#[test]
fn a_read_only_server_writes_nothing() {
    let palace = Palace::initialised();
    let saved = palace.replies(&[], &[call(1, "undercroft_save", json!({ "content": "kept" }))]);
    let id = saved[0]["result"]["structuredContent"]["id"].clone();
    let database = || std::fs::read(palace.home().join("vaults/default/vault.db")).unwrap();
    let before = database();
    let writes = [
        call(1, "undercroft_save", json!({ "content": "more" })),
        call(2, "undercroft_add_drawer", json!({ "content": "more" })),
        call(3, "undercroft_update_drawer", json!({ "id": id, "content": "other" })),
        call(4, "undercroft_delete_drawer", json!({ "id": id })),
        call(5, "undercroft_delete_by_source", json!({ "source_file": "x" })),
        call(6, "undercroft_dedup", json!({})),
        call(7, "undercroft_kg_add", json!({})),
    ];
    for (reply, message) in palace.replies(&["--read-only"], &writes).iter().zip(&writes) {
        let name = message["params"]["name"].as_str().unwrap();
        assert_eq!(text(reply), format!("error: server is read-only: {name} is not allowed"));
        assert_eq!(reply["result"]["isError"], true);
    }
    assert!(database() == before, "the database changed");
    let read = palace.replies(&["--read-only"], &[call(1, "undercroft_get_drawer", json!({ "id": id }))]);
    assert_eq!(read[0]["result"]["structuredContent"]["content"], "kept");
}

#[test]
fn arguments_that_are_unknown_ill_typed_or_not_built_are_refused_by_name() {
    let palace = Palace::initialised();
    let table = [
        (
            "undercroft_save",
            json!({ "content": "x", "colour": "red" }),
            "error: unknown argument: colour; undercroft_save takes content, ",
        ),
        (
            "undercroft_save",
            json!({ "content": 5 }),
            "error: invalid argument content: it must be a string, not 5",
        ),
        ("undercroft_save", json!({}), "error: missing required argument: content"),
        (
            "undercroft_save",
            json!({ "content": "x", "wing": null }),
            "error: invalid argument wing: it must be a string, not null; leave it out instead",
        ),
        (
            "undercroft_search",
            json!({ "query": "x", "limit": "5" }),
            "error: invalid argument limit: it must be a whole number from 1 to 500, not \"5\"",
        ),
        (
            "undercroft_search",
            json!({ "query": "x", "min_trust": "standard" }),
            "error: not implemented: min_trust; leave it out",
        ),
        (
            "undercroft_search",
            json!({ "query": "x", "wing": "quarantine-pending" }),
            "error: 'quarantine-pending' is the operator's",
        ),
        (
            "undercroft_dedup",
            json!({ "apply": "yes" }),
            "error: invalid argument apply: it must be true or false, not \"yes\"",
        ),
        (
            "undercroft_status",
            json!({ "vault": "other" }),
            "error: unknown argument: vault; undercroft_status takes no arguments",
        ),
        ("undercroft_trust", json!({}), "error: unknown tool: undercroft_trust"),
    ];
    let messages: Vec<Value> = table.iter().map(|(name, given, _)| call(1, name, given.clone())).collect();
    for (reply, (name, given, said)) in palace.replies(&[], &messages).iter().zip(&table) {
        assert!(text(reply).starts_with(said), "{name} {given}: {}", text(reply));
        assert_eq!(reply["result"]["isError"], true);
    }
    assert_eq!(
        palace.replies(&[], &[call(1, "undercroft_status", json!({}))])[0]["result"]["structuredContent"]["records"],
        0
    );
}

#[test]
fn nothing_of_a_text_a_query_or_a_place_reaches_standard_error() {
    let palace = Palace::initialised();
    let messages = [
        call(
            1,
            "undercroft_save",
            json!({ "content": "secretwords", "wing": "secretwing", "room": "secretroom" }),
        ),
        call(2, "undercroft_save", json!({ "content": "secretwords", "wing": "secret/wing" })),
        call(3, "undercroft_search", json!({ "query": "secretquery", "wing": "secretwing" })),
        call(4, "undercroft_search", json!({ "query": "secretquery", "secretfield": 1 })),
        call(5, "secrettool", json!({})),
        request(6, "secretmethod", json!({})),
        call(7, "undercroft_get_drawer", json!({ "id": "secretid" })),
    ];
    let input: String =
        messages.iter().map(|message| format!("{message}\n")).collect::<String>() + "secretline\n";
    let file = palace.dir.path().join("input");
    std::fs::write(&file, input).unwrap();
    let output = palace
        .command(&["serve-mcp"])
        .envs([("UNDERCROFT_LOG", "trace"), ("RUST_LOG", "trace"), ("UNDERCROFT_SEARCH_TRACE", "1")])
        .stdin(std::fs::File::open(&file).unwrap())
        .output()
        .unwrap();
    assert_eq!(lines(&output.stdout).len(), 8);
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(!told.contains("secret"), "{told}");
}

#[test]
fn a_server_that_cannot_open_its_vault_says_nothing_on_standard_output() {
    let palace = Palace::initialised();
    let ping = format!("{}\n", request(1, "ping", json!({})));
    assert_eq!(palace.told(&[], &["--vault", "none"], ping.as_bytes()), (Vec::new(), Some(1)));
    let refused = [("UNDERCROFT_ADMISSION", "quarantine")];
    assert_eq!(palace.told(&refused, &[], ping.as_bytes()), (Vec::new(), Some(1)));
    std::fs::write(palace.home().join("vaults/default/vault.json"), "{}").unwrap();
    assert_eq!(palace.told(&[], &[], ping.as_bytes()), (Vec::new(), Some(2)));
}
