//! Owns what English spelling does where an ending meets a word.

/// Whether the rules apply: lower-case ASCII letters only.
pub(super) fn is_word(word: &str) -> bool {
    word.bytes().all(|b| b.is_ascii_lowercase())
}

pub(super) fn has_vowel(word: &str) -> bool {
    word.bytes().any(|b| is_vowel(b) || b == b'y')
}

const fn is_vowel(b: u8) -> bool {
    matches!(b, b'a' | b'e' | b'i' | b'o' | b'u')
}

/// Whether a plural is made with `-es` for the sound's sake.
pub(super) fn ends_hissing(word: &str) -> bool {
    ["s", "x", "z", "ch", "sh"].iter().any(|ending| word.ends_with(ending))
}

/// Whether a word doubles its last letter before a vowel: one syllable ending in one vowel and one consonant.
pub(super) fn doubles(word: &str) -> bool {
    let bytes = word.as_bytes();
    let closed = match *bytes {
        [] | [_] => false,
        [.., a, z] => is_vowel(a) && !is_vowel(z) && !matches!(z, b'w' | b'x' | b'y' | b'h'),
    };
    if !closed {
        return false;
    }
    let before = &bytes[..bytes.len() - 2];
    // The u of quit is no vowel.
    before == b"qu" || !before.iter().any(|&b| is_vowel(b))
}

/// Longer words that double because of their stress, or in one of the spellings of English.
pub(super) fn may_double(word: &str) -> bool {
    const STRESSED: [&str; 28] = [
        "admit", "begin", "cancel", "commit", "compel", "control", "debug", "equip", "excel", "expel",
        "forget", "format", "label", "level", "marvel", "model", "occur", "omit", "patrol", "permit",
        "prefer", "program", "propel", "refer", "regret", "submit", "transfer", "travel",
    ];
    STRESSED.binary_search(&word).is_ok()
}

/// The word with one less of the two equal consonants that it ends in.
pub(super) fn undoubled(word: &str) -> Option<&str> {
    match word.as_bytes() {
        [_, .., a, b] if a == b && !is_vowel(*b) => Some(&word[..word.len() - 1]),
        _ => None,
    }
}

/// The form of the third person, which is also how a regular plural is spelt.
pub(super) fn with_s(base: &str) -> String {
    match base.strip_suffix('y') {
        Some(stem) if !stem.ends_with(['a', 'e', 'o', 'u']) => format!("{stem}ies"),
        _ if ends_hissing(base) || base.ends_with('o') => format!("{base}es"),
        _ => format!("{base}s"),
    }
}

/// The form in `-ing`.
pub(super) fn with_ing(base: &str) -> String {
    if let Some(stem) = base.strip_suffix("ie") {
        return format!("{stem}ying");
    }
    match base.strip_suffix('e') {
        Some(stem) if !stem.ends_with(['e', 'y']) && stem.len() > 1 => format!("{stem}ing"),
        _ if doubles(base) || may_double(base) => format!("{base}{}ing", &base[base.len() - 1..]),
        _ => format!("{base}ing"),
    }
}
