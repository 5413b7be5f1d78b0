//! Owns lines of Claude Code sessions and plain chat lines.

use serde_json::{Map, Value};

use super::blocks::{Content, render, string};
use super::message::{Format, Message};
use super::parse::Line;

/// Records that the program keeps for itself beside the conversation. Their own fields are no message, even where
/// they repeat one (a queued prompt).
const RECORDS: [&str; 12] = [
    "file-history-snapshot",
    "progress",
    "queue-operation",
    "summary",
    "system",
    "attachment",
    "last-prompt",
    "custom-title",
    "ai-title",
    "agent-name",
    "permission-mode",
    "pr-link",
];

/// Reads one line; any object that is not of another program comes here.
pub(super) fn read(line: &Map<String, Value>) -> (Format, Line) {
    let kind = string(line, "type");
    let message = line.get("message");
    let envelope = message.and_then(Value::as_object);
    let format = if envelope.is_some() || kind.is_some() { Format::ClaudeCode } else { Format::Chat };
    let is_record = kind.is_some_and(|kind| RECORDS.contains(&kind));
    let content = content_of(line, envelope, is_record);
    let role = kind
        .filter(|kind| *kind != "message")
        .or_else(|| string(line, "role"))
        .or_else(|| envelope.and_then(|message| string(message, "role")))
        .unwrap_or("unknown");
    let read = match content {
        Some(content) if content.text.trim().is_empty() => Line::Dropped,
        Some(content) => Line::Message(Message {
            role: role.to_owned(),
            speaker: string(line, "speaker")
                .or_else(|| envelope.and_then(|m| string(m, "name")))
                .or_else(|| string(line, "name"))
                .map(str::to_owned),
            text: content.text,
            timestamp: string(line, "timestamp").map(str::to_owned),
            id: string(line, "uuid").or_else(|| string(line, "id")).map(str::to_owned),
            line: 0,
            session: string(line, "sessionId").or_else(|| string(line, "session_id")).map(str::to_owned),
            prose: content.prose,
        }),
        None if is_record || matches!(role, "user" | "assistant") => Line::Dropped,
        None => Line::Unknown,
    };
    (format, read)
}

/// The content of the message, else that of the line if it is no record, else its summary.
fn content_of(
    line: &Map<String, Value>,
    envelope: Option<&Map<String, Value>>,
    is_record: bool,
) -> Option<Content> {
    let text = |value: Option<&Value>| value.filter(|value| !value.is_object()).and_then(render);
    let own = |key: &str| if is_record { None } else { text(line.get(key)) };
    text(envelope.and_then(|message| message.get("content")))
        .or_else(|| own("message"))
        .or_else(|| own("content"))
        .or_else(|| own("text"))
        .or_else(|| text(line.get("summary")))
}
