//! The protocol on its own: versions, envelopes, errors, and whatever bytes somebody sends.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::fixture::Served;
use super::http::{HttpAnswer, refuse_version};
use super::limits::MAX_LINE_BYTES;
use super::{Answer, Message, Step, VERSIONS};

fn initialize(served: &Served, params: Value) -> Value {
    served.result("initialize", params)["protocolVersion"].clone()
}

#[test]
fn a_client_gets_the_version_it_asked_for_or_one_that_is_spoken() {
    let served = Served::new();
    for version in VERSIONS {
        assert_eq!(initialize(&served, json!({ "protocolVersion": version })), version);
    }
    assert_eq!(initialize(&served, json!({ "protocolVersion": "9999-01-01" })), "2025-11-25");
    assert_eq!(initialize(&served, json!({})), "2024-11-05");
    assert_eq!(initialize(&served, Value::Null), "2024-11-05");
    let reply = served.reply(&json!({
        "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": { "protocolVersion": 3 }
    }));
    assert_eq!(reply["error"]["code"], -32_602);
}

#[test]
fn the_server_says_who_it_is_and_that_it_has_tools_alone() {
    let result = Served::new().result("initialize", json!({ "protocolVersion": "2025-06-18" }));
    assert_eq!(result["capabilities"], json!({ "tools": {} }));
    assert_eq!(result["serverInfo"]["name"], "undercroft");
    assert_eq!(result["serverInfo"]["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(Served::new().result("ping", json!({})), json!({}));
}

#[test]
fn ids_come_back_as_they_came_and_other_ids_are_refused() {
    let served = Served::new();
    for id in [json!(0), json!(-7), json!(u64::MAX), json!(i64::MIN), json!(""), json!("ä\u{1f980}\n")] {
        let reply = served.reply(&json!({ "jsonrpc": "2.0", "id": id, "method": "ping" }));
        assert_eq!(reply, json!({ "jsonrpc": "2.0", "id": id, "result": {} }));
    }
    for id in [json!(null), json!(1.5), json!([1]), json!({}), json!(true)] {
        let reply = served.reply(&json!({ "jsonrpc": "2.0", "id": id, "method": "ping" }));
        assert_eq!((&reply["id"], &reply["error"]["code"]), (&Value::Null, &json!(-32_600)), "{id}");
    }
}

#[test]
fn what_is_no_request_is_an_error_with_the_right_number() {
    let served = Served::new();
    let table = [
        (json!([{ "jsonrpc": "2.0", "id": 1, "method": "ping" }]), -32_600),
        (json!([]), -32_600),
        (json!("ping"), -32_600),
        (json!({ "id": 1, "method": "ping" }), -32_600),
        (json!({ "jsonrpc": "1.0", "id": 1, "method": "ping" }), -32_600),
        (json!({ "jsonrpc": "2.0", "id": 1 }), -32_600),
        (json!({ "jsonrpc": "2.0", "id": 1, "method": 4 }), -32_600),
        (json!({ "jsonrpc": "2.0", "id": 1, "method": "ping", "extra": 1 }), -32_600),
        (json!({ "jsonrpc": "2.0", "id": 1, "method": "ping", "params": [] }), -32_602),
        (json!({ "jsonrpc": "2.0", "id": 1, "method": "Ping" }), -32_601),
        (json!({ "jsonrpc": "2.0", "id": 1, "method": "resources/list" }), -32_601),
        (json!({ "jsonrpc": "2.0", "id": 1, "method": "notifications/initialized" }), -32_601),
        (json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": { "cursor": "x" } }), -32_602),
        (json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": { "filter": "x" } }), -32_602),
        (json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call" }), -32_602),
        (json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": 1 } }), -32_602),
        (
            json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call",
                    "params": { "name": "undercroft_status", "arguments": [] } }),
            -32_602,
        ),
        (
            json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call",
                    "params": { "name": "undercroft_status", "argument": {} } }),
            -32_602,
        ),
    ];
    for (message, code) in table {
        let reply = served.reply(&message);
        assert_eq!(reply["error"]["code"], code, "{message}: {reply}");
        assert!(reply["error"]["message"].is_string() && reply["jsonrpc"] == "2.0");
    }
    let unknown = served.reply(&json!({ "jsonrpc": "2.0", "id": 1, "method": "prompts/list" }));
    assert_eq!(unknown["error"]["message"], "method not found: prompts/list");
}

#[test]
fn what_is_no_json_is_a_parse_error_without_an_id() {
    let served = Served::new();
    let deep = "[".repeat(100_000);
    for bytes in [&b""[..], b"{", b"\xff\xfe", b"{} {}", b"{\"a\":\"\xc3\"}", b"nope", deep.as_bytes()] {
        let Answer::Unreadable { reply, reason } = served.answer(bytes) else {
            panic!("{:?}", String::from_utf8_lossy(bytes))
        };
        let reply: Value = serde_json::from_str(&reply).unwrap();
        assert_eq!((&reply["id"], &reply["error"]["code"]), (&Value::Null, &json!(-32_700)));
        assert!(reason.starts_with("parse error: "));
    }
    let marked = served.answer("\u{feff}{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}".as_bytes());
    assert!(matches!(marked, Answer::Reply { .. }), "{marked:?}");
}

#[test]
fn a_message_without_an_id_gets_no_reply_and_is_never_carried_out() {
    let served = Served::new();
    for message in [
        json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
        json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 1 } }),
        json!({ "jsonrpc": "2.0", "method": "no/such" }),
        json!({ "jsonrpc": "2.0", "id": 1, "result": {} }),
        json!({ "jsonrpc": "2.0", "method": "tools/call",
                "params": { "name": "undercroft_save", "arguments": { "content": "ghost" } } }),
    ] {
        assert_eq!(served.reply(&message), Value::Null, "{message}");
    }
    assert_eq!(served.ok("undercroft_status", json!({})).structured["records"], 0);
}

