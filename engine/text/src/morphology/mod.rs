//! Which words are forms of one word, by rules over pairs: `moved` and `moving`, `went` and `go`.
//!
//! There is no stemming and there are no classes of equivalent words: a word is never rewritten, and that a word is
//! related to two others does not relate those. Rules take search keys, never raw text.

mod english;
mod language;

pub use language::Language;

/// The rules of one language over pairs of folded words.
///
/// Every relation is symmetric, relates no word to itself, and never a word that holds anything but letters.
pub trait PairRules: Send + Sync {
    /// The language that the rules are of.
    fn language(&self) -> Language;

    /// Whether the two are forms of one word, regular or irregular.
    fn related(&self, a: &str, b: &str) -> bool;

    /// The forms of the word that no rule gives; empty for regular words. Never holds the word itself.
    fn irregular(&self, word: &str) -> &'static [&'static str];

    /// How many of the word's first bytes every regular form of it shares, so that the forms in a sorted vocabulary
    /// are found in one range.
    fn shared_prefix(&self, word: &str) -> usize;
}

/// The rules of a language, if there are any.
#[must_use]
pub fn rules(language: Language) -> Option<&'static dyn PairRules> {
    match language {
        Language::English => Some(&english::English),
        _ => None,
    }
}
