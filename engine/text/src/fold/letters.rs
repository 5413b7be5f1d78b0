//! Owns the closed tables of the search key: which characters are expanded, mapped or dropped.
//! It never looks at more than one character and its base.

use unicode_normalization::char::is_combining_mark;

use crate::script::Script;

const ALEF: char = '\u{0627}';

/// Characters without a sound or a shape of their own inside a word.
pub(crate) const fn is_ignorable(c: char) -> bool {
    matches!(
        c,
        '\u{ad}'                        // soft hyphen
        | '\u{34f}'                     // combining grapheme joiner
        | '\u{61c}'                     // Arabic letter mark
        | '\u{640}'                     // tatweel
        | '\u{180b}'..='\u{180f}'       // Mongolian selectors
        | '\u{200c}'..='\u{200f}'       // joiners and direction marks
        | '\u{2060}'                    // word joiner
        | '\u{fe00}'..='\u{fe0f}'       // variation selectors
        | '\u{fc5e}'..='\u{fc63}' | '\u{fcf2}'..='\u{fcf4}' | '\u{fe70}'..='\u{fe7f}' // Arabic points in print
        | '\u{feff}'                    // zero width no-break space
        | '\u{e0100}'..='\u{e01ef}' // more variation selectors
    )
}

/// Whether a character stands for other letters and is expanded by its compatibility decomposition: ligatures and
/// presentation forms, full width forms, half width katakana, CJK and Kangxi radicals.
pub(super) const fn is_presentation(c: char) -> bool {
    matches!(c, '\u{2e80}'..='\u{2fd5}' | '\u{fb00}'..='\u{fdff}' | '\u{fe70}'..='\u{fefc}' | '\u{ff01}'..='\u{ff9f}')
}

/// Vowel points and recitation marks that writers of Arabic, Hebrew and Syriac leave out.
const fn is_omitted_point(mark: char) -> bool {
    matches!(
        mark,
        '\u{591}'..='\u{5bd}' | '\u{5bf}' | '\u{5c1}' | '\u{5c2}' | '\u{5c4}' | '\u{5c5}' | '\u{5c7}' | '\u{fb1e}'
        | '\u{610}'..='\u{61a}' | '\u{64b}'..='\u{652}' | '\u{656}'..='\u{65f}' | '\u{670}'
        | '\u{6d6}'..='\u{6dc}' | '\u{6df}'..='\u{6e4}' | '\u{6e7}' | '\u{6e8}' | '\u{6ea}'..='\u{6ed}'
        | '\u{8ca}'..='\u{8e1}' | '\u{8e3}'..='\u{8ff}'
        | '\u{730}'..='\u{74a}'
    )
}

/// Whether the key leaves out `c`, which follows the already folded letter `base`.
pub(super) fn is_dropped(c: char, base: Option<char>) -> bool {
    if is_ignorable(c) || is_omitted_point(c) {
        return true;
    }
    let Some(base) = base else { return false };
    if !is_combining_mark(c) {
        return false;
    }
    match Script::of(base) {
        Script::Latin | Script::Greek | Script::Common => true,
        Script::Cyrillic => matches!(c, '\u{300}' | '\u{301}') || (base == 'е' && c == '\u{308}'),
        // Hamza and madda make another letter of waw and yeh, but only a spelling of alef.
        Script::Arabic => base == ALEF && matches!(c, '\u{653}'..='\u{655}'),
        _ => false,
    }
}

/// Gives the letters that a lower-case letter is written as in the key.
pub(super) fn map_letter(c: char, mut put: impl FnMut(char)) {
    let pair = match c {
        'ß' => ('s', 's'),
        'æ' => ('a', 'e'),
        'œ' => ('o', 'e'),
        'þ' => ('t', 'h'),
        _ => return put(map_one(c)),
    };
    put(pair.0);
    put(pair.1);
}

fn map_one(c: char) -> char {
    match c {
        'ø' => 'o',
        'đ' | 'ð' => 'd',
        'ł' => 'l',
        'ħ' => 'h',
        'ŧ' => 't',
        'ı' => 'i',
        'ſ' => 's',
        'ς' => 'σ',
        '\u{0671}'..='\u{0673}' | '\u{0675}' => ALEF,
        '\u{0649}' | '\u{06cc}' => '\u{064a}', // alef maqsura and Farsi yeh: yeh
        '\u{0629}' => '\u{0647}',              // teh marbuta: heh
        '\u{06a9}' => '\u{0643}',              // keheh: kaf
        '\u{0660}'..='\u{0669}' => digit(c, 0x0660),
        '\u{06f0}'..='\u{06f9}' => digit(c, 0x06f0),
        _ => c,
    }
}

fn digit(c: char, zero: u32) -> char {
    // The caller matched one of ten consecutive digits.
    char::from_digit(c as u32 - zero, 10).unwrap_or(c)
}
