//! English: regular endings by rule, everything else by closed tables.

mod bases;
mod irregular;
mod spelling;
mod tables;

use super::{Language, PairRules};

/// The rules of English.
#[derive(Debug)]
pub(super) struct English;

impl PairRules for English {
    fn language(&self) -> Language {
        Language::English
    }

    fn related(&self, a: &str, b: &str) -> bool {
        a != b && (bases::share_base(a, b) || irregular::forms(a).contains(&b))
    }

    fn irregular(&self, word: &str) -> &'static [&'static str] {
        irregular::forms(word)
    }

    fn shared_prefix(&self, word: &str) -> usize {
        bases::shared_prefix(word)
    }
}

#[cfg(test)]
mod english_test;
