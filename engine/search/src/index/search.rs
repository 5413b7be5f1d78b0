//! Owns one search: evidence of all drawers column by column, fusion with meaning and age, the gate, selection.
//!
//! Sums are formed a block of slots at a time, so that they stay in the processor's nearest cache, and for every
//! drawer in the order of the query's words, so that they are the same numbers that [`super::evidence`] defines.

use std::cell::RefCell;

use undercroft_text::ScriptSet;

use super::Index;
use super::documents::{Slot, age_factor};
use super::evidence::{Lookup, Tally};
use super::kernel::{self, Fusing, Scores, Sums, Word, recency, squash};
use super::plan::{Plan, PlanTerm};
use super::postings::Cursor;
use super::scope::Scope;
use super::select::{Candidate, Selector, cap_rooms, order, slice};
use super::vectors::{BLOCK, Probe};
use crate::fusion::Fusion;
use crate::query::{Filter, Hit, Page, Query, Ranked};

thread_local! {
    /// Buffers of this thread's searches; they never carry a value from one search to the next.
    static SCRATCH: RefCell<Scratch> = RefCell::new(Scratch::default());
}

/// Buffers, an entry a slot unless said otherwise.
#[derive(Default)]
struct Scratch {
    /// Roles of other words; all zero between uses.
    roles: Vec<u8>,
    /// Summed evidence.
    base: Vec<f32>,
    /// Summed weight of the words present.
    cover: Vec<f32>,
    /// Whether a word occurs as typed or inflected.
    admits: Vec<u8>,
    /// Best evidence of each place.
    rooms: Vec<f32>,
    /// Length normalisation of one block.
    norms: Vec<f32>,
    /// Counts of one word in one block.
    counts: Vec<u8>,
    sums: Vec<i32>,
    cosines: Vec<f32>,
    /// What the slots of one block are scored from and by.
    raws: Vec<f32>,
    weights: Vec<f32>,
    semantics: Vec<f32>,
    lowers: Vec<f32>,
    uppers: Vec<f32>,
    tally: Tally,
}

impl Scratch {
    /// Sets the sums of so many slots to zero.
    fn clear_sums(&mut self, slots: usize) {
        for buffer in [&mut self.base, &mut self.cover] {
            buffer.clear();
            buffer.resize(slots, 0.0);
        }
        self.admits.clear();
        self.admits.resize(slots, 0);
    }
}

impl Index {
    /// Ranks the drawers in scope against a query.
    ///
    /// Pages tile: the hits of a page are the same slice of one deeper call with the same `now_micros`, as long as
    /// the index is not changed.
    #[must_use]
    pub fn search(&self, query: &Query<'_>, filter: &Filter<'_>, page: &Page) -> Ranked {
        SCRATCH.with_borrow_mut(|scratch| self.search_with(query, filter, page, scratch))
    }

    fn search_with(
        &self,
        query: &Query<'_>,
        filter: &Filter<'_>,
        page: &Page,
        scratch: &mut Scratch,
    ) -> Ranked {
        let scope = Scope::resolve(&self.documents, filter);
        let unlabeled_excluded = scope.has_kind().then(|| self.count_unlabeled(&scope));
        let mut plan = Plan::build(self, query.text, query.language, &mut scratch.roles);
        if plan.words == 0 {
            return Ranked { unlabeled_excluded, exhausted: true, ..Ranked::default() };
        }
        scratch.clear_sums(self.documents.len());
        self.sum_words(&plan, 0, scratch);
        let asked = plan.terms.len();
        self.add_companions(&mut plan, &scratch.base);
        self.sum_words(&plan, asked, scratch);
        self.sum_rooms(scratch);
        let pass = Pass {
            index: self,
            plan: &plan,
            lookup: Lookup::new(&plan),
            scope: &scope,
            fusion: Fusion::new(&query.fusion),
            probe: query.vector.as_deref().and_then(|vector| self.vectors.probe(vector)),
            age_factor: age_factor(query.now_micros),
        };
        let cap = page.room_cap.filter(|cap| *cap > 0);
        let depth = page.offset.saturating_add(page.limit);
        let (candidates, total_admitted) =
            pass.select(if cap.is_some() { usize::MAX } else { depth }, scratch);
        let mut hits: Vec<(Hit, u32)> = candidates
            .into_iter()
            .map(|candidate| (pass.hit(candidate.slot as usize, scratch), candidate.place))
            .collect();
        hits.sort_unstable_by(|a, b| order(&a.0, &b.0));
        let hits = match cap {
            Some(cap) => cap_rooms(hits, cap),
            None => hits.into_iter().map(|(hit, _)| hit).collect(),
        };
        Ranked {
            hits: slice(hits, page),
            total_admitted,
            unlabeled_excluded,
            exhausted: depth >= total_admitted,
        }
    }

    fn count_unlabeled(&self, scope: &Scope) -> usize {
        let documents = &self.documents;
        (0..documents.len())
            .filter(|slot| documents.live[*slot] && scope.is_unlabeled(documents, *slot))
            .count()
    }

