//! The languages that result lines are printed in.

/// A language that results are printed in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Language {
    /// English.
    En,
    /// German.
    De,
    /// Spanish.
    Es,
    /// French.
    Fr,
    /// Italian.
    It,
    /// Portuguese.
    Pt,
    /// Russian.
    Ru,
    /// Chinese.
    Zh,
    /// Korean.
    Ko,
    /// Hindi.
    Hi,
}

impl Language {
    /// Every language, English first.
    pub(crate) const ALL: [Self; 10] =
        [Self::En, Self::De, Self::Es, Self::Fr, Self::It, Self::Pt, Self::Ru, Self::Zh, Self::Ko, Self::Hi];

    /// Its two letters.
    #[must_use]
    pub(crate) fn tag(self) -> &'static str {
        match self {
            Self::En => "en",
            Self::De => "de",
            Self::Es => "es",
            Self::Fr => "fr",
            Self::It => "it",
            Self::Pt => "pt",
            Self::Ru => "ru",
            Self::Zh => "zh",
            Self::Ko => "ko",
            Self::Hi => "hi",
        }
    }

    /// The language with these two letters; English for any other.
    #[must_use]
    pub(crate) fn from_tag(tag: Option<&str>) -> Self {
        Self::ALL.into_iter().find(|language| Some(language.tag()) == tag).unwrap_or(Self::En)
    }
}
