//! Owns where a chunk ends: one walk over the grapheme clusters of a window, remembering the last good place of
//! each kind. It looks at no byte behind the window but those of one grapheme cluster.

use unicode_segmentation::UnicodeSegmentation;

use super::{MAX_BYTES, MAX_GRAPHEME_BYTES, MIN_BYTES, TARGET_BYTES, is_blank_char};

/// How a sentence stands at the current place.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sentence {
    Open,
    /// A stop that ends a sentence when white space follows.
    Stopped,
    /// A stop that needs no white space.
    Ended,
}

/// The last place of each kind where the chunk may end; 0 for none.
#[derive(Default)]
struct Places {
    paragraph: usize,
    /// A sentence ends with its line: what was said in one line stays together.
    closed_line: usize,
    sentence: usize,
    line: usize,
    word: usize,
    grapheme: usize,
}

impl Places {
    fn best(&self, start: usize) -> Option<usize> {
        let half_full = start + TARGET_BYTES / 2;
        let line_or_word = if self.line >= half_full { self.line } else { self.line.max(self.word) };
        // A line that was closed early would leave a small chunk where a sentence fills it.
        let closed_line = if self.closed_line >= half_full { self.closed_line } else { 0 };
        [self.paragraph, closed_line, self.sentence, line_or_word, self.grapheme]
            .into_iter()
            .find(|&place| place != 0)
    }
}

/// Where the chunk that begins at `start` ends. More than [`TARGET_BYTES`] follow `start`.
pub(super) fn next_cut(text: &str, start: usize) -> usize {
    let bound = text.floor_char_boundary(start + MAX_BYTES);
    let blank = text[start..bound].len() - text[start..bound].trim_start_matches(is_blank_char).len();
    let content = start + blank;
    if content == bound {
        return bound;
    }
    // What is blank before the first word is part of the chunk; when there is much of it, the window is counted from behind it.
    let window_start = if blank > TARGET_BYTES / 2 { content } else { start };
    let limit = bound.min(window_start + TARGET_BYTES);
    let places = walk(text, start, content, limit);
    let end = places.best(start).unwrap_or_else(|| content + first_grapheme_len(&text[content..]));
    // Only a huge cluster behind much that is blank reaches the bound.
    end.min(bound)
}

fn walk(text: &str, start: usize, content: usize, limit: usize) -> Places {
    let mut places = Places::default();
    let mut sentence = Sentence::Open;
    let (mut gap, mut newlines, mut line_start) = (false, 0, 0);
    let mut at = content;
    while at <= limit && at < text.len() {
        let len = first_grapheme_len(&text[at..]);
        let cluster = &text[at..at + len];
        if at > content {
            places.grapheme = at;
        }
        let is_newline = matches!(cluster, "\n" | "\r\n" | "\r");
        if is_newline || cluster.chars().all(char::is_whitespace) {
            gap = true;
            if is_newline {
                newlines += 1;
                line_start = at + len;
            }
            at += len;
            continue;
        }
        let roomy = |place: usize| place >= start + MIN_BYTES;
        if gap {
            // Indentation belongs to the line that it indents.
            let place = if newlines > 0 { line_start } else { at };
            if roomy(place) {
                match newlines {
                    0 => places.word = place,
                    1 => places.line = place,
                    _ => places.paragraph = place,
                }
                if sentence != Sentence::Open {
                    places.sentence = place;
                    if newlines > 0 {
                        places.closed_line = place;
                    }
                }
            }
        } else if sentence == Sentence::Ended && !is_closer(cluster) && roomy(at) {
            places.sentence = at;
        }
        sentence = next_sentence(sentence, cluster, gap);
        (gap, newlines) = (false, 0);
        at += len;
    }
    places
}

fn next_sentence(before: Sentence, cluster: &str, gap: bool) -> Sentence {
    match cluster {
        "。" | "！" | "？" | "｡" => Sentence::Ended,
        "." | "!" | "?" | "…" | "؟" | "۔" | "।" | "॥" | "։" | "።" => Sentence::Stopped,
        _ if is_closer(cluster) && !gap => before,
        _ => Sentence::Open,
    }
}

/// Whether a sentence's stop may be followed by this inside the sentence.
fn is_closer(cluster: &str) -> bool {
    matches!(
        cluster,
        "\"" | "'" | ")" | "]" | "}" | "”" | "’" | "»" | "」" | "』" | "）" | "】" | "。" | "！" | "？"
    )
}

/// The length of the grapheme cluster that `text` begins with, at most [`MAX_GRAPHEME_BYTES`].
fn first_grapheme_len(text: &str) -> usize {
    match text.as_bytes() {
        [b'\r', b'\n', ..] => 2,
        [a, b, ..] if a.is_ascii() && b.is_ascii() => 1,
        _ => {
            // A bounded look keeps the whole walk linear when clusters have no end.
            let bounded = &text[..text.floor_char_boundary(MAX_GRAPHEME_BYTES)];
            bounded.graphemes(true).next().map_or(0, str::len)
        }
    }
}
