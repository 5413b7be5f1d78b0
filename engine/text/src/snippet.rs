//! Owns the one line of a text that a result list shows. The line is for eyes; it is never stored.

use std::borrow::Cow;
use std::collections::HashSet;

use unicode_segmentation::UnicodeSegmentation;

use crate::shown::{is_steering, push_escape};
use crate::stopwords::is_function_word;
use crate::token::{TokenKind, Tokenizer};

/// What stands for text that was left out.
const CUT: char = '…';

/// One line of at most `max_chars` characters around the first word of `text` that `query` has, or from the
/// beginning when it has none.
///
/// Words are compared by their search keys; function words of the query count only when no other word of it is
/// found. White space becomes single spaces, control characters are escaped, grapheme clusters stay whole, and
/// `…` marks where text is left out.
#[must_use]
pub fn snippet(text: &str, query: &str, max_chars: usize) -> String {
    let text = text.trim();
    let (start, end) = first_match(text, query).unwrap_or((0, 0));
    let before = Side::read(text[..start].graphemes(true).rev(), max_chars);
    let after = Side::read(text[start..].graphemes(true), max_chars);
    let around = max_chars.saturating_sub(text[start..end].chars().count()) / 2;
    let shown_after = after.take(max_chars - before.width.min(around));
    let shown_before = before.take(max_chars - shown_after.width);

    let mut line = String::new();
    if shown_before.marked {
        line.push(CUT);
    }
    line.extend(before.cells[..shown_before.count].iter().rev().map(|cell| &*cell.text));
    line.extend(after.cells[..shown_after.count].iter().map(|cell| &*cell.text));
    if shown_after.marked {
        line.push(CUT);
    }
    line
}

/// Where the first word stands that both have, in bytes.
fn first_match(text: &str, query: &str) -> Option<(usize, usize)> {
    let mut tokenizer = Tokenizer::new();
    let mut wanted = HashSet::new();
    tokenizer.tokenize(query, |token| {
        if token.kind == TokenKind::Word && !wanted.contains(token.text) {
            wanted.insert(token.text.to_owned());
        }
    });
    let (mut telling, mut any) = (None, None);
    tokenizer.tokenize(text, |token| {
        if telling.is_none() && wanted.contains(token.text) {
            let place = Some((token.start as usize, token.end as usize));
            any = any.or(place);
            telling = place.filter(|_| !is_function_word(token.text));
        }
    });
    telling.or(any)
}

/// A grapheme cluster as it is shown.
struct Cell<'a> {
    text: Cow<'a, str>,
    width: usize,
}

impl<'a> Cell<'a> {
    fn new(cluster: &'a str) -> Self {
        let text = if cluster.contains(is_steering) {
            let mut escaped = String::new();
            for c in cluster.chars() {
                if is_steering(c) { push_escape(c, &mut escaped) } else { escaped.push(c) }
            }
            Cow::Owned(escaped)
        } else {
            Cow::Borrowed(cluster)
        };
        let width = text.chars().count();
        Self { text, width }
    }
}

/// What stands on one side of the place that the line is centred on, nearest first.
struct Side<'a> {
    cells: Vec<Cell<'a>>,
    /// Characters of all cells.
    width: usize,
    /// Whether the cells are all there is.
    complete: bool,
}

/// How much of a side is shown.
struct Shown {
    count: usize,
    /// Characters, the mark among them.
    width: usize,
    /// Whether a mark says that text is left out.
    marked: bool,
}

impl<'a> Side<'a> {
    /// Reads no more than fits into `max` characters.
    fn read(clusters: impl Iterator<Item = &'a str>, max: usize) -> Self {
        let mut side = Self { cells: Vec::new(), width: 0, complete: false };
        let mut in_space = false;
        for cluster in clusters {
            let is_space = cluster.chars().all(char::is_whitespace);
            if is_space && in_space {
                continue;
            }
            in_space = is_space;
            let cell = Cell::new(if is_space { " " } else { cluster });
            if side.width + cell.width > max {
                return side;
            }
            side.width += cell.width;
            side.cells.push(cell);
        }
        side.complete = true;
        side
    }

    /// As much as fits into `budget` characters together with the mark, if there must be one.
    fn take(&self, budget: usize) -> Shown {
        if self.complete && self.width <= budget {
            return Shown { count: self.cells.len(), width: self.width, marked: false };
        }
        let Some(room) = budget.checked_sub(1) else {
            return Shown { count: 0, width: 0, marked: false };
        };
        let (mut count, mut width) = (0, 0);
        for cell in &self.cells {
            if width + cell.width > room {
                break;
            }
            width += cell.width;
            count += 1;
        }
        Shown { count, width: width + 1, marked: true }
    }
}

#[cfg(test)]
mod tests {
    use super::snippet;
    use proptest::prelude::*;

    const TEXT: &str = "The meeting began late.\n\nAfter an hour we decided to move the Café database to another host, and to do it soon.";

    #[test]
    fn the_line_is_centred_on_the_first_word_of_the_query() {
        assert_eq!(snippet(TEXT, "CAFE", 30), "…to move the Café database to…");
        assert_eq!(snippet(TEXT, "soon", 20), "… and to do it soon.");
    }

    #[test]
    fn without_a_match_the_line_is_the_beginning() {
        assert_eq!(snippet(TEXT, "zebra", 12), "The meeting…");
        assert_eq!(snippet(TEXT, "", 12), "The meeting…");
    }

    #[test]
    fn function_words_count_only_alone() {
        assert!(snippet(TEXT, "the host", 20).contains("host"));
        assert!(snippet(TEXT, "the", 20).starts_with("The"));
    }

    #[test]
    fn a_short_text_is_shown_whole_on_one_line_with_controls_escaped() {
        assert_eq!(snippet("  a\r\n\t b\u{1b}[0m ", "b", 100), "a b\\u{1b}[0m");
        assert_eq!(snippet("", "x", 10), "");
        assert_eq!(snippet("text", "text", 0), "");
    }

    #[test]
    fn a_grapheme_cluster_is_shown_whole_or_not_at_all() {
        let family = "👨‍👩‍👧‍👦";
        let line = snippet(&family.repeat(10), "", 10);
        assert_eq!(line, format!("{family}…"));
    }

    proptest! {
        #[test]
        fn the_line_is_one_line_and_never_longer(text in any::<String>(), query in "[a-z ]{0,12}", max in 0..60usize) {
            let line = snippet(&text, &query, max);
            prop_assert!(line.chars().count() <= max);
            prop_assert!(!line.contains(char::is_control));
        }

        #[test]
        fn the_match_is_shown(before in "[a-z ]{0,80}", after in "[a-z ]{0,80}", max in 12..60usize) {
            let text = format!("{before} Zürich1 {after}");
            prop_assert!(snippet(&text, "zurich1", max).contains("Zürich1"));
        }
    }
}
