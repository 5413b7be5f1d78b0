use proptest::prelude::*;
use serde_json::json as object;

use super::{Format, Found, MAX_LINE_BYTES, RejectReason, Transcript, is_prose, parse};

fn read(lines: &[&str]) -> Transcript {
    parse(lines.join("\n").as_bytes())
}

fn texts(transcript: &Transcript) -> Vec<(&str, &str)> {
    transcript.messages.iter().map(|m| (m.role.as_str(), m.text.as_str())).collect()
}

#[test]
fn claude_code_lines_become_messages() {
    let log = read(&[
        r#"{"type":"summary","summary":"Moving the database","leafUuid":"x"}"#,
        r#"{"type":"user","sessionId":"s1","uuid":"u1","timestamp":"2026-01-02T03:04:05Z","message":{"role":"user","content":"  Move it?\r\n"}}"#,
        r#"{"type":"assistant","uuid":"u2","message":{"role":"assistant","content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"Yes."},{"type":"tool_use","name":"Bash","input":{"command":"ls"}}]}}"#,
        r#"{"type":"user","message":{"content":[{"type":"tool_result","content":[{"type":"text","text":"a\nb"}]}]}}"#,
        r#"{"type":"user","message":{"content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"}},{"type":"image","source":{"type":"url","url":"https://a/b.png"}},{"type":"odd","x":1}],"name":"Ana"}}"#,
    ]);
    assert_eq!(log.format, Format::ClaudeCode);
    assert_eq!(
        texts(&log),
        [
            ("summary", "Moving the database"),
            ("user", "  Move it?\r\n"),
            ("assistant", "[thinking]\nhm\nYes.\n[tool_use: Bash]\n{\"command\":\"ls\"}"),
            ("user", "[tool_result]\na\nb"),
            ("user", "[image: image/png]\n[image: https://a/b.png]\n[odd]\n{\"x\":1}"),
        ]
    );
    let first = &log.messages[1];
    assert_eq!((first.line, first.label().as_str()), (2, "User"));
    assert_eq!((first.id.as_deref(), first.session.as_deref()), (Some("u1"), Some("s1")));
    assert_eq!(first.timestamp.as_deref(), Some("2026-01-02T03:04:05Z"));
    assert_eq!(log.messages[4].label(), "Ana");
    assert_eq!(log.messages.iter().map(is_prose).collect::<Vec<_>>(), [false, true, true, false, false]);
    assert!(log.rejected.is_empty());
}

#[test]
fn noise_is_counted_and_nothing_else_is_lost() {
    let log = read(&[
        r#"{"type":"file-history-snapshot","snapshot":{}}"#,
        r#"{"type":"progress","data":{}}"#,
        r#"{"type":"queue-operation","operation":"enqueue","content":"kept"}"#,
        r#"{"type":"system","content":"Conversation compacted"}"#,
        r#"{"type":"summary"}"#,
        r#"{"type":"user","message":{"content":"<local-command-stdout>x</local-command-stdout>"}}"#,
        r#"{"type":"user","message":{"content":"Caveat: generated"}}"#,
        r#"{"type":"user","message":{"content":""}}"#,
        r#"{"type":"assistant","message":{"content":[]}}"#,
        "",
        "   \r",
        r#"{"type":"user","message":{"content":"kept"}}"#,
    ]);
    assert_eq!(log.dropped, 9);
    assert_eq!(texts(&log), [("user", "kept")]);
    assert_eq!(log.messages[0].line, 12);
}

