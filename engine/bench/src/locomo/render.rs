//! Owns how a conversation becomes drawers.

use super::parse::{Session, Turn};

/// What one drawer holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// A piece of the session as the default chunker cuts it.
    Chunk,
    /// One turn.
    Turn,
}

/// A turn as it is filed.
#[must_use]
pub fn line(turn: &Turn) -> String {
    format!("{} said, \"{}\"", turn.speaker, turn.text)
}

/// The room that a session is filed in.
#[must_use]
pub fn room(session: u32) -> String {
    format!("session-{session}")
}

/// The texts of a session's drawers, in order.
#[must_use]
pub fn drawers(session: &Session, unit: Unit) -> Vec<String> {
    let lines: Vec<String> = session.turns.iter().map(line).collect();
    match unit {
        Unit::Turn => lines,
        Unit::Chunk => {
            let text = lines.join("\n");
            let chunks = undercroft_text::chunk(&text);
            chunks.into_iter().map(|chunk| text[chunk.bytes].to_owned()).collect()
        }
    }
}
