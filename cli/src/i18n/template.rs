//! The result lines and how their holes are filled. The words are in the tables.

use super::language::Language;
use super::tables::TABLES;

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
#[path = "template_test.rs"]
mod template_test;
