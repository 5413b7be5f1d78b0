//! Owns telling a text's language by its function words, for texts in Latin script. Other scripts tell it
//! themselves. It decides nothing about a text with few such words.

use std::sync::LazyLock;

use rustc_hash::FxHashMap;
use undercroft_text::Language;

/// Votes that a language needs.
const VOTES_MIN: u32 = 3;
/// How many times the runner-up's votes it needs.
const LEAD: u32 = 2;
/// Longest function word below, in bytes.
const LONGEST: usize = 8;

/// Function words, folded. A word of two languages here would vote for neither, so each stands once.
const WORDS: [(Language, &[&str]); 8] = [
    (
        Language::English,
        &[
            "the", "and", "of", "to", "is", "that", "it", "with", "was", "this", "you", "have", "are", "not",
            "what", "my",
        ],
    ),
    (
        Language::German,
        &[
            "und", "der", "das", "ist", "nicht", "ich", "ein", "eine", "mit", "auf", "auch", "sich", "wir",
            "fur", "dem", "war",
        ],
    ),
    (
        Language::Dutch,
        &[
            "het", "een", "niet", "van", "ik", "dat", "zijn", "voor", "maar", "naar", "ook", "wij", "bij",
            "deze", "heeft", "aan",
        ],
    ),
    (
        Language::Italian,
        &[
            "il", "che", "non", "di", "gli", "sono", "della", "per", "questo", "piu", "anche", "nel", "sul",
            "ma", "ho", "lo",
        ],
    ),
    (
        Language::Spanish,
        &[
            "el", "los", "las", "y", "una", "pero", "muy", "esta", "por", "con", "del", "como", "yo", "hay",
            "donde", "mas",
        ],
    ),
    (
        Language::French,
        &[
            "le", "les", "et", "est", "dans", "pas", "je", "vous", "nous", "une", "des", "pour", "avec",
            "sur", "qui", "au",
        ],
    ),
    (
        Language::Portuguese,
        &[
            "nao", "uma", "os", "um", "ao", "com", "mas", "voce", "isso", "muito", "pelo", "dos", "eu",
            "foi", "em", "sao",
        ],
    ),
    (
        Language::Turkish,
        &[
            "ve", "bir", "bu", "icin", "ile", "cok", "degil", "ama", "gibi", "daha", "kadar", "ben", "sen",
            "olan", "var", "yok",
        ],
    ),
];

/// Words of English questions and sentences that name nothing, sorted; what is left of contractions too.
const ENGLISH: [&str; 129] = [
    "about", "after", "also", "am", "an", "and", "any", "are", "aren", "as", "at", "be", "because", "been",
    "before", "being", "between", "both", "but", "by", "can", "could", "couldn", "did", "didn", "do", "does",
    "doesn", "doing", "don", "done", "down", "during", "each", "either", "for", "from", "had", "hadn", "has",
    "hasn", "have", "haven", "having", "he", "her", "here", "him", "his", "how", "if", "in", "into", "is",
    "isn", "it", "its", "just", "ll", "may", "me", "might", "more", "most", "must", "my", "no", "not", "of",
    "off", "on", "only", "or", "other", "our", "out", "over", "own", "re", "same", "shall", "she", "should",
    "shouldn", "since", "so", "some", "such", "than", "that", "the", "their", "them", "then", "there",
    "these", "they", "this", "those", "through", "to", "too", "under", "until", "up", "us", "ve", "very",
    "was", "wasn", "we", "were", "weren", "what", "when", "where", "which", "while", "who", "whom", "whose",
    "why", "will", "with", "won", "would", "wouldn", "you", "your",
];

/// Every function word with the language it votes for, if any. Built once from the tables above.
static FUNCTION_WORDS: LazyLock<FxHashMap<&str, Option<usize>>> = LazyLock::new(|| {
    let mut words: FxHashMap<&str, Option<usize>> = ENGLISH.iter().map(|word| (*word, None)).collect();
    for (number, (_, own)) in WORDS.iter().enumerate() {
        words.extend(own.iter().map(|word| (*word, Some(number))));
    }
    words
});

/// Whether a folded word is a function word of a language in Latin script.
pub(crate) fn is_function_word(word: &str) -> bool {
    word.len() <= LONGEST && FUNCTION_WORDS.contains_key(word)
}

/// Counts votes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Votes([u32; WORDS.len()]);

impl Votes {
    /// Considers one folded word.
    pub(crate) fn add(&mut self, word: &str) {
        if word.len() <= LONGEST
            && let Some(Some(language)) = FUNCTION_WORDS.get(word)
        {
            self.0[*language] += 1;
        }
    }

    /// The language that leads clearly.
    pub(crate) fn winner(&self) -> Option<Language> {
        let mut ranked: Vec<(u32, Language)> =
            self.0.iter().zip(&WORDS).map(|(votes, (language, _))| (*votes, *language)).collect();
        ranked.sort_by_key(|(votes, _)| std::cmp::Reverse(*votes));
        let ((first, language), (second, _)) = (ranked[0], ranked[1]);
        (first >= VOTES_MIN && first >= LEAD * second).then_some(language)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use undercroft_text::{fold, tokens};

    fn detect(text: &str) -> Option<Language> {
        let mut votes = Votes::default();
        tokens(text).iter().for_each(|token| votes.add(&token.text));
        votes.winner()
    }

    #[test]
    fn a_text_names_its_language_by_function_words() {
        for (text, language) in [
            ("This is the house that we saw with the dog.", Language::English),
            ("Das ist nicht mein Haus und ich bin auf der Straße.", Language::German),
            ("Het is een huis dat niet van mij is.", Language::Dutch),
            ("Non sono sicuro che il treno della sera sia questo.", Language::Italian),
            ("El perro y los gatos no están por la calle, pero hay ratones.", Language::Spanish),
            ("Je ne suis pas dans la maison avec vous et les enfants.", Language::French),
            ("Eu não comprei uma casa, mas isso foi muito caro.", Language::Portuguese),
            ("Bu ev çok güzel ama daha büyük bir ev gibi değil.", Language::Turkish),
        ] {
            assert_eq!(detect(text), Some(language), "{text}");
        }
    }

    #[test]
    fn few_or_divided_votes_name_none() {
        for text in ["", "kernel panic", "the end", "the und le et der is"] {
            assert_eq!(detect(text), None, "{text}");
        }
    }

    #[test]
    fn every_word_is_folded_short_and_of_one_language_except_shared_ones_that_cancel() {
        for (_, words) in WORDS {
            assert!(words.iter().all(|word| fold(word) == **word && word.len() <= LONGEST));
        }
    }
}