    /// Adds the evidence of the words from the numbered one on to `base`, `cover` and `admits`.
    fn sum_words(&self, plan: &Plan, from: usize, scratch: &mut Scratch) {
        let slots = self.documents.len();
        let mut readers: Vec<Reader<'_>> = plan.terms[from..].iter().map(Reader::new).collect();
        for first in (0..slots).step_by(BLOCK) {
            let end = (first + BLOCK).min(slots);
            let lengths = &self.documents.lengths[first..end];
            scratch.norms.clear();
            scratch.norms.extend(lengths.iter().map(|length| plan.norm.0 + plan.norm.1 * *length as f32));
            for reader in &mut readers {
                reader.add_block(self, first, end, scratch);
            }
        }
    }

    /// Fills `rooms` with the best evidence of each place.
    fn sum_rooms(&self, scratch: &mut Scratch) {
        scratch.rooms.clear();
        scratch.rooms.resize(self.documents.place_names.len(), 0.0);
        if self.ranking.room == 0.0 {
            return;
        }
        let documents = &self.documents;
        for ((base, place), live) in scratch.base.iter().zip(&documents.places).zip(&documents.live) {
            let room = &mut scratch.rooms[*place as usize];
            if *live && *base > *room {
                *room = *base;
            }
        }
    }
}

/// Reads one query word's postings block by block.
struct Reader<'a> {
    term: &'a PlanTerm,
    cursor: Cursor,
    extra: &'a [(Slot, u8)],
}

impl<'a> Reader<'a> {
    fn new(term: &'a PlanTerm) -> Self {
        Self { term, cursor: Cursor::default(), extra: &term.extra }
    }

    /// Adds the word's evidence to the slots from `first` to `end`.
    fn add_block(&mut self, index: &Index, first: usize, end: usize, scratch: &mut Scratch) {
        let rows = end - first;
        let length = self.extra.partition_point(|(slot, _)| (*slot as usize) < end);
        let (extra, rest) = self.extra.split_at(length);
        self.extra = rest;
        let list = self.term.exact.map(|term| index.postings.list(term));
        let dense = list.filter(|list| list.dense);
        let column = dense.map(|list| list.bytes.get(first..end.min(list.bytes.len())).unwrap_or_default());
        let Scratch { base, cover, admits, norms, counts, roles, .. } = scratch;
        let base = &mut base[first..end];
        let (cover, admits) = (&mut cover[first..end], &mut admits[first..end]);
        let admits_by = u8::from(!self.term.companion);
        let word = Word {
            weight: self.term.weight,
            admits: admits_by,
            ranking: &index.ranking,
            counts: &[],
            roles: &[],
            norms,
        };
        if let Some(column) = column {
            counts.clear();
            counts.extend_from_slice(column);
            counts.resize(rows, 0);
            roles.clear();
            roles.resize(rows, 0);
            extra.iter().for_each(|(slot, role)| roles[*slot as usize - first] = *role);
            kernel::add_word(&Word { counts, roles, ..word }, Sums { base, cover, admits });
            roles.fill(0);
            return;
        }
        let mut add = |slot: Slot, exact: u8, roles: u8| {
            let at = slot as usize - first;
            kernel::add_slot(
                &word,
                [exact, roles],
                norms[at],
                (&mut base[at], &mut cover[at], &mut admits[at]),
            );
        };
        let mut extra = extra.iter().copied().peekable();
        if let Some(list) = list {
            while let Some((slot, count)) = self.cursor.next(list, end as Slot) {
                while let Some((other, roles)) = extra.next_if(|(other, _)| *other < slot) {
                    add(other, 0, roles);
                }
                let roles = extra.next_if(|(other, _)| *other == slot).map_or(0, |(_, roles)| roles);
                add(slot, count as u8, roles);
            }
        }
        extra.for_each(|(slot, roles)| add(slot, 0, roles));
    }
}

/// What one search needs to judge a slot.
struct Pass<'a> {
    index: &'a Index,
    plan: &'a Plan,
    lookup: Lookup,
    scope: &'a Scope,
    fusion: Fusion,
    probe: Option<Probe>,
    age_factor: f64,
}