#[test]
fn codex_rollouts_become_messages_once() {
    let log = read(&[
        r#"{"timestamp":"2026-01-01T00:00:00Z","type":"session_meta","payload":{"id":"s9","cwd":"."}}"#,
        r#"{"timestamp":"t1","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"<environment_context>x</environment_context>"}]}}"#,
        r#"{"timestamp":"t2","type":"event_msg","payload":{"type":"user_message","message":"Fix it"}}"#,
        r#"{"timestamp":"t2","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"Fix it"}]}}"#,
        r#"{"timestamp":"t3","type":"turn_context","payload":{"cwd":"."}}"#,
        r#"{"timestamp":"t3","type":"event_msg","payload":{"type":"token_count","info":null}}"#,
        r#"{"timestamp":"t3","type":"response_item","payload":{"type":"reasoning","summary":[{"type":"summary_text","text":"plan"}],"content":null}}"#,
        r#"{"timestamp":"t3","type":"response_item","payload":{"type":"reasoning","summary":[],"encrypted_content":"zz"}}"#,
        r#"{"timestamp":"t3","type":"response_item","payload":{"type":"function_call","name":"shell","arguments":"{\"c\":1}","call_id":"c1"}}"#,
        r#"{"timestamp":"t3","type":"response_item","payload":{"type":"function_call_output","call_id":"c1","output":"done"}}"#,
        r#"{"timestamp":"t3","type":"response_item","payload":{"type":"custom_tool_call","name":"patch","input":"*** p"}}"#,
        r#"{"timestamp":"t4","type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Fixed."}]}}"#,
        r#"{"timestamp":"t4","type":"event_msg","payload":{"type":"agent_message","message":"Fixed."}}"#,
        r#"{"timestamp":"t5","type":"compacted","payload":{"message":"so far"}}"#,
    ]);
    assert_eq!(log.format, Format::Codex);
    let said: Vec<_> = texts(&log);
    assert_eq!(said[0], ("user", "Fix it"));
    assert_eq!(said[1], ("assistant", "[thinking]\nplan"));
    assert_eq!(said[2], ("assistant", "[tool_use: shell]\n{\"c\":1}"));
    assert_eq!(said[3], ("tool", "[tool_result]\ndone"));
    assert_eq!(said[4], ("assistant", "[tool_use: patch]\n*** p"));
    assert_eq!(said[5], ("assistant", "Fixed."));
    assert_eq!(said[6], ("summary", "so far"));
    assert_eq!(log.messages.iter().filter(|m| is_prose(m)).count(), 2);
    assert!(log.messages.iter().all(|m| m.session.as_deref() == Some("s9")));
    assert_eq!(log.messages.len() + log.dropped as usize, 14);
}

#[test]
fn events_count_where_no_item_says_the_same() {
    let log = read(&[
        r#"{"timestamp":"t","type":"event_msg","payload":{"type":"user_message","message":"only here"}}"#,
        r#"{"timestamp":"t","type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"ok"}]}}"#,
    ]);
    assert_eq!(texts(&log), [("user", "only here"), ("assistant", "ok")]);
}

fn item(role: &str, texts: &[&str]) -> String {
    let blocks: Vec<_> = texts.iter().map(|text| object!({ "type": "output_text", "text": text })).collect();
    object!({ "type": "response_item", "payload": { "type": "message", "role": role, "content": blocks } })
        .to_string()
}

fn event(role: &str, text: &str) -> String {
    object!({ "type": "event_msg", "payload": { "type": format!("{role}_message"), "message": text } })
        .to_string()
}

#[test]
fn an_event_is_left_out_only_for_an_item_that_says_the_same_words() {
    let lines = [
        item("user", &["first question"]),
        event("user", "first question\n"),
        item("assistant", &["first answer", "and more"]),
        event("agent", "first answer"),
        event("agent", "and more"),
        event("user", "the key is under the blue pot"),
        event("agent", "noted, blue pot"),
        event("agent", "first question"),
        item("user", &["yes"]),
        event("user", "yes"),
        event("user", "yes"),
    ];
    let log = read(&lines.iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(
        texts(&log),
        [
            ("user", "first question"),
            ("assistant", "first answer\nand more"),
            ("user", "the key is under the blue pot"),
            ("assistant", "noted, blue pot"),
            ("assistant", "first question"),
            ("user", "yes"),
            ("user", "yes"),
        ]
    );
    assert_eq!(log.dropped, 4);
}

#[test]
fn a_message_that_is_left_out_for_how_it_begins_is_named() {
    let log = read(&[
        r#"{"type":"assistant","message":{"content":"Caveat: never open valve 7 before valve 3."}}"#,
        r#"{"type":"user","message":{"content":" <local-command-stdout>x</local-command-stdout>"}}"#,
        r#"{"type":"user","message":{"content":" \n"}}"#,
        &event("agent", "Caveat: read the manual"),
        r#"{"type":"user","message":{"content":"No caveat: thanks"}}"#,
    ]);
    assert_eq!(texts(&log), [("user", "No caveat: thanks")]);
    assert_eq!((log.dropped, log.rejected.len()), (4, 0));
    let told: Vec<String> = log.left_out.iter().map(ToString::to_string).collect();
    assert_eq!(
        told,
        [
            "line 1: left out: it begins with \"Caveat:\", as what programs write for themselves does",
            "line 2: left out: it begins with \"<local-command\", as what programs write for themselves does",
            "line 4: left out: it begins with \"Caveat:\", as what programs write for themselves does",
        ]
    );
}

#[test]
fn older_codex_items_without_an_envelope_are_read() {
    let log = read(&[
        r#"{"id":"s3","timestamp":"2025-05-01T00:00:00Z","instructions":null,"git":{}}"#,
        r#"{"record_type":"state"}"#,
        r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"hello"}]}"#,
        r#"{"type":"function_call","name":"shell","arguments":"{}"}"#,
        r#"{"type":"function_call_output","output":{"content":"out","success":true}}"#,
    ]);
    assert_eq!(
        texts(&log),
        [("user", "hello"), ("assistant", "[tool_use: shell]\n{}"), ("tool", "[tool_result]\nout")]
    );
    assert_eq!(log.messages[0].session.as_deref(), Some("s3"));
    assert!(log.rejected.is_empty());
}

