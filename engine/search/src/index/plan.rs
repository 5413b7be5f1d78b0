//! Owns what a query's text means to this index: its words, what each stands for, and their weights.
//! It reads the vocabulary and the frequencies, never a drawer.

use undercroft_text::{ScriptSet, Tokenizer, scripts};

use super::Index;
use super::documents::Slot;
use super::expand::Other;
use super::postings::List;
use super::vocabulary::TermId;
use crate::analyse::{class, shortest_counted};
use crate::document::TermClass;
use crate::forms::Language;
use crate::language::is_function_word;
use crate::limits::{EXPANSIONS_MAX, QUERY_BYTES_MAX, QUERY_TERMS_MAX};

/// Slots that are looked at together.
const CHUNK: usize = 64;
/// An inflected form occurs.
pub(crate) const MORPH: u8 = 1;
/// A near spelling occurs.
pub(crate) const NEAR: u8 = 2;

/// A query, resolved against the vocabulary.
#[derive(Clone, Debug, Default)]
pub(crate) struct Plan {
    /// Distinct query words that occur in the index in some form, in the query's order.
    pub(crate) terms: Vec<PlanTerm>,
    /// Distinct query words, known or not.
    pub(crate) words: usize,
    /// The query's words in sequence, as the numbers of their terms.
    pub(crate) phrase: Vec<Option<TermId>>,
    /// Bytes of the query's text without the blanks around it.
    pub(crate) bytes: usize,
    /// Raw evidence that squashes to one half.
    pub(crate) half: f32,
    /// Okapi's length normalisation: `base + slope * length`.
    pub(crate) norm: (f32, f32),
    /// Scripts of the query's letters.
    pub(crate) scripts: ScriptSet,
}

/// One query word.
#[derive(Clone, Debug, Default)]
pub(crate) struct PlanTerm {
    /// The word itself, when it occurs.
    pub(crate) exact: Option<TermId>,
    /// Other words it stands for.
    pub(crate) others: Vec<Other>,
    /// Slots with such another word, in order, with [`MORPH`] and [`NEAR`].
    pub(crate) extra: Vec<(Slot, u8)>,
    /// Inverse document frequency times the word's own weight.
    pub(crate) weight: f32,
    /// It was not asked for, but accompanies what was: see [`super::feedback`].
    pub(crate) companion: bool,
}

impl Other {
    /// What it is in a drawer of this language.
    pub(crate) fn role(&self, language: u8) -> u8 {
        if self.languages >> language & 1 == 1 {
            MORPH
        } else if self.near {
            NEAR
        } else {
            0
        }
    }
}

impl Plan {
    /// Resolves a query. `scratch` is all zero, a byte a slot, and is so again afterwards.
    pub(crate) fn build(
        index: &Index,
        text: &str,
        language: Option<Language>,
        scratch: &mut Vec<u8>,
    ) -> Self {
        let text = &text[..text.floor_char_boundary(QUERY_BYTES_MAX)];
        let mut plan = Self { scripts: scripts(text), bytes: text.trim().len(), ..Self::default() };
        let mut distinct: Vec<(String, TermClass)> = Vec::new();
        let shortest = shortest_counted(text);
        Tokenizer::new().tokenize(text, |token| {
            let class = class(token.kind);
            if token.text.len() < shortest || plan.phrase.len() >= 4 * QUERY_TERMS_MAX {
                return;
            }
            plan.phrase.push(index.vocabulary.find(token.text, class));
            let known = distinct.iter().any(|(word, other)| *other == class && word == token.text);
            if !known && distinct.len() < QUERY_TERMS_MAX {
                distinct.push((token.text.to_owned(), class));
            }
        });
        plan.words = distinct.len();
        let ranking = &index.ranking;
        let mut frequencies = 0.0;
        for (word, class) in &distinct {
            let mut term = expand(index, word, *class, language);
            let frequency = term.collect(index, scratch);
            if frequency == 0 {
                continue;
            }
            let idf = inverse_frequency(index.documents.live_count, frequency);
            frequencies += idf;
            term.weight = idf * if is_stopword(word) { ranking.stopword } else { 1.0 };
            plan.terms.push(term);
        }
        plan.half = ranking.saturation * frequencies / plan.terms.len().max(1) as f32;
        let slope = ranking.k1 * ranking.b / index.documents.mean_length();
        plan.norm = (ranking.k1 * (1.0 - ranking.b), slope);
        plan
    }
}

