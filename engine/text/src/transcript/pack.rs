//! Owns how messages are put together into texts of a size that is kept and found on its own.

use super::message::Message;
use crate::chunk::{MAX_BYTES, TARGET_BYTES, chunk};

/// What stands between two messages.
pub const BETWEEN: &str = "\n\n";

/// Some messages in a row, or a part of one that is too large.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packed {
    /// `Label: text` of each message, with an empty line between two.
    pub text: String,
    /// The line of the log that the first message stands in.
    pub first_line: u32,
    /// The line of the log that the last message stands in.
    pub last_line: u32,
    /// When the first of them that has a time was said, as the log writes it.
    pub timestamp: Option<String>,
}

/// Puts messages together in their order, never more than [`TARGET_BYTES`] at a time.
///
/// A message that is larger stays whole up to [`MAX_BYTES`]; one beyond that is cut where [`chunk`] cuts, into
/// parts as large as fit, of which the first has the label.
#[must_use]
pub fn pack(messages: &[Message]) -> Vec<Packed> {
    let mut packed: Vec<Packed> = Vec::new();
    let mut open = false;
    for message in messages {
        let text = format!("{}: {}", message.label(), message.text);
        match packed.last_mut() {
            Some(last) if open && last.text.len() + BETWEEN.len() + text.len() <= TARGET_BYTES => {
                last.text.push_str(BETWEEN);
                last.text.push_str(&text);
                last.last_line = message.line;
                if last.timestamp.is_none() {
                    last.timestamp.clone_from(&message.timestamp);
                }
            }
            _ => {
                open = text.len() <= TARGET_BYTES;
                packed.extend(parts(text).into_iter().map(|text| Packed {
                    text,
                    first_line: message.line,
                    last_line: message.line,
                    timestamp: message.timestamp.clone(),
                }));
            }
        }
    }
    packed
}

/// The text whole if it may be kept so, else cut into as few parts as its chunks allow.
fn parts(text: String) -> Vec<String> {
    if text.len() <= MAX_BYTES {
        return vec![text];
    }
    let mut parts = Vec::new();
    let (mut start, mut end) = (0, 0);
    for piece in chunk(&text) {
        if piece.bytes.end - start > MAX_BYTES {
            parts.push(text[start..end].to_owned());
            start = end;
        }
        end = piece.bytes.end;
    }
    parts.push(text[start..end].to_owned());
    parts
}
