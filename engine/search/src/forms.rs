//! Owns the question whether two different words stand for one another: inflected forms and near spellings.
//! It joins the rules of the text crate to the index.

/// Language of a text, for morphology.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Language {
    /// English.
    English,
}

/// Bits of a set of languages.
pub(crate) const LANGUAGES: u8 = 32;

/// Bit of a language in a set; bit 0 stands for "none known".
pub(crate) fn bit(language: Option<Language>) -> u32 {
    1 << code(language)
}

/// Number of a language as a column holds it; 0 stands for "none known".
pub(crate) fn code(language: Option<Language>) -> u8 {
    language.map_or(0, |language| language as u8 + 1)
}

/// The language that a text's own function words name.
pub(crate) fn detect(_text: &str) -> Option<Language> {
    None
}

/// Languages (as [`bit`]s) among `languages` under whose rules one word is a form of the other.
pub(crate) fn related(a: &str, b: &str, languages: u32) -> u32 {
    let (short, long) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    let Some(rest) = long.strip_prefix(short) else { return 0 };
    let inflected = short.len() >= 3 && ["s", "es", "ed", "ing"].contains(&rest);
    if inflected { languages } else { 0 }
}

/// Characters at the start that every form of a word shares with it.
pub(crate) fn shared_prefix(word: &str) -> usize {
    word.chars().count().saturating_sub(3).clamp(3, 4)
}

/// Whether one word may be the other, spelled differently or cut short.
pub(crate) fn near(a: &str, b: &str) -> bool {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let shared = a.iter().zip(&b).take_while(|(a, b)| a == b).count();
    let ended = a.iter().rev().zip(b.iter().rev()).take_while(|(a, b)| a == b).count();
    let (short, long) = (a.len().min(b.len()), a.len().max(b.len()));
    let one_edit = short >= 5 && long - short <= 1 && shared + ended >= long - 1;
    one_edit || (shared >= 7 && short - shared <= 3)
}