#[test]
fn chat_lines_are_read() {
    let log = read(&[
        r#"{"role":"user","content":"hi","name":"Bo"}"#,
        r#"{"message":{"content":"x"}}"#,
        r#"{"type":"user","content":"typed"}"#,
        r#"{"type":"message","message":{"role":"assistant","content":"wrapped"}}"#,
        r#"{"type":"message","role":"user","text":"apart"}"#,
    ]);
    assert_eq!(log.format, Format::Chat);
    assert_eq!(
        texts(&log),
        [("user", "hi"), ("unknown", "x"), ("user", "typed"), ("assistant", "wrapped"), ("user", "apart")]
    );
    assert_eq!(log.messages[0].label(), "Bo");
}

#[test]
fn every_unusable_line_is_reported_with_its_number_and_reason() {
    let mut bytes = Vec::new();
    for line in [
        &b"{\"type\":\"user\",\"message\":{\"content\":\"fine\"}}"[..],
        b"\xff\xfe",
        b"{\"type\":",
        b"[1,2]",
        b"\"text\"",
        b"{\"type\":\"weird\",\"x\":1}",
        b"{}",
        b"{\"type\":\"response_item\",\"payload\":{\"type\":\"hologram\"}}",
        b"{\"type\":\"user\",\"message\":{\"content\":\"lone \\ud800\"}}",
    ] {
        bytes.extend_from_slice(line);
        bytes.push(b'\n');
    }
    bytes.extend(std::iter::repeat_n(b'x', MAX_LINE_BYTES + 1));
    let log = parse(&bytes);
    let lines: Vec<_> = log.rejected.iter().map(|r| r.line).collect();
    assert_eq!(lines, [2, 3, 4, 5, 6, 7, 8, 9, 10]);
    assert_eq!(log.rejected[0].reason, RejectReason::InvalidUtf8 { valid_up_to: 0 });
    assert_eq!(log.rejected[2].reason, RejectReason::NotAnObject);
    assert_eq!(log.rejected[4].reason, RejectReason::UnknownShape { kind: Some("weird".into()) });
    assert_eq!(log.rejected[8].reason, RejectReason::TooLong { bytes: MAX_LINE_BYTES + 1 });
    assert_eq!(log.rejected[2].to_string(), "line 4: JSON, but not an object");
    assert_eq!(texts(&log), [("user", "fine")]);
}

/// Of each line: the field and what it holds.
fn wordless(lines: &[&str]) -> Vec<(&'static str, Found)> {
    let log = read(lines);
    assert_eq!((log.messages.len(), log.dropped), (0, 0), "{log:?}");
    let reasons = log.rejected.into_iter().map(|rejected| rejected.reason);
    reasons
        .map(|reason| match reason {
            RejectReason::NoWords { field, found } => (field, found),
            other => panic!("{other:?}"),
        })
        .collect()
}

#[test]
fn a_message_whose_content_is_no_words_is_rejected_and_not_dropped() {
    let found = wordless(&[
        r#"{"type":"user","message":{"role":"user","content":null}}"#,
        r#"{"type":"assistant","message":{"role":"assistant","content":42}}"#,
        r#"{"type":"user","message":{"role":"user","content":true}}"#,
        r#"{"type":"user","message":{"role":"user","content":{"a":1}}}"#,
        r#"{"type":"user","message":{"role":"user","content":["said",7]}}"#,
        r#"{"type":"user","message":{"role":"user","content":[{"type":"text","text":42}]}}"#,
        r#"{"type":"assistant","message":{"role":"assistant","content":[{"type":"text"}]}}"#,
        r#"{"type":"user","message":{"role":"user"}}"#,
        r#"{"type":"user"}"#,
        r#"{"type":"user","message":7}"#,
        r#"{"role":"assistant","content":null,"tool_calls":[]}"#,
        r#"{"role":"tool","content":42}"#,
        r#"{"role":"user","text":{}}"#,
        r#"{"type":"summary","summary":42}"#,
    ]);
    use Found::{Boolean, List, Nothing, Null, Number, Object};
    assert_eq!(
        found,
        [
            ("content", Null),
            ("content", Number),
            ("content", Boolean),
            ("content", Object),
            ("content", List),
            ("content", List),
            ("content", List),
            ("content", Nothing),
            ("content", Nothing),
            ("message", Number),
            ("content", Null),
            ("content", Number),
            ("text", Object),
            ("summary", Number),
        ]
    );
}

