//! Owns what the index is told of a drawer: its key, its metadata and its analysed text.
//! It never keeps the text itself.

use undercroft_text::ScriptSet;

use crate::forms::Language;

/// Names a drawer inside one index. Opaque: the caller decides what the sixteen bytes are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DocumentKey([u8; 16]);

impl DocumentKey {
    /// Wraps sixteen bytes.
    #[must_use]
    pub fn new(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    /// The bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }
}

/// Metadata of a drawer that filters, orders or gives context.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocumentMeta {
    /// Names the drawer.
    pub key: DocumentKey,
    /// Orders drawers of equal score, and drawers of one room that have no source; unique in an index.
    pub seq: u64,
    /// Wing it lies in.
    pub wing: String,
    /// Room it lies in.
    pub room: String,
    /// What it was cut from; drawers of one source lend each other context.
    pub source: Option<String>,
    /// Place within the source, from 0.
    pub chunk: u32,
    /// Its kind label.
    pub kind: Option<String>,
    /// When it was filed, in microseconds since 1970; `i64::MIN` when unknown, which counts as infinitely old.
    pub filed_at_micros: i64,
    /// The day its content speaks of, in days since 1970.
    pub content_day: Option<i32>,
}

/// The words of one text, ready to be indexed. Made by [`crate::analyse`], on any thread.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Analysed {
    /// The distinct terms' text, one after another.
    pub(crate) text: String,
    /// End of each distinct term in `text`.
    pub(crate) ends: Vec<u32>,
    /// Class of each distinct term.
    pub(crate) classes: Vec<TermClass>,
    /// The text as a sequence: 0 for the end of a line, else one more than the number of the term.
    pub(crate) stream: Vec<u32>,
    /// Length for ranking: one a word of a delimited script, else one a character.
    pub(crate) length: u32,
    /// Scripts whose letters occur.
    pub(crate) scripts: ScriptSet,
    /// Language that the text's own function words name.
    pub(crate) language: Option<Language>,
}

impl Analysed {
    /// The distinct terms in order of first occurrence.
    pub(crate) fn terms(&self) -> impl Iterator<Item = (&str, TermClass)> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        let spans = starts.zip(self.ends.iter().copied());
        spans
            .zip(&self.classes)
            .map(|((start, end), class)| (&self.text[start as usize..end as usize], *class))
    }
}

impl Analysed {
    /// How many lines have a word.
    pub(crate) fn lines(&self) -> u32 {
        self.stream.split(|step| *step == 0).filter(|line| !line.is_empty()).count() as u32
    }

    /// The terms in the order of the text, without its lines.
    pub(crate) fn sequence(&self) -> Vec<(String, TermClass)> {
        let terms: Vec<(&str, TermClass)> = self.terms().collect();
        let numbers = self.stream.iter().filter_map(|step| step.checked_sub(1));
        numbers.map(|number| (terms[number as usize].0.to_owned(), terms[number as usize].1)).collect()
    }
}

/// Whether a term stands for a whole word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub(crate) enum TermClass {
    /// A word, or a piece of Han text: a match is a match.
    Word = 0,
    /// A piece of a longer run in a script without spaces: a match is approximate evidence.
    Gram = 1,
}