/// What the server writes for these bytes, line by line.
fn over_lines(served: &Served, input: &[u8]) -> Vec<Value> {
    let text = String::from_utf8(served.over_lines(input).0).unwrap();
    assert!(text.is_empty() || text.ends_with('\n'));
    assert!(!text.contains('\r'));
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn lines_end_as_they_like_and_blank_ones_mean_nothing() {
    let served = Served::new();
    let ping = |id: u32| format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"ping\"}}");
    let input = format!("\n\r\n  \t\n{}\r\n{}\n\nnope\r\n{}", ping(1), ping(2), ping(3));
    let ids: Vec<Value> =
        over_lines(&served, input.as_bytes()).iter().map(|reply| reply["id"].clone()).collect();
    assert_eq!(ids, [json!(1), json!(2), Value::Null, json!(3)]);
    assert!(over_lines(&served, b"").is_empty());
}

#[test]
fn a_line_that_is_too_long_is_refused_and_the_next_one_is_read() {
    let served = Served::new();
    let ping = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}";
    for (length, fits) in [
        (MAX_LINE_BYTES, true),
        (MAX_LINE_BYTES + 1, false),
        (MAX_LINE_BYTES + 2, false),
        (MAX_LINE_BYTES + 3, false),
        (2 * MAX_LINE_BYTES, false),
    ] {
        for end in ["\n", "\r\n"] {
            let long = format!("\"{}\"", "x".repeat(length - 2));
            let replies = over_lines(&served, format!("{long}{end}{ping}{end}").as_bytes());
            assert_eq!(replies.len(), 2, "{length} {end:?}");
            let message = replies[0]["error"]["message"].as_str().unwrap();
            assert_eq!(!message.contains("longer than"), fits, "{length} {end:?}: {message}");
            assert_eq!(replies[1]["result"], json!({}));
        }
    }
}

