//! Owns which writing system a character belongs to, and the set of writing systems of a text.
//! It never decides how a script is tokenised beyond the one property `attaches`.

use unicode_script::UnicodeScript;

/// A writing system, as far as search tells them apart.
///
/// `Common` holds digits, punctuation and everything shared; `Other` every script that has no name here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
#[non_exhaustive]
#[expect(missing_docs, reason = "each variant is the Unicode name of its script")]
pub enum Script {
    Common,
    Latin,
    Greek,
    Cyrillic,
    Armenian,
    Georgian,
    Hebrew,
    Arabic,
    Syriac,
    Devanagari,
    Bengali,
    Gurmukhi,
    Gujarati,
    Oriya,
    Tamil,
    Telugu,
    Kannada,
    Malayalam,
    Sinhala,
    Thai,
    Lao,
    Myanmar,
    Khmer,
    Tibetan,
    Ethiopic,
    Mongolian,
    Han,
    Hiragana,
    Katakana,
    Hangul,
    Bopomofo,
    Other,
}

impl Script {
    /// The script of one character, by the Unicode `Script` property.
    #[must_use]
    pub fn of(c: char) -> Self {
        match c {
            'a'..='z' | 'A'..='Z' => Self::Latin,
            '\0'..='\u{7f}' => Self::Common,
            // Most letters are told without a search in the table of the property.
            '\u{c0}'..='\u{d6}' | '\u{d8}'..='\u{f6}' | '\u{f8}'..='\u{24f}' => Self::Latin,
            '\u{391}'..='\u{3a1}' | '\u{3a3}'..='\u{3c9}' => Self::Greek,
            '\u{400}'..='\u{481}' => Self::Cyrillic,
            '\u{5d0}'..='\u{5ea}' => Self::Hebrew,
            '\u{620}'..='\u{63f}' | '\u{641}'..='\u{64a}' => Self::Arabic,
            '\u{904}'..='\u{939}' => Self::Devanagari,
            '\u{e01}'..='\u{e30}' => Self::Thai,
            '\u{3041}'..='\u{3096}' => Self::Hiragana,
            '\u{30a1}'..='\u{30fa}' => Self::Katakana,
            '\u{4e00}'..='\u{9fff}' => Self::Han,
            '\u{ac00}'..='\u{d7a3}' => Self::Hangul,
            _ => Self::of_property(c),
        }
    }

    fn of_property(c: char) -> Self {
        use unicode_script::Script as S;
        match c.script() {
            S::Common | S::Inherited => Self::Common,
            S::Latin => Self::Latin,
            S::Greek => Self::Greek,
            S::Cyrillic => Self::Cyrillic,
            S::Armenian => Self::Armenian,
            S::Georgian => Self::Georgian,
            S::Hebrew => Self::Hebrew,
            S::Arabic => Self::Arabic,
            S::Syriac => Self::Syriac,
            S::Devanagari => Self::Devanagari,
            S::Bengali => Self::Bengali,
            S::Gurmukhi => Self::Gurmukhi,
            S::Gujarati => Self::Gujarati,
            S::Oriya => Self::Oriya,
            S::Tamil => Self::Tamil,
            S::Telugu => Self::Telugu,
            S::Kannada => Self::Kannada,
            S::Malayalam => Self::Malayalam,
            S::Sinhala => Self::Sinhala,
            S::Thai => Self::Thai,
            S::Lao => Self::Lao,
            S::Myanmar => Self::Myanmar,
            S::Khmer => Self::Khmer,
            S::Tibetan => Self::Tibetan,
            S::Ethiopic => Self::Ethiopic,
            S::Mongolian => Self::Mongolian,
            S::Han => Self::Han,
            S::Hiragana => Self::Hiragana,
            S::Katakana => Self::Katakana,
            S::Hangul => Self::Hangul,
            S::Bopomofo => Self::Bopomofo,
            _ => Self::Other,
        }
    }

    /// Whether words of this script are written against each other or take attached particles, so that a run of
    /// letters is more than one word.
    #[must_use]
    pub const fn attaches(self) -> bool {
        matches!(
            self,
            Self::Han
                | Self::Hiragana
                | Self::Katakana
                | Self::Hangul
                | Self::Bopomofo
                | Self::Arabic
                | Self::Hebrew
                | Self::Khmer
                | Self::Thai
                | Self::Lao
                | Self::Myanmar
        )
    }
}

/// A set of letter scripts, one bit each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ScriptSet(u32);

impl ScriptSet {
    /// The set with no script.
    pub const EMPTY: Self = Self(0);

    /// Adds the script of a letter. `Common` is no letter script and is ignored.
    pub const fn insert(&mut self, script: Script) {
        self.0 |= (1 << script as u8) & !1;
    }

    /// Whether `script` is in the set.
    #[must_use]
    pub const fn contains(self, script: Script) -> bool {
        self.0 & (1 << script as u8) != 0
    }

    /// Whether the text had no letter at all.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether two texts certainly share no script: both have letters, neither has letters of an unnamed script,
    /// and no bit is common.
    #[must_use]
    pub const fn is_disjoint(self, other: Self) -> bool {
        let unnamed = self.contains(Script::Other) || other.contains(Script::Other);
        !self.is_empty() && !other.is_empty() && !unnamed && self.0 & other.0 == 0
    }

    /// The bits, for keeping beside a text in memory. Bit numbers may change between releases.
    #[must_use]
    pub const fn bits(self) -> u32 {
        self.0
    }

    /// The set with these bits.
    #[must_use]
    pub const fn from_bits(bits: u32) -> Self {
        Self(bits & !1)
    }
}

/// The letter scripts of a text.
#[must_use]
pub fn scripts(text: &str) -> ScriptSet {
    let mut set = ScriptSet::EMPTY;
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        if bytes[at] < 0x80 {
            if bytes[at].is_ascii_alphabetic() {
                set.insert(Script::Latin);
            }
            at += 1;
            continue;
        }
        let Some(c) = text[at..].chars().next() else { break };
        if c.is_alphabetic() {
            set.insert(Script::of(c));
        }
        at += c.len_utf8();
    }
    set
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_different_scripts_are_disjoint() {
        assert!(scripts("hello 12").is_disjoint(scripts("привет")));
        assert!(scripts("漢字").is_disjoint(scripts("كتاب")));
    }

    #[test]
    fn a_shared_script_or_no_letters_or_an_unnamed_script_is_never_disjoint() {
        assert!(!scripts("hello 漢字").is_disjoint(scripts("漢字")));
        assert!(!scripts("12 + 5").is_disjoint(scripts("привет")));
        assert!(!scripts("").is_disjoint(scripts("")));
        assert!(!scripts("ᎣᏏᏲ").is_disjoint(scripts("hello")), "Cherokee has no bit of its own");
    }

    #[test]
    fn every_character_has_the_script_of_its_property() {
        for c in '\0'..=char::MAX {
            assert_eq!(Script::of(c), Script::of_property(c), "{c:?}");
        }
    }

    #[test]
    fn bits_survive_a_round_trip() {
        let set = scripts("hello привет");
        assert_eq!(ScriptSet::from_bits(set.bits()), set);
    }
}
