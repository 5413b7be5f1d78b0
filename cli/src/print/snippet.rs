//! The part of a text that a list shows: the words around the first match, or the first line.

use super::lines::one_line;

/// At most `max` characters of `text` on one line, around the first word of `query` that occurs in it, with `…` where
/// something was left out.
#[must_use]
pub fn snippet(text: &str, query: &str, max: usize) -> String {
    let line: Vec<char> = one_line(text).chars().collect();
    if line.len() <= max {
        return line.into_iter().collect();
    }
    let lowered: Vec<char> = line.iter().map(|c| lower(*c)).collect();
    let found =
        query.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).find_map(|word| {
            let wanted: Vec<char> = word.chars().map(lower).collect();
            let at = lowered.windows(wanted.len()).position(|window| window == wanted)?;
            Some(at + wanted.len() / 2)
        });
    // Two places are kept for the dots.
    let room = max.saturating_sub(2).max(1);
    let start = found.unwrap_or(0).saturating_sub(room / 2).min(line.len() - room);
    let end = start + room;
    let mut shown = String::new();
    if start > 0 {
        shown.push('…');
    }
    shown.extend(&line[start..end]);
    if end < line.len() {
        shown.push('…');
    }
    shown
}

/// The first line of `text` that says something, at most `max` characters of it.
#[must_use]
pub fn first_line(text: &str, max: usize) -> String {
    let line = one_line(text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default());
    if line.chars().count() <= max {
        return line;
    }
    line.chars().take(max.saturating_sub(1)).chain(['…']).collect()
}

/// Lower case that keeps one character one character, so that positions agree.
fn lower(c: char) -> char {
    let mut lowered = c.to_lowercase();
    match (lowered.next(), lowered.next()) {
        (Some(single), None) => single,
        _ => c,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_snippet_is_centred_on_the_first_word_that_matches() {
        let text = format!("{} the needle {}", "hay ".repeat(60), "hay ".repeat(60));
        let shown = snippet(&text, "where is the NEEDLE?", 40);
        assert!(shown.contains("the needle") || shown.contains("needle"), "{shown}");
        assert!(shown.starts_with('…') && shown.ends_with('…'), "{shown}");
        assert!(shown.chars().count() <= 40);
    }

    #[test]
    fn a_short_text_is_shown_whole_on_one_line() {
        assert_eq!(snippet("a\n b\tc", "b", 100), "a b c");
        assert_eq!(first_line("\n\n  one\ntwo", 120), "one");
        assert_eq!(first_line(&"x".repeat(200), 120).chars().count(), 120);
    }

    proptest! {
        #[test]
        fn a_snippet_never_exceeds_its_length(text in ".{0,300}", query in ".{0,20}", max in 3_usize..120) {
            prop_assert!(snippet(&text, &query, max).chars().count() <= max);
            prop_assert!(first_line(&text, max).chars().count() <= max);
        }
    }
}
