//! Owns the definition of a drawer's word evidence. The search computes the same sums column by column; what it
//! returns, and what the oracle checks, is computed here from the drawer's own word sequence.

use super::Index;
use super::documents::Slot;
use super::kernel::{count, okapi};
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
    /// Line that last covered each query word, and how strongly.
    lines: Vec<(u32, f32)>,
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
            evidence.exact += okapi(count(*exact, 0, ranking));
            evidence.morph += okapi(count(0, roles & MORPH, ranking));
        }
        evidence
    }

    /// Counts the query words of a drawer and returns the coverage of its best line.
    fn tally(&self, plan: &Plan, lookup: &Lookup, tally: &mut Tally, slot: Slot) -> f32 {
        let language = self.documents.languages[slot as usize];
        tally.counts.clear();
        tally.counts.resize(plan.terms.len(), (0, 0));
        tally.lines.clear();
        tally.lines.resize(plan.terms.len(), (u32::MAX, 0.0));
        let (mut line, mut covered, mut best) = (0u32, 0.0f32, 0.0f32);
        for step in self.streams.steps(slot) {
            let Step::Term(term) = step else {
                line += 1;
                covered = 0.0;
                continue;
            };
            for entry in lookup.entries(term) {
                let word = entry.word as usize;
                let strength = if entry.exact {
                    // As the postings cap it.
                    tally.counts[word].0 = tally.counts[word].0.saturating_add(1);
                    1.0
                } else if entry.languages >> language & 1 == 1 {
                    tally.counts[word].1 |= MORPH;
                    1.0
                } else if entry.near {
                    tally.counts[word].1 |= NEAR;
                    0.5
                } else {
                    continue;
                };
                let (last, had) = &mut tally.lines[word];
                let before = if *last == line { *had } else { 0.0 };
                if strength > before {
                    (*last, *had) = (line, strength);
                    covered += (strength - before) * plan.terms[word].weight;
                    best = best.max(covered);
                }
            }
        }
        best
    }

    /// The legacy formula's lexical part, for the drawer last tallied: the share of the query's words that occur, a
    /// form or a near spelling counting half, raised by a half when the whole phrase occurs.
    pub(crate) fn overlap(&self, plan: &Plan, tally: &Tally, slot: Slot) -> f32 {
        let worth = |(exact, roles): &(u8, u8)| match (exact, roles) {
            (0, 0) => 0.0,
            (0, _) => 0.5,
            _ => 1.0,
        };
        let share = tally.counts.iter().map(worth).sum::<f32>() / plan.words.max(1) as f32;
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
