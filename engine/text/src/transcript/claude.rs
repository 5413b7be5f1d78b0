//! Owns lines of Claude Code sessions and plain chat lines.

use serde_json::{Map, Value};

use super::blocks::{Content, render, string};
use super::message::{Format, Message};
use super::parse::Line;
use super::rejected::Found;

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
    let content = words_of(line, envelope, is_record);
    let role = kind
        .filter(|kind| *kind != "message")
        .or_else(|| string(line, "role"))
        .or_else(|| envelope.and_then(|message| string(message, "role")))
        .unwrap_or("unknown");
    let read = match content {
        Words::Said(content) if content.text.trim().is_empty() => Line::Dropped,
        Words::Said(content) => Line::Message(Message {
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
        // A summary that is there is words; what else records keep is not.
        Words::Unusable("summary", found) => Line::NoWords("summary", found),
        _ if is_record => Line::Dropped,
        Words::Unusable(field, found) => Line::NoWords(field, found),
        Words::Absent if matches!(role, "user" | "assistant") => Line::NoWords("content", Found::Nothing),
        Words::Absent => Line::Unknown,
    };
    (format, read)
}

/// What a line says.
enum Words {
    Said(Content),
    /// The field that should say it, and what stands there.
    Unusable(&'static str, Found),
    Absent,
}

/// The content of the message, else that of the line if it is no record, else its summary: the first of them that is
/// there. `null` counts only where nothing else does.
fn words_of(line: &Map<String, Value>, envelope: Option<&Map<String, Value>>, is_record: bool) -> Words {
    let own = |key: &str| if is_record { None } else { line.get(key) };
    let fields = [
        ("content", envelope.and_then(|message| message.get("content"))),
        ("message", own("message").filter(|_| envelope.is_none())),
        ("content", own("content")),
        ("text", own("text")),
        ("summary", line.get("summary")),
    ];
    let mut given = fields.into_iter().filter_map(|(name, value)| value.map(|value| (name, value)));
    let Some((name, value)) = given.clone().find(|(_, value)| !value.is_null()).or_else(|| given.next())
    else {
        return Words::Absent;
    };
    match render(value).filter(|_| !value.is_object()) {
        Some(content) => Words::Said(content),
        None => Words::Unusable(name, Found::of(Some(value))),
    }
}
