//! Owns lines of Codex rollouts: enveloped ones, and the bare items that older releases wrote.

use serde_json::{Map, Value};

use super::blocks::{marked, render, string, tool_result, tool_use};
use super::message::Message;
use super::parse::Line;
use super::rejected::Found;

/// What the program tells the model in the user's place.
const CONTEXT: [&str; 4] =
    ["<environment_context>", "<user_instructions>", "<permissions instructions>", "<turn_aborted>"];

/// Reads one line, or gives `None` for a line of another program.
pub(super) fn read(line: &Map<String, Value>) -> Option<Line> {
    let timestamp = string(line, "timestamp");
    let Some(kind) = string(line, "type") else { return read_untyped(line) };
    let Some(payload) = line.get("payload").and_then(Value::as_object) else {
        return read_item(kind, line, timestamp);
    };
    match kind {
        "session_meta" => Some(Line::Session(string(payload, "id").map(str::to_owned))),
        "turn_context" => Some(Line::Dropped),
        "response_item" => {
            let item = string(payload, "type").unwrap_or_default();
            let is_message = item == "message" && payload.contains_key("role");
            Some(
                read_item(item, payload, timestamp)
                    .unwrap_or_else(|| if is_message { no_words("content", payload) } else { Line::Unknown }),
            )
        }
        "event_msg" => Some(read_event(payload, timestamp)),
        "compacted" => Some(match string(payload, "message") {
            Some(text) => message("summary", text.to_owned(), true, payload, timestamp),
            None => no_words("message", payload),
        }),
        _ => None,
    }
}

/// The first line of an older rollout names the session; others only keep the program's state.
fn read_untyped(line: &Map<String, Value>) -> Option<Line> {
    if line.contains_key("record_type") {
        return Some(Line::Dropped);
    }
    let is_head = line.contains_key("id") && (line.contains_key("instructions") || line.contains_key("git"));
    is_head.then(|| Line::Session(string(line, "id").map(str::to_owned)))
}

fn read_item(kind: &str, item: &Map<String, Value>, timestamp: Option<&str>) -> Option<Line> {
    let line = match kind {
        "message" => {
            let role = string(item, "role")?;
            let content = item.get("content").and_then(render)?;
            let is_context = CONTEXT.iter().any(|tag| content.text.trim_start().starts_with(tag));
            if is_context && role != "assistant" {
                return Some(Line::Dropped);
            }
            match message(role, content.text, content.prose, item, timestamp) {
                Line::Message(message) => Line::InBlocks(message, texts_of(item)),
                other => other,
            }
        }
        "reasoning" => read_reasoning(item, timestamp),
        "function_call" | "custom_tool_call" => {
            let input = item.get("arguments").or_else(|| item.get("input"));
            message("assistant", tool_use(string(item, "name"), input), false, item, timestamp)
        }
        "local_shell_call" | "web_search_call" | "tool_search_call" => {
            let name = kind.trim_end_matches("_call");
            message("assistant", tool_use(Some(name), item.get("action")), false, item, timestamp)
        }
        "function_call_output" | "custom_tool_call_output" => {
            message("tool", tool_result(item.get("output").map(unwrap_output)), false, item, timestamp)
        }
        "ghost_snapshot" | "compaction" | "compaction_summary" => Line::Dropped,
        _ => return None,
    };
    Some(line)
}

/// The thought in full, else its summary; many releases keep only a sealed form, which is none.
fn read_reasoning(item: &Map<String, Value>, timestamp: Option<&str>) -> Line {
    for field in ["content", "summary"] {
        let Some(value) = item.get(field).filter(|value| !value.is_null()) else { continue };
        let Some(thought) = render(value) else { return no_words(field, item) };
        if !thought.text.trim().is_empty() {
            return message("assistant", marked("[thinking]", Some(thought.text)), false, item, timestamp);
        }
    }
    Line::Dropped
}

fn no_words(field: &'static str, item: &Map<String, Value>) -> Line {
    Line::NoWords(field, Found::of(item.get(field)))
}

/// Some releases wrap what a tool answered together with whether it succeeded.
fn unwrap_output(output: &Value) -> &Value {
    output.as_object().and_then(|fields| fields.get("content")).unwrap_or(output)
}

/// The texts of a message's blocks, each of which an event may repeat.
fn texts_of(item: &Map<String, Value>) -> Vec<String> {
    let blocks = item.get("content").and_then(Value::as_array);
    let text = |block: &Value| block.get("text").and_then(Value::as_str).map(str::to_owned);
    blocks.map(|blocks| blocks.iter().filter_map(text).collect()).unwrap_or_default()
}

/// Events repeat what the items say, and tell how the program fares.
fn read_event(event: &Map<String, Value>, timestamp: Option<&str>) -> Line {
    let role = match string(event, "type") {
        Some("user_message") => "user",
        Some("agent_message") => "assistant",
        Some(_) => return Line::Dropped,
        None => return Line::Unknown,
    };
    let Some(text) = string(event, "message") else { return no_words("message", event) };
    match message(role, text.to_owned(), true, event, timestamp) {
        Line::Message(message) => Line::Repeat(message),
        other => other,
    }
}

fn message(
    role: &str,
    text: String,
    prose: bool,
    item: &Map<String, Value>,
    timestamp: Option<&str>,
) -> Line {
    Line::Message(Message {
        role: role.to_owned(),
        speaker: string(item, "name").filter(|_| role == "user").map(str::to_owned),
        text,
        timestamp: timestamp.map(str::to_owned),
        id: string(item, "id").map(str::to_owned),
        line: 0,
        session: None,
        prose,
    })
}