#[test]
fn a_codex_item_whose_content_is_no_words_is_rejected_and_not_dropped() {
    let found = wordless(&[
        r#"{"type":"response_item","payload":{"type":"message","role":"user","content":null}}"#,
        r#"{"type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":null}]}}"#,
        r#"{"type":"message","role":"user","content":42}"#,
        r#"{"type":"message","role":"user"}"#,
        r#"{"type":"response_item","payload":{"type":"reasoning","summary":42}}"#,
        r#"{"type":"response_item","payload":{"type":"reasoning","content":[1],"summary":[]}}"#,
        r#"{"type":"compacted","payload":{"message":null}}"#,
        r#"{"type":"event_msg","payload":{"type":"user_message","message":null}}"#,
        r#"{"type":"event_msg","payload":{"type":"agent_message"}}"#,
    ]);
    use Found::{List, Nothing, Null, Number};
    let expected = [
        ("content", Null),
        ("content", List),
        ("content", Number),
        ("content", Nothing),
        ("summary", Number),
        ("content", List),
        ("message", Null),
        ("message", Null),
        ("message", Nothing),
    ];
    assert_eq!(found, expected);
}

#[test]
fn records_that_carry_no_words_are_dropped_whatever_their_fields_hold() {
    let log = read(&[
        r#"{"type":"progress","message":{"content":null}}"#,
        r#"{"type":"system","content":42}"#,
        r#"{"type":"summary"}"#,
        r#"{"type":"response_item","payload":{"type":"reasoning","summary":[],"content":null}}"#,
        r#"{"type":"turn_context","payload":{"x":1}}"#,
    ]);
    assert_eq!((log.dropped, log.rejected.len()), (5, 0), "{:?}", log.rejected);
    let said = read(&[r#"{"role":"user","content":null,"text":"said"}"#]);
    assert_eq!(texts(&said), [("user", "said")], "null gives way to what is there");
}

#[test]
fn a_reason_says_what_stands_where_the_words_belong() {
    let log = read(&[r#"{"type":"user","message":{"content":null}}"#, r#"{"type":"new-thing"}"#]);
    let told: Vec<_> = log.rejected.iter().map(ToString::to_string).collect();
    assert_eq!(
        told,
        [
            "line 1: the message's \"content\" is null; its words belong there",
            "line 2: a record of an unknown type: \"new-thing\"",
        ]
    );
}

#[test]
fn a_byte_order_mark_and_crlf_are_no_part_of_a_line() {
    let log = parse(
        b"\xef\xbb\xbf{\"role\":\"user\",\"content\":\"a\"}\r\n{\"role\":\"user\",\"content\":\"b\"}\r\n",
    );
    assert_eq!(texts(&log), [("user", "a"), ("user", "b")]);
}

fn json() -> impl Strategy<Value = String> {
    let word = prop::sample::select(vec![
        "type",
        "message",
        "content",
        "user",
        "text",
        "payload",
        "response_item",
        "event_msg",
        "summary",
        "role",
        "tool_use",
        "reasoning",
        "timestamp",
        "compacted",
        "user_message",
        "image",
        "source",
    ]);
    let leaf = prop_oneof![
        word.clone().prop_map(|w| format!("\"{w}\"")),
        Just("null".to_owned()),
        Just("7".to_owned())
    ];
    leaf.prop_recursive(5, 60, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(|v| format!("[{}]", v.join(","))),
            prop::collection::vec((word.clone(), inner), 0..6).prop_map(|fields| {
                let fields: Vec<_> = fields.into_iter().map(|(k, v)| format!("\"{k}\":{v}")).collect();
                format!("{{{}}}", fields.join(","))
            }),
        ]
    })
}

proptest! {
    #[test]
    fn arbitrary_bytes_never_panic(bytes in any::<Vec<u8>>()) {
        let _ = parse(&bytes);
    }

    #[test]
    fn every_line_is_a_message_rejected_or_dropped(lines in prop::collection::vec(json(), 0..8)) {
        let log = parse(lines.join("\n").as_bytes());
        prop_assert_eq!(log.messages.len() + log.rejected.len() + log.dropped as usize, lines.len());
        prop_assert!(log.messages.iter().all(|m| !m.text.trim().is_empty()));
    }
}
