//! Owns the question which other words a query word may stand for: which rules apply to it in which drawers. The
//! rules themselves, and what a near spelling is, are the text crate's.

use undercroft_text::morphology::rules;
use undercroft_text::{Script, typo};

pub use undercroft_text::Language;
use undercroft_text::PairRules;

/// Numbers that a language may have in a column; 0 stands for "none known".
pub(crate) const LANGUAGES: u8 = 32;
/// Every language, and none known.
const ALL: u32 = u32::MAX;

/// Number of a language as a column holds it.
pub(crate) fn code(language: Option<Language>) -> u8 {
    language.map_or(0, |language| language as u8 + 1)
}

/// The rules that relate forms of one query word, each with the languages of drawers (as bits) in which it does.
#[derive(Default)]
pub(crate) struct Rules(Vec<(&'static dyn PairRules, u32)>);

impl Rules {
    /// Chooses: the declared language; else the one of the script, where a script has one; else that of each drawer,
    /// `present` being the languages that any has. A drawer in Latin script that names no language is read by the
    /// English rules, whose regular endings are common to most.
    pub(crate) fn choose(word: &str, declared: Option<Language>, present: u32) -> Self {
        if let Some(language) = declared {
            return Self(rules(language).map(|rules| (rules, ALL)).into_iter().collect());
        }
        let of_script = match word.chars().next().map_or(Script::Common, Script::of) {
            Script::Latin => None,
            Script::Greek => Some(Language::Greek),
            Script::Cyrillic => Some(Language::Russian),
            Script::Devanagari => Some(Language::Hindi),
            Script::Georgian => Some(Language::Georgian),
            Script::Hangul => Some(Language::Korean),
            Script::Arabic => Some(Language::Arabic),
            _ => return Self::default(),
        };
        if let Some(language) = of_script {
            return Self(rules(language).map(|rules| (rules, ALL)).into_iter().collect());
        }
        let own = Language::ALL.into_iter().filter_map(|(language, _, _)| {
            let unknown = u32::from(language == Language::English);
            let bits = (1 << code(Some(language)) | unknown) & present;
            rules(language).filter(|_| bits != 0).map(|rules| (rules, bits))
        });
        Self(own.collect())
    }

    /// Bytes that every regular form shares with the word at its beginning; `None` without a rule.
    pub(crate) fn shared_prefix(&self, word: &str) -> Option<usize> {
        self.0.iter().map(|(rules, _)| rules.shared_prefix(word)).min()
    }

    /// Irregular forms of the word.
    pub(crate) fn irregular(&self, word: &str) -> impl Iterator<Item = &'static str> {
        self.0.iter().flat_map(|(rules, _)| rules.irregular(word)).copied()
    }

    /// Languages of drawers, as bits, in which the two are forms of one word.
    pub(crate) fn related(&self, a: &str, b: &str) -> u32 {
        let related = self.0.iter().filter(|(rules, _)| rules.related(a, b));
        related.fold(0, |bits, (_, languages)| bits | languages)
    }
}

/// Whether two words are near spellings.
pub(crate) fn near(a: &str, b: &str) -> bool {
    typo::near(a, b)
}