impl Pass<'_> {
    /// The candidates for the best `depth`, and how many drawers passed the gate.
    fn select(&self, depth: usize, scratch: &mut Scratch) -> (Vec<Candidate>, usize) {
        let documents = &self.index.documents;
        let (mut selector, mut admitted) = (Selector::new(depth), 0);
        for first in (0..documents.len()).step_by(BLOCK) {
            let end = (first + BLOCK).min(documents.len());
            match &self.probe {
                Some(probe) => {
                    let Scratch { sums, cosines, .. } = scratch;
                    self.index.vectors.scan(first / BLOCK, probe, sums, cosines);
                }
                None => {
                    scratch.cosines.clear();
                    scratch.cosines.resize(end - first, 0.0);
                }
            }
            self.fuse_block(first, end, scratch);
            for slot in first..end {
                let at = slot - first;
                let admits = scratch.admits[slot] != 0 || self.fusion.admits(scratch.semantics[at]);
                if !admits || !documents.live[slot] || !self.scope.admits(documents, slot) {
                    continue;
                }
                admitted += 1;
                let (lower, upper) = (scratch.lowers[at], scratch.uppers[at]);
                selector.offer(Candidate { slot: slot as Slot, place: documents.places[slot], lower, upper });
            }
        }
        (selector.finish(), admitted)
    }

    /// Fills the scores of one block.
    fn fuse_block(&self, first: usize, end: usize, scratch: &mut Scratch) {
        let documents = &self.index.documents;
        let mut raws = std::mem::take(&mut scratch.raws);
        raws.clear();
        if self.fusion.is_legacy() {
            raws.resize(end - first, 0.0);
        } else {
            let block = first..end;
            let neighbours = documents.before[block.clone()].iter().zip(&documents.after[block.clone()]);
            let rows = scratch.base[block.clone()].iter().zip(neighbours).zip(&documents.places[block]);
            raws.extend(rows.map(|((base, (before, after)), place)| {
                base + self.lend([*before, *after], *place, scratch)
            }));
        }
        scratch.raws = raws;
        let mut last = (ScriptSet::EMPTY, self.fusion.weight(false));
        scratch.weights.clear();
        scratch.weights.extend(documents.scripts[first..end].iter().map(|scripts| {
            if last.0 != *scripts {
                last = (*scripts, self.fusion.weight(self.plan.scripts.is_disjoint(*scripts)));
            }
            last.1
        }));
        for buffer in [&mut scratch.semantics, &mut scratch.lowers, &mut scratch.uppers] {
            buffer.resize(end - first, 0.0);
        }
        let fusing = Fusing {
            fusion: self.fusion,
            half: self.plan.half,
            line: if self.fusion.is_legacy() { 0.0 } else { self.index.ranking.line },
            line_bound: self.line_bound(),
            age_factor: self.age_factor,
            cosines: &scratch.cosines,
            raws: &scratch.raws,
            covers: &scratch.cover[first..end],
            lines: &documents.lines[first..end],
            ages: &documents.ages[first..end],
            weights: &scratch.weights,
        };
        let Scratch { semantics, lowers, uppers, .. } = scratch;
        kernel::fuse(&fusing, Scores { semantics, lowers, uppers });
    }

    /// Evidence lent by the neighbours in the thread and by the room.
    fn context(&self, slot: usize, scratch: &Scratch) -> f32 {
        let documents = &self.index.documents;
        self.lend([documents.before[slot], documents.after[slot]], documents.places[slot], scratch)
    }

    #[inline(always)]
    fn lend(&self, [before, after]: [Slot; 2], place: u32, scratch: &Scratch) -> f32 {
        let ranking = &self.index.ranking;
        // No slot has the number that stands for none.
        let lent = |neighbour: Slot| scratch.base.get(neighbour as usize).copied().unwrap_or(0.0);
        ranking.neighbour * lent(before).max(lent(after)) + ranking.room * scratch.rooms[place as usize]
    }

    /// What the summed weight of the words present is multiplied by, to bound what is only known word for word.
    fn line_bound(&self) -> f32 {
        // Any overlap may turn out to be whole; without a word there is none.
        const WHOLE: f32 = 1e12;
        // The order in which the words of a line are summed may differ by some units in the last place.
        if self.fusion.is_legacy() { WHOLE } else { self.index.ranking.line * 1.000_1 }
    }

    fn score(&self, slot: usize, semantic: f32, lexical: f32) -> f32 {
        let documents = &self.index.documents;
        let weight = self.fusion.weight(self.plan.scripts.is_disjoint(documents.scripts[slot]));
        let recency = recency(documents.ages[slot], self.age_factor);
        self.fusion.score(weight, semantic, lexical, recency)
    }

    /// The full judgement of a slot.
    fn hit(&self, slot: usize, scratch: &mut Scratch) -> Hit {
        let evidence = self.index.evidence(self.plan, &self.lookup, &mut scratch.tally, slot as u32);
        let raw = evidence.all + self.context(slot, scratch);
        let raw = raw + self.index.ranking.line * evidence.line;
        let lexical = if self.fusion.is_legacy() {
            self.index.overlap(self.plan, &scratch.tally, slot as Slot)
        } else {
            squash(raw, self.plan.half)
        };
        let cosine = self.probe.as_ref().map_or(0.0, |probe| self.index.vectors.cosine(slot as u32, probe));
        let semantic = self.fusion.semantic(cosine);
        let documents = &self.index.documents;
        Hit {
            key: documents.keys[slot],
            seq: documents.seqs[slot],
            score: self.score(slot, semantic, lexical),
            semantic,
            lexical,
            lexical_exact: squash(evidence.exact, self.plan.half),
            lexical_morph: squash(evidence.morph, self.plan.half),
        }
    }
}

#[cfg(test)]
#[path = "search_test.rs"]
mod search_test;
