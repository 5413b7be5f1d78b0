//! Owns the counts of a run and how they are printed.

use std::collections::BTreeMap;
use std::fmt;

/// Counts of some questions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Row {
    /// Questions with evidence.
    pub questions: usize,
    /// Of these, with a session of the evidence among the first ten.
    pub session_hits: usize,
    /// Questions with a turn of evidence that exists.
    pub turn_questions: usize,
    /// Of these, with every such turn whole in the first ten drawers.
    pub turn_hits: usize,
}

impl std::ops::AddAssign for Row {
    fn add_assign(&mut self, other: Self) {
        self.questions += other.questions;
        self.session_hits += other.session_hits;
        self.turn_questions += other.turn_questions;
        self.turn_hits += other.turn_hits;
    }
}

impl std::iter::Sum for Row {
    fn sum<I: Iterator<Item = Self>>(rows: I) -> Self {
        rows.fold(Self::default(), |mut sum, row| {
            sum += row;
            sum
        })
    }
}

impl fmt::Display for Row {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let percent = |part: usize, whole: usize| 100.0 * part as f64 / whole.max(1) as f64;
        let Self { questions, session_hits, turn_questions, turn_hits } = *self;
        write!(
            out,
            "session {session_hits:>4}/{questions:<4} {:>5.1} %   turns {turn_hits:>4}/{turn_questions:<4} {:>5.1} %",
            percent(session_hits, questions),
            percent(turn_hits, turn_questions)
        )
    }
}

/// Counts by conversation and category.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    rows: BTreeMap<(usize, u8), Row>,
}

impl Report {
    /// Adds counts for a conversation (from 0) and a category.
    pub fn add(&mut self, conversation: usize, category: u8, row: Row) {
        *self.rows.entry((conversation, category)).or_default() += row;
    }

    /// All counts together.
    #[must_use]
    pub fn total(&self) -> Row {
        self.rows.values().copied().sum()
    }

    /// The counts of the conversations that `wanted` names (from 0).
    #[must_use]
    pub fn of(&self, wanted: std::ops::Range<usize>) -> Row {
        self.rows
            .iter()
            .filter(|((conversation, _), _)| wanted.contains(conversation))
            .map(|(_, row)| *row)
            .sum()
    }

    /// The counts by category.
    #[must_use]
    pub fn by_category(&self) -> BTreeMap<u8, Row> {
        let mut categories: BTreeMap<u8, Row> = BTreeMap::new();
        self.rows.iter().for_each(|((_, category), row)| *categories.entry(*category).or_default() += *row);
        categories
    }
}

impl fmt::Display for Report {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(out, "all                 {}", self.total())?;
        writeln!(out, "conversations 1-5   {}", self.of(0..5))?;
        writeln!(out, "conversations 6-10  {}", self.of(5..usize::MAX))?;
        for (category, row) in self.by_category() {
            writeln!(out, "category {category}          {row}")?;
        }
        Ok(())
    }
}
