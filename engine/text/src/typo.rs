//! Owns when two words are near enough to be slips or variants of one: approximate evidence, never exact.
//! It takes search keys and knows no language.

use crate::script::Script;

/// A slip in a shorter word makes another word too often.
const MIN_EDIT_BYTES: usize = 5;
/// Words that begin with this many equal characters are variants of one,
const MIN_SHARED_CHARS: usize = 7;
/// if no more of the shorter is left than this.
const MAX_LEFT_CHARS: usize = 3;
/// A word of at least this many characters that another begins or ends with is a part of it.
const MIN_CONTAINED_CHARS: usize = 8;
/// A slip in a shorter run of a script that attaches words means nothing.
const MIN_ATTACHED_CHARS: usize = 2;

/// Whether two folded words are different but near: one edit apart (from 5 bytes on), equal in their first 7
/// characters with at most 3 of the shorter one left, or one the beginning or end of the other (from 8
/// characters on). In scripts that attach words, only words one character longer by one edit are near, which is
/// what a particle makes of a word. A number is near nothing.
#[must_use]
pub fn near(a: &str, b: &str) -> bool {
    if a == b || is_number(a) || is_number(b) {
        return false;
    }
    if attaches(a) || attaches(b) {
        let (a_chars, b_chars) = (a.chars().count(), b.chars().count());
        return a_chars.abs_diff(b_chars) == 1
            && a_chars.min(b_chars) >= MIN_ATTACHED_CHARS
            && one_edit(a, b);
    }
    let (short, long) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    if short.len() < MIN_EDIT_BYTES {
        return false;
    }
    one_edit(short, long) || shares_beginning(short, long) || is_contained(short, long)
}

/// Whether one insertion, deletion or substitution of a character makes `a` of `b`. Equal words are none apart.
#[must_use]
pub fn one_edit(a: &str, b: &str) -> bool {
    // A character has at most four bytes.
    if a.len().abs_diff(b.len()) > 4 || a == b {
        return false;
    }
    let prefix = shared_prefix(a, b);
    let (a, b) = (&a[prefix..], &b[prefix..]);
    let suffix = shared_suffix(a, b);
    let at_most_one = |rest: &str| rest.chars().nth(1).is_none();
    at_most_one(&a[..a.len() - suffix]) && at_most_one(&b[..b.len() - suffix])
}

/// Bytes of the longest shared beginning that ends between characters.
fn shared_prefix(a: &str, b: &str) -> usize {
    let equal = a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count();
    // Equal bytes have equal boundaries, but the character that is begun may go on differently.
    a.floor_char_boundary(equal).min(b.floor_char_boundary(equal))
}

/// Bytes of the longest shared end that begins between characters.
fn shared_suffix(a: &str, b: &str) -> usize {
    let equal = a.bytes().rev().zip(b.bytes().rev()).take_while(|(a, b)| a == b).count();
    let of = |text: &str| text.len() - text.ceil_char_boundary(text.len() - equal);
    of(a).min(of(b))
}

fn shares_beginning(short: &str, long: &str) -> bool {
    let shared = shared_prefix(short, long);
    short[shared..].chars().count() <= MAX_LEFT_CHARS && short[..shared].chars().count() >= MIN_SHARED_CHARS
}

fn is_contained(short: &str, long: &str) -> bool {
    (long.starts_with(short) || long.ends_with(short)) && short.chars().count() >= MIN_CONTAINED_CHARS
}

fn is_number(word: &str) -> bool {
    word.chars().all(char::is_numeric)
}

fn attaches(word: &str) -> bool {
    word.chars().next().is_some_and(|c| !c.is_ascii() && Script::of(c).attaches())
}

#[cfg(test)]
mod tests {
    use super::{near, one_edit};
    use proptest::prelude::*;

    #[test]
    fn slips_and_variants_are_near() {
        for (a, b) in [
            ("postgres", "postgre"),
            ("kubernets", "kubernetes"),
            ("migraton", "migration"),
            ("hause", "house"),
            ("configuration", "configured"),
            ("postgresql", "postgres"),
            ("database", "vectordatabase"),
            ("привет", "приват"),
            ("学校", "学校的"),
            ("كتاب", "كتابي"),
        ] {
            assert!(near(a, b), "{a} {b}");
            assert!(near(b, a), "{b} {a}");
        }
    }

    #[test]
    fn short_words_numbers_and_equal_words_are_near_nothing() {
        for (a, b) in [
            ("cat", "cart"),
            ("word", "ward"),
            ("20261", "20262"),
            ("100000", "1000000"),
            ("house", "house"),
            ("", ""),
            ("", "a"),
            ("interest", "internal"),
            ("字", "字典"),
            ("学校", "学生"),
            ("window", "windmill"),
            ("recieve", "received"),
            ("مدرسه", "المدرسه"),
        ] {
            assert!(!near(a, b), "{a} {b}");
        }
    }

    #[test]
    fn characters_are_edited_not_bytes() {
        assert!(one_edit("жук", "жуй") && one_edit("é", "") && one_edit("aéb", "aèb"));
        assert!(!one_edit("é", "è2") && !one_edit("abc", "abc") && !one_edit("ab", "ba"));
    }

    fn distance(a: &[char], b: &[char]) -> usize {
        let mut row: Vec<usize> = (0..=b.len()).collect();
        for (i, x) in a.iter().enumerate() {
            let mut diagonal = row[0];
            row[0] = i + 1;
            for (j, y) in b.iter().enumerate() {
                let cost = diagonal + usize::from(x != y);
                diagonal = row[j + 1];
                row[j + 1] = cost.min(row[j] + 1).min(diagonal + 1);
            }
        }
        row[b.len()]
    }

    proptest! {
        #[test]
        fn one_edit_is_a_distance_of_one(a in "[abéжж学]{0,6}", b in "[abéжж学]{0,6}") {
            let (x, y): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
            prop_assert_eq!(one_edit(&a, &b), distance(&x, &y) == 1);
        }

        #[test]
        fn nearness_is_symmetric(a in any::<String>(), b in "[a-cé学]{0,12}", c in "[a-cé学]{0,12}") {
            prop_assert_eq!(near(&a, &b), near(&b, &a));
            prop_assert_eq!(near(&c, &b), near(&b, &c));
            prop_assert!(!near(&a, &a));
        }
    }
}
