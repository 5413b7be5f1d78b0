//! Owns the form in which two texts are compared to find duplicates.
//!
//! What is stored is never changed: this form feeds a fingerprint and is then thrown away.

use std::borrow::Cow;

use unicode_normalization::UnicodeNormalization;

/// At most this many empty lines in a row count.
const BLANK_LINES: usize = 2;

/// The form in which texts that differ only in line endings, control characters, blanks at line ends, runs of
/// empty lines, empty lines around the text, or Unicode normalisation are equal.
///
/// Blocks between lines of three or more backticks or tildes keep their blanks and empty lines. Borrows when
/// the text is its own form.
#[must_use]
pub fn duplicate_form(text: &str) -> Cow<'_, str> {
    if is_settled(text) {
        return Cow::Borrowed(text);
    }
    let form: String = normalize(text).nfc().collect();
    if form == text { Cow::Borrowed(text) } else { Cow::Owned(form) }
}

/// Whether one look at the bytes shows that the text is its own form. May miss some that are.
fn is_settled(text: &str) -> bool {
    let (mut newlines, mut previous) = (0, b'\n');
    for byte in text.bytes() {
        match byte {
            b'\n' => {
                newlines += 1;
                if newlines > BLANK_LINES + 1 || matches!(previous, b' ' | b'\t') {
                    return false;
                }
            }
            b'\t' | b' '..=b'~' => newlines = 0,
            _ => return false,
        }
        previous = byte;
    }
    let outer = text.starts_with('\n') || text.ends_with(['\n', ' ', '\t']);
    !outer
}

fn normalize(text: &str) -> String {
    let cleaned = clean(text);
    let mut out = String::with_capacity(cleaned.len());
    let mut fence = None;
    let mut blank = 0;
    for line in cleaned.split('\n') {
        let verbatim = fence.is_some();
        fence = match fence {
            None => fence_of(line),
            Some(open) if closes(line, open) => None,
            open => open,
        };
        let line = if verbatim && fence.is_some() { line } else { line.trim_end() };
        blank = if line.is_empty() && !verbatim { blank + 1 } else { 0 };
        if blank <= BLANK_LINES {
            out.push_str(line);
            out.push('\n');
        }
    }
    out.trim_matches('\n').to_owned()
}

/// One line ending, and no control character but tab and line feed.
fn clean(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\r' => {
                if chars.peek() != Some(&'\n') {
                    out.push('\n');
                }
            }
            '\n' | '\t' => out.push(c),
            _ if c.is_control() => {}
            _ => out.push(c),
        }
    }
    out
}

/// The mark and the length of the fence that a line opens.
fn fence_of(line: &str) -> Option<(char, usize)> {
    let line = line.trim_start();
    let mark = line.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let length = line.chars().take_while(|&c| c == mark).count();
    (length >= 3).then_some((mark, length))
}

fn closes(line: &str, (mark, length): (char, usize)) -> bool {
    let line = line.trim();
    line.chars().all(|c| c == mark) && line.len() >= length
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn texts_that_differ_only_in_layout_have_one_form() {
        let form = "one\n\ntwo";
        for text in [
            "one\r\n\r\ntwo",
            "one\r\rtwo",
            "\n\none  \n\ntwo\t\n\n",
            "o\u{0}ne\n\u{7}\ntwo\u{85}",
            "one\n \ntwo",
        ] {
            assert_eq!(duplicate_form(text), form, "{text:?}");
        }
        assert_eq!(duplicate_form("a\n\n\n\n\n\nb"), "a\n\n\nb");
        assert_eq!(duplicate_form("cafe\u{301}"), "café");
    }

    #[test]
    fn texts_that_differ_in_words_or_inner_blanks_do_not() {
        for (a, b) in [("one two", "one  two"), ("one", "One"), ("a\nb", "a b"), ("a\tb", "a b"), (" a", "a")]
        {
            assert_ne!(duplicate_form(a), duplicate_form(b));
        }
    }

    #[test]
    fn fenced_blocks_keep_their_blanks() {
        let text = "x\n```\na  \n\n\n\n\nb\n```\ny";
        assert_eq!(duplicate_form(text), text);
        assert_eq!(duplicate_form("~~~\na  \n```\nb  \n~~~\nc  "), "~~~\na  \n```\nb  \n~~~\nc");
        assert_eq!(duplicate_form("```\nopen  \n"), "```\nopen  ", "a fence that is never closed");
    }

    #[test]
    fn a_settled_text_is_borrowed() {
        for text in ["", "plain\ntext", "Ünïcode – fine", "a\n\n\nb"] {
            assert!(matches!(duplicate_form(text), Cow::Borrowed(_)), "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn the_quick_look_is_right_when_it_says_yes(text in "[a-c \\t\\n`~]{0,60}") {
            if is_settled(&text) {
                prop_assert_eq!(normalize(&text), text);
            }
        }

        #[test]
        fn line_endings_never_matter(text in "[a-c \\n]{0,60}") {
            let other = text.replace('\n', "\r\n");
            prop_assert_eq!(duplicate_form(&other), duplicate_form(&text));
        }
    }
}
