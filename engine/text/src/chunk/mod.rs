//! Cuts a file's text into pieces that are kept and found on their own.
//!
//! Chunks never overlap and never change a byte: in a row they are the text.

mod scan;

use std::ops::Range;

use scan::next_cut;

/// The size in bytes that chunks are packed up to.
pub const TARGET_BYTES: usize = 800;
/// A piece of fewer bytes is no chunk of its own when it can be part of the one before.
pub const MIN_BYTES: usize = 50;
/// No chunk has more bytes: the bound of what one drawer keeps.
pub const MAX_BYTES: usize = 100_000;
/// A grapheme cluster of more bytes is cut between two of its characters.
pub const MAX_GRAPHEME_BYTES: usize = 64 * 1024;

/// A piece of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chunk {
    /// Where it stands in the text, in bytes.
    pub bytes: Range<usize>,
    /// The line of its first byte; the first line of a text is 1.
    pub line_start: u32,
    /// The line of its last byte.
    pub line_end: u32,
}

/// Cuts `text` into chunks that concatenate to it byte for byte; none for an empty text.
///
/// A chunk ends where a paragraph does if one ends within [`TARGET_BYTES`], else where a sentence ends together
/// with its line (once the chunk is half full), else where a sentence does, else a line or a word, else a grapheme
/// cluster; what separates two chunks stays with the first. Only a grapheme
/// cluster or blank that is larger makes a chunk larger than the target, up to [`MAX_BYTES`]. A chunk
/// holds something to read (see [`is_blank`]) unless the whole text does not, or so much that does not stands in a row
/// that no chunk of [`MAX_BYTES`] has room for it beside a word. Time is linear in the length.
#[must_use]
pub fn chunk(text: &str) -> Vec<Chunk> {
    let mut chunks = Vec::with_capacity(text.len() / TARGET_BYTES * 2 + 1);
    let (mut start, mut line) = (0, 1_u32);
    while start < text.len() {
        let end = chunk_end(text, start);
        let bytes = &text.as_bytes()[start..end];
        let newlines = bytes.iter().filter(|&&b| b == b'\n').count() as u32;
        let next_line = line.saturating_add(newlines);
        let closed = u32::from(bytes.last() == Some(&b'\n'));
        chunks.push(Chunk {
            bytes: start..end,
            line_start: line,
            line_end: next_line - closed.min(newlines),
        });
        (start, line) = (end, next_line);
    }
    chunks
}

fn chunk_end(text: &str, start: usize) -> usize {
    if text.len() - start <= TARGET_BYTES {
        return text.len();
    }
    let end = next_cut(text, start);
    let tail = &text[end..];
    let joins = text.len() - start <= MAX_BYTES && (tail.len() < MIN_BYTES || is_blank(tail));
    if joins { text.len() } else { end }
}

/// Whether `text` holds nothing to read: white space and control characters alone, which no drawer keeps.
#[must_use]
pub fn is_blank(text: &str) -> bool {
    text.chars().all(is_blank_char)
}

fn is_blank_char(c: char) -> bool {
    c.is_whitespace() || c.is_control()
}

#[cfg(test)]
mod chunk_test;
