//! Owns which names a text mentions, told by capitals alone. It knows no one and keeps nothing.

use std::collections::BTreeSet;

use unicode_normalization::char::is_combining_mark;

use crate::fold::fold;
use crate::stopwords::is_function_word;

/// Capitalised words that name no one, folded and sorted: days, months, and words that begin many sentences.
const NO_NAMES: &[&str] = &[
    "actually",
    "although",
    "anyway",
    "april",
    "august",
    "besides",
    "december",
    "february",
    "finally",
    "first",
    "friday",
    "furthermore",
    "good",
    "great",
    "hello",
    "hey",
    "hi",
    "however",
    "instead",
    "january",
    "july",
    "june",
    "last",
    "march",
    "maybe",
    "meanwhile",
    "monday",
    "moreover",
    "next",
    "november",
    "october",
    "oh",
    "ok",
    "okay",
    "perhaps",
    "saturday",
    "second",
    "september",
    "since",
    "sorry",
    "still",
    "sunday",
    "sure",
    "thank",
    "thanks",
    "therefore",
    "third",
    "thursday",
    "today",
    "tomorrow",
    "tonight",
    "tuesday",
    "unless",
    "wednesday",
    "well",
    "yeah",
    "yesterday",
];

/// The most words of one name.
const MAX_WORDS: usize = 6;

/// What separates sentences, list items and quotations from what stands before them.
const SENTENCE_STARTS: &[char] =
    &['.', '!', '?', '…', '\n', '\r', ':', '。', '！', '？', '•', '"', '“', '«', '#', '*', '>', '|'];

/// A word of the text.
#[derive(Clone, Copy)]
struct Word<'a> {
    text: &'a str,
    /// Whether a sentence begins with it.
    first: bool,
    /// Whether only spaces stand between it and the word before.
    follows: bool,
}

/// The names in `text`, lower-cased, sorted, each once: runs of capitalised words anywhere, and single capitalised
/// words that do not begin a sentence. Common words, weekdays and months are no names and end a run.
#[must_use]
pub fn entities(text: &str) -> Vec<String> {
    let mut found = BTreeSet::new();
    let mut run: Vec<Word<'_>> = Vec::new();
    for word in words(text) {
        let named = is_capitalised(word.text) && !is_common(word.text);
        if !named || !word.follows || run.len() == MAX_WORDS {
            finish(&mut run, &mut found);
        }
        if named {
            run.push(word);
        }
    }
    finish(&mut run, &mut found);
    found.into_iter().collect()
}

fn finish(run: &mut Vec<Word<'_>>, found: &mut BTreeSet<String>) {
    let is_name = run.len() > 1 || run.first().is_some_and(|word| !word.first);
    if is_name {
        let words: Vec<&str> = run.iter().map(|word| word.text).collect();
        found.insert(words.join(" ").to_lowercase());
    }
    run.clear();
}

/// Words with what stands before them. An apostrophe or hyphen between letters is part of a word (`O'Neil`,
/// `Jean-Luc`); a possessive ending is not, and ends the run behind it as a comma does.
fn words(text: &str) -> impl Iterator<Item = Word<'_>> {
    let mut at = 0;
    let mut first = true;
    let mut possessive = false;
    std::iter::from_fn(move || {
        let gap_len = text[at..].find(char::is_alphanumeric)?;
        let gap = &text[at..at + gap_len];
        let start = at + gap_len;
        at = start + word_len(&text[start..]);
        let whole = &text[start..at];
        let word = without_possessive(whole);
        let follows = !possessive && !gap.is_empty() && gap.chars().all(|c| c == ' ');
        possessive = word.len() < whole.len();
        let is_first = std::mem::take(&mut first) || gap.contains(SENTENCE_STARTS);
        Some(Word { text: word, first: is_first, follows })
    })
}

fn word_len(text: &str) -> usize {
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let joins = is_joint(c) && chars.peek().is_some_and(|&(_, next)| next.is_alphanumeric());
        if !c.is_alphanumeric() && !joins && !is_combining_mark(c) {
            return at;
        }
    }
    text.len()
}

const fn is_joint(c: char) -> bool {
    matches!(c, '\'' | '’' | '-')
}

fn without_possessive(word: &str) -> &str {
    ["'s", "’s", "'S", "’S"].iter().find_map(|ending| word.strip_suffix(ending)).unwrap_or(word)
}

fn is_capitalised(word: &str) -> bool {
    let mut chars = word.chars();
    chars.next().is_some_and(char::is_uppercase) && chars.next().is_some()
}

/// Whether a capitalised word names no one. A contraction does not when the word before its apostrophe does not.
fn is_common(word: &str) -> bool {
    let key = fold(word);
    let head = match key.split_once(['\'', '’']) {
        Some((head, "t" | "m" | "d" | "re" | "ve" | "ll")) => head,
        _ => &key,
    };
    is_function_word(head) || NO_NAMES.binary_search(&head).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn names_are_found_lower_cased_sorted_and_once() {
        let text = "Yesterday Grace Hopper met Ada in New York. Ada's plan: use Postgres, said Jean-Luc O'Neil, and Ada agreed.";
        assert_eq!(entities(text), ["ada", "grace hopper", "jean-luc o'neil", "new york", "postgres"]);
    }

    #[test]
    fn a_single_word_that_begins_a_sentence_is_no_name_but_a_run_is() {
        assert_eq!(entities("Paris is big. Berlin too.\nRome"), [""; 0]);
        assert_eq!(entities("Marie Curie worked. \"Pierre Curie helped\""), ["marie curie", "pierre curie"]);
    }

    #[test]
    fn common_words_days_months_and_lone_letters_are_no_names() {
        for text in [
            "we met on Monday in March",
            "so I think The end",
            "and then However it Didn't, I'm sure We'll",
            "a B c",
        ] {
            assert_eq!(entities(text), [""; 0], "{text}");
        }
        assert_eq!(entities("we saw The Beatles on Friday"), ["beatles"]);
    }

    #[test]
    fn what_stands_between_words_ends_a_run() {
        assert_eq!(entities("from Oslo, Bergen and (Trondheim)"), ["bergen", "oslo", "trondheim"]);
        assert_eq!(entities("it is Ada's Notebook"), ["ada", "notebook"]);
    }

    #[test]
    fn other_alphabets_with_capitals_are_read_and_those_without_give_nothing() {
        assert_eq!(entities("вчера Анна Иванова и Пётр"), ["анна иванова", "пётр"]);
        assert_eq!(entities("昨天北京 שלום"), [""; 0]);
    }

    #[test]
    fn the_list_is_in_order() {
        assert!(NO_NAMES.is_sorted());
    }

    proptest! {
        #[test]
        fn names_are_sorted_and_unique(text in "\\PC{0,60}|([A-Za-z]{1,8}[ .,']{1,2}){0,12}") {
            prop_assert!(entities(&text).is_sorted_by(|a, b| a < b));
        }
    }
}
