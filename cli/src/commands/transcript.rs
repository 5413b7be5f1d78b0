//! `transcript render`: a log as a conversation.

use std::path::Path;

use serde_json::json;
use undercroft_palace::mining;
use undercroft_text::transcript::{Message, Rejected, parse};

use crate::args::TranscriptCommand;
use crate::context::Context;
use crate::error::{Failure, Outcome};

pub(super) fn run(command: &TranscriptCommand, context: &mut Context) -> Outcome {
    let TranscriptCommand::Render { file, max } = command;
    let bytes = read(file)?;
    let transcript = parse(&bytes);
    if transcript.messages.is_empty() {
        let left_out = transcript.rejected.iter().chain(&transcript.left_out);
        return Err(Failure::not_found(nothing_in(file, &left_out.collect::<Vec<_>>())));
    }
    for line in transcript.rejected.iter().chain(&transcript.left_out) {
        crate::print::aside(&format!("Note: {line}"));
    }
    let shown = if *max == 0 { transcript.messages.len() } else { transcript.messages.len().min(*max) };
    let (messages, rest) = transcript.messages.split_at(shown);
    if context.out.is_json() {
        let messages: Vec<_> = messages.iter().map(object).collect();
        return context.out.object(&json!({ "messages": messages, "more": rest.len() }));
    }
    for message in messages {
        context.out.stored_line(&format!("── {} (line {}) ──", message.label(), message.line))?;
        context.out.stored_line(&message.text)?;
        context.out.line("")?;
    }
    if rest.is_empty() { Ok(()) } else { context.out.line(&format!("… {} more message(s)", rest.len())) }
}

/// A file that is no transcript at all is told in one line, not in one for each of its lines.
fn nothing_in(file: &Path, left_out: &[&Rejected]) -> String {
    let why = left_out.first().map(|first| format!(" ({} line(s) cannot be used; {first})", left_out.len()));
    format!("{} holds no messages{}", file.display(), why.unwrap_or_default())
}

fn object(message: &Message) -> serde_json::Value {
    json!({
        "role": message.role,
        "label": message.label(),
        "line": message.line,
        "timestamp": message.timestamp,
        "text": message.text,
    })
}

fn read(file: &Path) -> Outcome<Vec<u8>> {
    mining::read_text_file(file)
        .map_err(|skipped| Failure::not_found(format!("cannot read {}: {}", file.display(), skipped.reason)))
}
