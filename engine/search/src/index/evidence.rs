//! Owns the definition of a drawer's word evidence. The search computes the same sums column by column; what it
//! returns, and what the oracle checks, is computed here from the drawer's own word sequence.

use super::Index;
use super::documents::Slot;
use super::kernel::{NEAR_STRENGTH, count, okapi};
use super::plan::{MORPH, NEAR, Plan};
use super::streams::Step;
use super::vocabulary::TermId;

/// A phrase counts in the legacy formula when the query has more bytes than this.
pub(crate) const PHRASE_BYTES: usize = 3;

/// What one drawer's words say about a query, before squashing.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Evidence {
    /// All channels.
    pub(crate) all: f32,
    /// Words as typed.
    pub(crate) exact: f32,
    /// Inflected and derived forms.
    pub(crate) morph: f32,
    /// Summed weight of the query words covered by the best line.
    pub(crate) line: f32,
}

/// What one word of the vocabulary is to one query word.
#[derive(Clone, Copy, Debug)]
struct Entry {
    term: TermId,
    /// Index of the query word.
    word: u16,
    exact: bool,
    languages: u32,
    near: bool,
}

/// Finds the query words that a vocabulary term stands for.
#[derive(Debug, Default)]
pub(crate) struct Lookup {
    /// A bit for each possible remainder of a term that has entries: most terms have none.
    filter: [u64; 32],
    entries: Vec<Entry>,
}

/// Counts of each query word in one drawer.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    counts: Vec<(u8, u8)>,
    /// How strongly the current line covers each query word.
    strengths: Vec<f32>,
}

impl Tally {
    /// Summed weight of what the line covers, in the order of the query's words; the next line starts empty.
    fn end_line(&mut self, plan: &Plan) -> f32 {
        let covered = self.strengths.iter().zip(&plan.terms);
        let covered = covered.fold(0.0, |sum, (strength, term)| sum + strength * term.weight);
        self.strengths.fill(0.0);
        covered
    }
}

impl Entry {
    /// What the term is in a drawer of this language: 0 the word itself, [`MORPH`] or [`NEAR`].
    fn role(&self, language: u8) -> Option<u8> {
        if self.exact {
            Some(0)
        } else if self.languages >> language & 1 == 1 {
            Some(MORPH)
        } else {
            self.near.then_some(NEAR)
        }
    }
}

impl Lookup {
    pub(crate) fn new(plan: &Plan) -> Self {
        let mut lookup = Self::default();
        for (word, term) in plan.terms.iter().enumerate() {
            let word = word as u16;
            let exact = term.exact.map(|term| Entry { term, word, exact: true, languages: 0, near: false });
            let other = |other: &super::expand::Other| Entry {
                term: other.term,
                word,
                exact: false,
                languages: other.languages,
                near: other.near,
            };
            lookup.entries.extend(exact.into_iter().chain(term.others.iter().map(other)));
        }
        lookup.entries.sort_unstable_by_key(|entry| (entry.term, entry.word));
        for entry in &lookup.entries {
            lookup.filter[entry.term as usize / 64 % 32] |= 1 << (entry.term % 64);
        }
        lookup
    }

    /// Whether a term already stands for a query word in a drawer of this language.
    pub(crate) fn stands(&self, term: TermId, language: u8) -> bool {
        self.entries(term).iter().any(|entry| entry.role(language).is_some())
    }

    #[inline]
    fn entries(&self, term: TermId) -> &[Entry] {
        if self.filter[term as usize / 64 % 32] >> (term % 64) & 1 == 0 {
            return &[];
        }
        let start = self.entries.partition_point(|entry| entry.term < term);
        let length = self.entries[start..].iter().take_while(|entry| entry.term == term).count();
        &self.entries[start..start + length]
    }
}

impl Index {
    /// The evidence of one drawer.
    pub(crate) fn evidence(&self, plan: &Plan, lookup: &Lookup, tally: &mut Tally, slot: Slot) -> Evidence {
        let ranking = &self.ranking;
        let best_line = self.tally(plan, lookup, tally, slot);
        let norm = plan.norm.0 + plan.norm.1 * self.documents.lengths[slot as usize] as f32;
        let mut evidence = Evidence { line: best_line, ..Evidence::default() };
        for (term, (exact, roles)) in plan.terms.iter().zip(&tally.counts) {
            let okapi = |count: f32| okapi(term.weight, count, norm, ranking.k1);
            evidence.all += okapi(count(*exact, *roles, ranking));
            if !term.companion {
                evidence.exact += okapi(count(*exact, 0, ranking));
                evidence.morph += okapi(count(0, roles & MORPH, ranking));
            }
        }
        evidence
    }

    /// Counts the query words of a drawer and returns the coverage of its best line.
    fn tally(&self, plan: &Plan, lookup: &Lookup, tally: &mut Tally, slot: Slot) -> f32 {
        let language = self.documents.languages[slot as usize];
        tally.counts.clear();
        tally.counts.resize(plan.terms.len(), (0, 0));
        tally.strengths.clear();
        tally.strengths.resize(plan.terms.len(), 0.0);
        let (mut found, mut best) = (false, 0.0f32);
        for step in self.streams.steps(slot) {
            let Step::Term(term) = step else {
                if std::mem::take(&mut found) {
                    best = best.max(tally.end_line(plan));
                }
                continue;
            };
            for entry in lookup.entries(term) {
                let (counts, strength) = (&mut tally.counts[entry.word as usize], entry.role(language));
                match strength {
                    // As the postings cap it.
                    Some(0) => counts.0 = counts.0.saturating_add(1),
                    Some(role) => counts.1 |= role,
                    None => continue,
                }
                let strength = if strength == Some(NEAR) { NEAR_STRENGTH } else { 1.0 };
                let known = &mut tally.strengths[entry.word as usize];
                *known = known.max(strength);
                found = true;
            }
        }
        if found { best.max(tally.end_line(plan)) } else { best }
    }

    /// The legacy formula's lexical part, for the drawer last tallied: the share of the query's words that occur, a
    /// form or a near spelling counting half, raised by a half when the whole phrase occurs.
    pub(crate) fn overlap(&self, plan: &Plan, tally: &Tally, slot: Slot) -> f32 {
        let worth = |(exact, roles): &(u8, u8)| match (exact, roles) {
            (0, 0) => 0.0,
            (0, _) => 0.5,
            _ => 1.0,
        };
        let share = tally
            .counts
            .iter()
            .zip(&plan.terms)
            .filter(|(_, term)| !term.companion)
            .map(|(counts, _)| worth(counts))
            .sum::<f32>()
            / plan.words.max(1) as f32;
        if self.contains_phrase(plan, slot) { (share + 0.5).min(1.0) } else { share }
    }

    fn contains_phrase(&self, plan: &Plan, slot: Slot) -> bool {
        let Some(phrase) = plan.phrase.iter().copied().collect::<Option<Vec<TermId>>>() else { return false };
        if phrase.is_empty() || plan.bytes <= PHRASE_BYTES {
            return false;
        }
        let steps = self.streams.steps(slot);
        let terms: Vec<TermId> =
            steps.filter_map(|step| if let Step::Term(term) = step { Some(term) } else { None }).collect();
        terms.windows(phrase.len()).any(|window| window == phrase)
    }
}
