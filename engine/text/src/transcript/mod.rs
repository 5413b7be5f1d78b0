//! Reads what agents log of their conversations: JSON lines as Claude Code and Codex write them, and plain
//! `{"role", "content"}` lines.
//!
//! The text of a message is kept exactly as it was decoded. A line that cannot be used is reported with its
//! number and reason; a line left out on purpose is counted. It opens no file.

mod blocks;
mod claude;
mod codex;
mod message;
mod pack;
mod parse;
mod rejected;
mod repeats;

pub use message::{Format, Message, Transcript, is_prose};
pub use pack::{BETWEEN, Packed, pack};
pub use parse::{MAX_LINE_BYTES, parse};
pub use rejected::{Found, RejectReason, Rejected};

#[cfg(test)]
mod pack_test;
#[cfg(test)]
mod parse_test;
