//! Owns what a terminal may be shown of a text that strangers wrote.
//!
//! Escaping is for eyes only: what is stored or piped stays as it is.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Replaces what could steer a terminal or turn the reading direction by visible escapes (`\u{1b}`): control
/// characters other than line feed and tab, direction marks, line and paragraph separators.
///
/// Borrows when there is nothing to escape.
#[must_use]
pub fn escape_controls(text: &str) -> Cow<'_, str> {
    let Some(first) = text.find(is_steering) else { return Cow::Borrowed(text) };
    let mut out = String::with_capacity(text.len() + 16);
    out.push_str(&text[..first]);
    for c in text[first..].chars() {
        if is_steering(c) {
            push_escape(c, &mut out);
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

/// The same for a JSON text: what steers a terminal stands in its strings alone and gets JSON's own escape there
/// (`\u202e`), so that every reader still reads the same.
///
/// Borrows when there is nothing to escape.
#[must_use]
pub fn escape_json(json: &str) -> Cow<'_, str> {
    if !json.contains(is_steering) {
        return Cow::Borrowed(json);
    }
    let mut out = String::with_capacity(json.len() + 16);
    for c in json.chars() {
        if is_steering(c) && c != '\r' {
            // All of them are in the basic plane: four digits, no surrogates. Writing into a string cannot fail.
            let _ = write!(out, "\\u{:04x}", c as u32);
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

pub(crate) fn push_escape(c: char, out: &mut String) {
    // Writing into a string cannot fail.
    let _ = write!(out, "\\u{{{:x}}}", c as u32);
}

/// Whether a character steers a terminal or the direction of reading.
pub(crate) fn is_steering(c: char) -> bool {
    match c {
        '\n' | '\t' => false,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => true,
        _ => c.is_control(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_steers_a_terminal_is_escaped() {
        assert_eq!(escape_controls("a\u{1b}[31mb\r\u{9b}c\u{7f}"), "a\\u{1b}[31mb\\u{d}\\u{9b}c\\u{7f}");
        assert_eq!(escape_controls("x\u{202e}y\u{2066}z\u{200f}"), "x\\u{202e}y\\u{2066}z\\u{200f}");
    }

    #[test]
    fn json_is_escaped_by_its_own_rules_and_reads_the_same() {
        for c in ('\0'..='\u{ffff}').filter(|c| is_steering(*c)) {
            let json = serde_json::to_string(&format!("a{c}b")).unwrap();
            let escaped = escape_json(&json);
            assert!(!escaped.contains(is_steering), "{escaped}");
            assert_eq!(serde_json::from_str::<String>(&escaped).unwrap(), format!("a{c}b"));
        }
        assert_eq!(escape_json("{\r\n\t\"a\": 1}"), "{\r\n\t\"a\": 1}", "white space between is no string");
    }

    #[test]
    fn plain_text_is_borrowed() {
        for text in ["", "line\n\ttab", "שלום 👨‍👩‍👧 é"] {
            assert!(matches!(escape_controls(text), Cow::Borrowed(_)), "{text}");
        }
    }
}