#[test]
fn bodies_have_statuses() {
    let served = Served::new();
    let post = |body: &str| HttpAnswer::from(served.answer(body.as_bytes()));
    assert_eq!(post(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#).status, 200);
    assert_eq!(post(r#"{"jsonrpc":"2.0","id":1,"method":"nope"}"#).status, 200);
    assert_eq!(post(r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#).status, 400);
    let accepted = post(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    assert_eq!(accepted, HttpAnswer { status: 202, body: None });
    let broken = post("{");
    let body: Value = serde_json::from_str(&broken.body.unwrap()).unwrap();
    assert!(broken.status == 400 && body["error"].as_str().unwrap().starts_with("parse error: "), "{body}");
}

#[test]
fn a_header_names_a_version_that_is_spoken_or_none() {
    for version in VERSIONS {
        assert_eq!(refuse_version(Some(version)), None);
    }
    assert_eq!(refuse_version(None), None);
    for version in ["9999-01-01", "", "2025-06-18, 2025-11-25"] {
        assert_eq!(refuse_version(Some(version)).unwrap().status, 400, "{version}");
    }
}

#[test]
fn a_change_is_made_by_whoever_carries_and_nothing_is_written_before() {
    let served = Served::new();
    let save = json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/call",
        "params": { "name": "undercroft_save", "arguments": { "content": "words" } } });
    let begin = || served.server.begin(&served.vault, &Message::read(save.to_string().as_bytes()));
    let Step::Write(_, pending) = begin() else { panic!("a save writes") };
    assert_eq!(served.ok("undercroft_status", json!({})).structured["records"], 0);
    let busy = crate::Error::VaultBusy("v".to_owned());
    let Answer::Reply { reply, failure: None } = pending.finish(Err(busy)) else { panic!("a reply") };
    let reply: Value = serde_json::from_str(&reply).unwrap();
    assert_eq!((&reply["id"], &reply["result"]["isError"]), (&json!(7), &json!(true)));
    assert!(reply["result"]["content"][0]["text"].as_str().unwrap().contains("try again"), "{reply}");
    let Answer::Reply { reply, failure } = begin().answer(|_| Err(crate::Error::Lost)) else {
        panic!("a reply")
    };
    assert!(reply.contains("error: internal: ") && failure.is_some_and(|f| f.error().is_some()));
}

#[test]
fn only_what_reads_the_whole_vault_is_long() {
    let is_long = |name: &str| {
        let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": name } });
        Message::read(call.to_string().as_bytes()).is_long()
    };
    assert!(is_long("undercroft_verify"));
    assert!(!is_long("undercroft_search") && !is_long("no_such"));
    for bytes in [&b"{"[..], b"[]", b"null", br#"{"method":"undercroft_verify"}"#] {
        assert!(!Message::read(bytes).is_long());
    }
}

/// Any JSON, with the words of the protocol in it more often than chance would have them.
fn any_json() -> impl Strategy<Value = Value> {
    let words = prop_oneof![
        Just("tools/call".to_owned()),
        Just("2.0".to_owned()),
        Just("undercroft_search".to_owned()),
        Just("quarantine-pending".to_owned()),
        "\\PC{0,12}",
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        words.prop_map(Value::from),
    ];
    let names = prop_oneof![
        Just("jsonrpc".to_owned()),
        Just("id".to_owned()),
        Just("method".to_owned()),
        Just("params".to_owned()),
        Just("name".to_owned()),
        Just("arguments".to_owned()),
        "[a-z_]{0,6}",
    ];
    leaf.prop_recursive(4, 32, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(names.clone(), inner, 0..6)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

/// Whatever is sent, what comes back is one line of JSON-RPC with a result or an error.
fn is_well_formed(served: &Served, bytes: &[u8]) -> Result<(), TestCaseError> {
    let reply = match served.answer(bytes) {
        Answer::Accepted => return Ok(()),
        Answer::Reply { failure: Some(failure), .. } => panic!("a defect was met: {failure}"),
        Answer::Reply { reply, .. } | Answer::Invalid(reply) | Answer::Unreadable { reply, .. } => reply,
    };
    prop_assert!(!reply.contains(['\n', '\r']));
    let reply: Value = serde_json::from_str(&reply).unwrap();
    prop_assert_eq!(&reply["jsonrpc"], "2.0");
    prop_assert_eq!(reply.as_object().unwrap().len(), 3);
    prop_assert!(reply.get("result").is_some() != reply.get("error").is_some());
    Ok(())
}

#[test]
fn any_bytes_and_any_json_are_answered_well_formed() {
    let served = Served::new();
    proptest!(ProptestConfig::with_cases(256), |(bytes in prop::collection::vec(any::<u8>(), 0..200))| {
        is_well_formed(&served, &bytes)?;
    });
    proptest!(ProptestConfig::with_cases(512), |(value in any_json())| {
        is_well_formed(&served, value.to_string().as_bytes())?;
    });
    proptest!(ProptestConfig::with_cases(256), |(params in any_json(), method in "(ping|initialize|tools/list|tools/call)")| {
        let message = json!({ "jsonrpc": "2.0", "id": "i", "method": method, "params": params });
        is_well_formed(&served, message.to_string().as_bytes())?;
    });
}

#[test]
fn any_arguments_of_any_tool_are_answered_well_formed() {
    let served = Served::new();
    served.save("a first text");
    let tools: Vec<&'static str> = super::tools::all().map(|tool| tool.name).collect();
    let known = "(content|query|id|wing|room|limit|offset|apply|subject|kind|language|room_cap|source_file)";
    let arguments = prop::collection::btree_map(known, any_json(), 0..4);
    proptest!(ProptestConfig::with_cases(512), |(name in prop::sample::select(tools), arguments in arguments)| {
        let message = json!({
            "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": name, "arguments": arguments }
        });
        is_well_formed(&served, message.to_string().as_bytes())?;
    });
    assert!(served.vault.verify(&mut |_| {}).unwrap().ok);
}
