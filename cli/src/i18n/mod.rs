//! Ten result lines in ten languages. Everything else, errors and help included, stays English.
//!
//! A verdict is a translated line too, so scripts go by the exit code.

mod tables;

use tables::TABLES;

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

/// A result line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Template {
    /// `{path}`
    PalaceInitialised,
    /// `{path}`
    PalaceAlready,
    /// `{name}` `{level}`
    VaultCreated,
    /// `{id}` `{wing}` `{room}` `{vault}`
    DrawerFiled,
    /// Nothing was found.
    NoMatches,
    /// The vault is as it was written.
    VerifyOk,
    /// It is not.
    VerifyFailed,
    /// `{files}` `{vault}` `{wing}` `{drawers}`
    MinedSummary,
    /// `{files}` `{drawers}` `{present}`
    SweptSummary,
    /// `{drawers}` `{vault}` `{skipped}`
    ImportedSummary,
}

impl Template {
    /// Every template, in the order of the tables.
    pub(crate) const ALL: [Self; 10] = [
        Self::PalaceInitialised,
        Self::PalaceAlready,
        Self::VaultCreated,
        Self::DrawerFiled,
        Self::NoMatches,
        Self::VerifyOk,
        Self::VerifyFailed,
        Self::MinedSummary,
        Self::SweptSummary,
        Self::ImportedSummary,
    ];

    /// The text with its holes.
    #[must_use]
    pub(crate) fn text(self, language: Language) -> &'static str {
        let column = Self::ALL.iter().position(|template| *template == self).unwrap_or_default();
        let row = Language::ALL.iter().position(|known| *known == language).unwrap_or_default();
        TABLES[row][column]
    }

    /// The text with its holes filled. A value that contains `{…}` is not filled again.
    #[must_use]
    pub(crate) fn fill(self, language: Language, values: &[(&str, &str)]) -> String {
        let mut filled = String::new();
        let mut rest = self.text(language);
        while let Some((before, after)) = rest.split_once('{') {
            filled.push_str(before);
            let Some((hole, next)) = after.split_once('}') else { break };
            filled.push_str(values.iter().find(|(name, _)| *name == hole).map_or("", |(_, value)| value));
            rest = next;
        }
        filled + rest
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn holes(text: &str) -> BTreeSet<&str> {
        text.split('{').skip(1).map(|part| part.split_once('}').expect("a hole is closed").0).collect()
    }

    #[test]
    fn every_language_has_every_line_with_the_same_holes() {
        for template in Template::ALL {
            let wanted = holes(template.text(Language::En));
            for language in Language::ALL {
                let text = template.text(language);
                assert!(!text.trim().is_empty(), "{template:?} {language:?}");
                assert_eq!(holes(text), wanted, "{template:?} {language:?}");
            }
        }
    }

    #[test]
    fn no_language_repeats_another_ones_lines() {
        for template in Template::ALL {
            let texts: BTreeSet<&str> =
                Language::ALL.into_iter().map(|language| template.text(language)).collect();
            assert_eq!(texts.len(), 10, "{template:?}");
        }
    }

    #[test]
    fn the_english_lines_are_those_that_scripts_match() {
        let fill = |template: Template, values: &[(&str, &str)]| template.fill(Language::En, values);
        assert_eq!(fill(Template::PalaceInitialised, &[("path", "/p")]), "Palace initialized at /p");
        assert_eq!(fill(Template::PalaceAlready, &[("path", "/p")]), "Palace already initialized at /p");
        assert_eq!(
            fill(Template::VaultCreated, &[("name", "n"), ("level", "sealed")]),
            "Created vault 'n' (level: sealed)"
        );
        assert_eq!(
            fill(Template::DrawerFiled, &[("id", "i"), ("wing", "w"), ("room", "r"), ("vault", "v")]),
            "Filed drawer i in w/r (vault 'v')"
        );
        assert_eq!(fill(Template::NoMatches, &[]), "No memories matched.");
        assert_eq!(fill(Template::VerifyOk, &[]), "VERIFY OK");
        assert_eq!(fill(Template::VerifyFailed, &[]), "VERIFY FAILED");
        assert_eq!(
            fill(Template::MinedSummary, &[("files", "2"), ("vault", "v"), ("wing", "w"), ("drawers", "9")]),
            "Mined 2 file(s) into vault 'v' wing 'w': 9 drawer(s) filed"
        );
        assert_eq!(
            fill(Template::SweptSummary, &[("files", "2"), ("drawers", "9"), ("present", "1")]),
            "Swept 2 transcript(s): 9 message drawer(s) filed, 1 already present"
        );
        assert_eq!(
            fill(Template::ImportedSummary, &[("drawers", "9"), ("vault", "v"), ("skipped", "1")]),
            "Imported 9 drawer(s) into vault 'v' (1 duplicates skipped)"
        );
    }

    #[test]
    fn a_value_is_never_taken_for_a_hole() {
        let filled = Template::PalaceInitialised.fill(Language::De, &[("path", "/odd{path}")]);
        assert!(filled.contains("/odd{path}"), "{filled}");
    }

    #[test]
    fn unknown_languages_are_english() {
        assert_eq!(Language::from_tag(Some("ko")), Language::Ko);
        assert_eq!(Language::from_tag(Some("nl")), Language::En);
        assert_eq!(Language::from_tag(None), Language::En);
    }
}
