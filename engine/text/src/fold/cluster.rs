//! Owns folding by cluster: a character with everything that attaches to it. The key of a text is the keys of its
//! clusters in a row, so a slice cut between clusters has the key it has inside the whole.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::{decompose_canonical, decompose_compatible, is_combining_mark};

use super::letters::{is_dropped, is_ignorable, is_presentation, map_letter};

/// Whether a character continues the cluster before it.
pub(crate) fn extends(c: char) -> bool {
    if c < '\u{300}' {
        return c == '\u{ad}';
    }
    match c {
        // Vowels and finals of Hangul, and the half width voicing marks.
        '\u{1160}'..='\u{11ff}' | '\u{d7b0}'..='\u{d7ff}' | '\u{ff9e}' | '\u{ff9f}' => true,
        '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}' => false,
        _ => is_combining_mark(c) || is_ignorable(c),
    }
}

/// Folds with a scratch buffer that is used again.
#[derive(Debug, Default)]
pub(crate) struct Folder {
    letters: Vec<char>,
}

impl Folder {
    /// Appends the key of `text` to `out`.
    pub(crate) fn fold_into(&mut self, text: &str, out: &mut String) {
        let mut rest = text;
        while !rest.is_empty() {
            let plain = plain_prefix(rest);
            out.extend(rest[..plain].bytes().map(|b| char::from(b.to_ascii_lowercase())));
            rest = &rest[plain..];
            let len = cluster_len(rest);
            self.fold_cluster(&rest[..len], out);
            rest = &rest[len..];
        }
    }

    /// Appends the key of one cluster to `out`.
    pub(crate) fn fold_cluster(&mut self, cluster: &str, out: &mut String) {
        self.letters.clear();
        let mut base = None;
        let mut marked = false;
        for c in cluster.chars() {
            let letters = &mut self.letters;
            let mut take = |part: char| {
                for lower in part.to_lowercase() {
                    map_letter(lower, |letter| {
                        if is_dropped(letter, base) {
                            return;
                        }
                        if extends(letter) {
                            marked = true;
                        } else {
                            base = Some(letter);
                        }
                        letters.push(letter);
                    });
                }
            };
            if is_presentation(c) && is_expandable(c) {
                decompose_compatible(c, &mut take);
            } else {
                decompose_canonical(c, &mut take);
            }
        }
        if marked {
            out.extend(self.letters.iter().copied().nfc());
        } else {
            out.extend(&self.letters);
        }
    }
}

/// Some presentation forms stand for a phrase or for a mark on a space; a key must not grow a word boundary.
fn is_expandable(c: char) -> bool {
    let mut spaced = false;
    decompose_compatible(c, |part| spaced |= part == ' ');
    !spaced
}

/// How many leading bytes are ASCII characters that nothing attaches to.
fn plain_prefix(text: &str) -> usize {
    let ascii = text.bytes().position(|b| b >= 0x80).unwrap_or(text.len());
    // The last one may carry a mark that follows it.
    if ascii < text.len() { ascii.saturating_sub(1) } else { ascii }
}

/// The length in bytes of the first cluster of `text`; 0 for no text.
pub(crate) fn cluster_len(text: &str) -> usize {
    let mut chars = text.chars();
    let Some(first) = chars.next() else { return 0 };
    first.len_utf8() + chars.take_while(|&c| extends(c)).map(char::len_utf8).sum::<usize>()
}
