//! Owns the closed list of languages that may be declared.

/// A language that may be declared for reading dates or relating words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "each variant is the English name of its language")]
pub enum Language {
    English,
    German,
    Dutch,
    Italian,
    Spanish,
    French,
    Portuguese,
    Turkish,
    Russian,
    Greek,
    Hindi,
    Georgian,
    Korean,
    Arabic,
}

impl Language {
    /// Every language with its code and its English name.
    pub const ALL: [(Self, &'static str, &'static str); 14] = [
        (Self::English, "en", "english"),
        (Self::German, "de", "german"),
        (Self::Dutch, "nl", "dutch"),
        (Self::Italian, "it", "italian"),
        (Self::Spanish, "es", "spanish"),
        (Self::French, "fr", "french"),
        (Self::Portuguese, "pt", "portuguese"),
        (Self::Turkish, "tr", "turkish"),
        (Self::Russian, "ru", "russian"),
        (Self::Greek, "el", "greek"),
        (Self::Hindi, "hi", "hindi"),
        (Self::Georgian, "ka", "georgian"),
        (Self::Korean, "ko", "korean"),
        (Self::Arabic, "ar", "arabic"),
    ];

    /// Reads a code or an English name, in any case; `None` for anything else.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        Self::ALL
            .into_iter()
            .find(|(_, code, name)| text.eq_ignore_ascii_case(code) || text.eq_ignore_ascii_case(name))
            .map(|(language, _, _)| language)
    }

    /// The two-letter code.
    #[must_use]
    pub fn code(self) -> &'static str {
        // The list holds every variant, in the order of their declaration.
        Self::ALL[self as usize].1
    }
}

#[cfg(test)]
mod tests {
    use super::Language;

    #[test]
    fn codes_and_names_are_read_in_any_case() {
        for (language, code, name) in Language::ALL {
            assert_eq!(language.code(), code);
            assert_eq!(Language::parse(code), Some(language));
            assert_eq!(Language::parse(&name.to_uppercase()), Some(language));
        }
    }

    #[test]
    fn anything_else_is_no_language() {
        for text in ["", "e", "eng", "klingon", "en-GB"] {
            assert_eq!(Language::parse(text), None, "{text}");
        }
    }
}
