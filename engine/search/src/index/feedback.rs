//! Owns companions: words that the best drawers of a first look share, which then count as weak evidence. A question
//! and its answer often have few words in common, but the answer's neighbours in meaning repeat its words. This is
//! pseudo-relevance feedback in the manner of RM3 (Abdul-Jaleel et al., TREC 2004), with weights by rarity.
//!
//! Companions never admit a drawer and never show in the exact and morphological channels.

use rustc_hash::FxHashMap;

use super::Index;
use super::documents::Slot;
use super::evidence::Lookup;
use super::plan::{Plan, PlanTerm, inverse_frequency};
use super::streams::Step;
use super::vocabulary::TermId;
use crate::document::TermClass;
use crate::language::is_function_word;

/// Drawers of the first look.
pub(crate) const LEADERS: usize = 10;
/// Most companions.
pub(crate) const COMPANIONS: usize = 20;
/// Rarity beyond this makes a companion no better: a word of one leader alone would win otherwise.
pub(crate) const RARITY_MAX: f32 = 4.0;
/// Shorter words are no companions.
pub(crate) const BYTES_MIN: usize = 3;

/// Whether a word may be a companion at all.
pub(crate) fn may_accompany(word: &str, class: TermClass) -> bool {
    class == TermClass::Word && word.len() >= BYTES_MIN && !is_function_word(word)
}

impl Index {
    /// Adds the companions to a plan, given the evidence of all slots.
    pub(crate) fn add_companions(&self, plan: &mut Plan, base: &[f32]) {
        if self.ranking.feedback == 0.0 {
            return;
        }
        let lookup = Lookup::new(plan);
        // An image's sequences are read unchecked.
        let known = |term: TermId| (term as usize) < self.vocabulary.len();
        let mut sums: FxHashMap<TermId, f32> = FxHashMap::default();
        for leader in self.leaders(base) {
            let language = self.documents.languages[leader as usize];
            let mut terms: Vec<TermId> = self
                .streams
                .steps(leader)
                .filter_map(|step| if let Step::Term(term) = step { Some(term) } else { None })
                .collect();
            terms.sort_unstable();
            terms.dedup();
            for term in terms.into_iter().filter(|term| known(*term) && !lookup.stands(*term, language)) {
                *sums.entry(term).or_default() += base[leader as usize];
            }
        }
        let vocabulary = &self.vocabulary;
        let strength = |(term, sum): (TermId, f32)| {
            let rarity = inverse_frequency(self.len(), self.postings.frequency(term));
            (may_accompany(vocabulary.text(term), vocabulary.class(term)))
                .then(|| (sum * rarity.min(RARITY_MAX), rarity, term))
        };
        let mut ranked: Vec<(f32, f32, TermId)> = sums.into_iter().filter_map(strength).collect();
        let order = |a: &(f32, f32, TermId), b: &(f32, f32, TermId)| {
            b.0.total_cmp(&a.0).then_with(|| vocabulary.text(a.2).cmp(vocabulary.text(b.2)))
        };
        if ranked.len() > COMPANIONS {
            ranked.select_nth_unstable_by(COMPANIONS - 1, order);
            ranked.truncate(COMPANIONS);
        }
        ranked.sort_unstable_by(order);
        let strongest = ranked.first().map_or(1.0, |(strength, _, _)| *strength);
        plan.terms.extend(ranked.into_iter().map(|(strength, rarity, term)| PlanTerm {
            exact: Some(term),
            weight: self.ranking.feedback * rarity * (strength / strongest),
            companion: true,
            ..PlanTerm::default()
        }));
    }

    /// The drawers with the most evidence, best first.
    fn leaders(&self, base: &[f32]) -> Vec<Slot> {
        let documents = &self.documents;
        let rank = |slot: Slot| {
            let at = slot as usize;
            (documents.seqs[at], documents.keys[at])
        };
        let mut leaders: Vec<Slot> = Vec::with_capacity(LEADERS + 1);
        let mut least = f32::MIN_POSITIVE;
        for (at, evidence) in base.iter().enumerate() {
            if *evidence < least || !documents.live[at] {
                continue;
            }
            let slot = at as Slot;
            let behind = |other: &Slot| {
                let theirs = base[*other as usize];
                theirs > *evidence || (theirs == *evidence && rank(*other) < rank(slot))
            };
            leaders.insert(leaders.partition_point(behind), slot);
            leaders.truncate(LEADERS);
            if leaders.len() == LEADERS {
                least = leaders.last().map_or(least, |last| base[*last as usize]);
            }
        }
        leaders
    }
}