/// Okapi's inverse document frequency, never negative.
pub(crate) fn inverse_frequency(documents: usize, frequency: u32) -> f32 {
    let (documents, frequency) = (documents as f64, f64::from(frequency));
    (1.0 + (documents - frequency + 0.5) / (frequency + 0.5)).ln() as f32
}

pub(crate) fn is_stopword(word: &str) -> bool {
    is_function_word(word)
}

/// Finds the words that a query word stands for.
fn expand(index: &Index, word: &str, class: TermClass, language: Option<Language>) -> PlanTerm {
    let vocabulary = &index.vocabulary;
    let mut term = PlanTerm::default();
    match class {
        TermClass::Word => term.exact = vocabulary.find(word, TermClass::Word),
        TermClass::Gram => {
            // A piece of a longer run is approximate on either side.
            let pieces = [TermClass::Gram, TermClass::Word].map(|class| vocabulary.find(word, class));
            let other = |term| Other { term, languages: 0, near: true };
            term.others = pieces.into_iter().flatten().map(other).collect();
            return term;
        }
    }
    let present = index.documents.languages_present;
    term.others = index.expansions.of(vocabulary, word, language, present);
    if let Some(id) = vocabulary.find(word, TermClass::Gram) {
        term.others.push(Other { term: id, languages: 0, near: true });
    }
    keep_frequent(index, &mut term.others);
    term
}

/// Keeps the most frequent forms; equal ones by their text, so that the order of insertion does not matter.
fn keep_frequent(index: &Index, others: &mut Vec<Other>) {
    others.retain(|other| index.postings.frequency(other.term) > 0);
    if others.len() > EXPANSIONS_MAX {
        let rank = |other: &Other| {
            (std::cmp::Reverse(index.postings.frequency(other.term)), index.vocabulary.text(other.term))
        };
        others.sort_by(|a, b| rank(a).cmp(&rank(b)));
        others.truncate(EXPANSIONS_MAX);
    }
}

impl PlanTerm {
    /// Fills `extra` and returns how many live drawers contain the word or a form of it.
    fn collect(&mut self, index: &Index, scratch: &mut Vec<u8>) -> u32 {
        let exact = self.exact.map_or(0, |term| index.postings.frequency(term));
        if self.others.is_empty() {
            return exact;
        }
        let documents = &index.documents;
        scratch.resize(documents.len(), 0);
        let all_live = documents.live_count == documents.len();
        for other in &self.others {
            let list = index.postings.list(other.term);
            if other.languages == 0 && all_live {
                // The common case of a near spelling needs no look at the drawer.
                list.each(|slot, _| scratch[slot as usize] |= NEAR);
                continue;
            }
            list.each(|slot, _| {
                let at = slot as usize;
                if documents.live[at] {
                    scratch[at] |= other.role(documents.languages[at]);
                }
            });
        }
        for (chunk, roles) in scratch.chunks_mut(CHUNK).enumerate() {
            if roles.iter().any(|roles| *roles != 0) {
                let marked = roles.iter_mut().enumerate().filter(|(_, roles)| **roles != 0);
                let slot = |at: usize| (chunk * CHUNK + at) as Slot;
                self.extra.extend(marked.map(|(at, roles)| (slot(at), std::mem::take(roles))));
            }
        }
        let shared = self.exact.map_or(0, |term| self.shared(index.postings.list(term)));
        (exact + self.extra.len() as u32).saturating_sub(shared)
    }
    /// How many slots of `extra` contain the word itself too.
    fn shared(&self, list: &List) -> u32 {
        if list.dense {
            let contains = |slot: Slot| list.bytes.get(slot as usize).is_some_and(|count| *count > 0);
            return self.extra.iter().filter(|(slot, _)| contains(*slot)).count() as u32;
        }
        let mut shared = 0;
        let mut extra = self.extra.iter().map(|(slot, _)| *slot).peekable();
        list.each(|slot, _| {
            while extra.next_if(|other| *other < slot).is_some() {}
            shared += u32::from(extra.next_if_eq(&slot).is_some());
        });
        shared
    }
}
