//! Owns the lines of a log: where they end, whether they are JSON, and which program's reader takes them.

use serde_json::{Map, Value};

use super::message::{Format, Message, Transcript};
use super::rejected::{Found, RejectReason, Rejected};
use super::repeats::Said;
use super::{claude, codex};

/// No line may have more bytes.
pub const MAX_LINE_BYTES: usize = 16 * 1024 * 1024;

/// What a line turned out to be.
pub(super) enum Line {
    /// A message.
    Message(Message),
    /// A message, and the texts of its blocks, which other lines may repeat one by one.
    InBlocks(Message, Vec<String>),
    /// A message that may repeat the words of another line.
    Repeat(Message),
    /// Left out on purpose.
    Dropped,
    /// Names the session of the lines that follow.
    Session(Option<String>),
    /// A message without words: the field that should hold them, and what it holds.
    NoWords(&'static str, Found),
    /// Nothing that is known.
    Unknown,
}

/// Reads a log. Never fails: what cannot be used is reported in [`Transcript::rejected`].
#[must_use]
pub fn parse(bytes: &[u8]) -> Transcript {
    let mut reader = Reader::default();
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    for (number, line) in (1_u32..).zip(bytes.split(|&b| b == b'\n')) {
        if line.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        match object(line) {
            Ok(object) => reader.take(number, &object),
            Err(reason) => reader.transcript.rejected.push(Rejected { line: number, reason }),
        }
    }
    reader.finish()
}

fn object(line: &[u8]) -> Result<Map<String, Value>, RejectReason> {
    if line.len() > MAX_LINE_BYTES {
        return Err(RejectReason::TooLong { bytes: line.len() });
    }
    let text = std::str::from_utf8(line)
        .map_err(|error| RejectReason::InvalidUtf8 { valid_up_to: error.valid_up_to() })?;
    match serde_json::from_str(text) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(_) => Err(RejectReason::NotAnObject),
        Err(error) => Err(RejectReason::InvalidJson { column: error.column() }),
    }
}

#[derive(Default)]
struct Reader {
    transcript: Transcript,
    session: Option<String>,
    /// What may be repeated.
    said: Said,
    /// Messages that may repeat others, until the whole log is known.
    repeats: Vec<Message>,
}

impl Reader {
    fn take(&mut self, number: u32, object: &Map<String, Value>) {
        let (format, line) = match codex::read(object) {
            Some(line) => (Format::Codex, line),
            None => claude::read(object),
        };
        if self.transcript.format == Format::Unknown && !matches!(line, Line::Unknown) {
            self.transcript.format = format;
        }
        match line {
            Line::Message(message) => self.keep(self.placed(number, message)),
            Line::InBlocks(message, blocks) => {
                self.said.note(&message, &blocks);
                self.keep(self.placed(number, message));
            }
            Line::Repeat(message) => self.repeats.push(self.placed(number, message)),
            Line::Dropped => self.transcript.dropped += 1,
            Line::Session(session) => {
                self.session = session;
                self.transcript.dropped += 1;
            }
            Line::NoWords(field, found) => {
                let reason = RejectReason::NoWords { field, found };
                self.transcript.rejected.push(Rejected { line: number, reason });
            }
            Line::Unknown => {
                let kind = object.get("type").and_then(Value::as_str).map(short);
                let reason = RejectReason::UnknownShape { kind };
                self.transcript.rejected.push(Rejected { line: number, reason });
            }
        }
    }

    fn placed(&self, line: u32, message: Message) -> Message {
        let session = message.session.or_else(|| self.session.clone());
        Message { line, session, ..message }
    }

    fn keep(&mut self, message: Message) {
        match noise(&message.text) {
            None => self.transcript.messages.push(message),
            Some(start) => {
                self.transcript.dropped += 1;
                if !start.is_empty() {
                    let reason = RejectReason::Noise { start };
                    self.transcript.left_out.push(Rejected { line: message.line, reason });
                }
            }
        }
    }

    fn finish(mut self) -> Transcript {
        for message in std::mem::take(&mut self.repeats) {
            if self.said.is_repeated_by(&message) {
                self.transcript.dropped += 1;
            } else {
                self.keep(message);
            }
        }
        self.transcript.messages.sort_by_key(|message| message.line);
        self.transcript.left_out.sort_by_key(|left_out| left_out.line);
        self.transcript
    }
}

/// How what nobody said begins, if it does: with nothing, or as the program's own words do.
fn noise(text: &str) -> Option<&'static str> {
    let text = text.trim_start();
    if text.is_empty() {
        return Some("");
    }
    ["<local-command", "Caveat:"].into_iter().find(|start| text.starts_with(start))
}

/// A name out of a log, short enough for a report.
fn short(name: &str) -> String {
    name.chars().take(64).collect()
}
