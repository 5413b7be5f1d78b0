//! Owns one search: evidence of all drawers column by column, fusion with meaning and age, the gate, selection.
//!
//! Sums are formed a block of slots at a time, so that they stay in the processor's nearest cache, and for every
//! drawer in the order of the query's words, so that they are the same numbers that [`super::evidence`] defines.

use std::cell::RefCell;

use super::Index;
use super::documents::{NO_SLOT, age_factor};
use super::evidence::{Lookup, Tally, count, okapi};
use super::plan::{MORPH, Plan, PlanTerm};
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
    /// Counts of one word in one block, as typed and by role.
    exact: Vec<u8>,
    sums: Vec<i32>,
    cosines: Vec<f32>,
    tally: Tally,
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
        let plan = Plan::build(self, query.text, query.language, &mut scratch.roles);
        if plan.words == 0 {
            return Ranked { unlabeled_excluded, exhausted: true, ..Ranked::default() };
        }
        self.sum_words(&plan, scratch);
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

    /// Fills `base`, `cover` and `admits`.
    fn sum_words(&self, plan: &Plan, scratch: &mut Scratch) {
        let slots = self.documents.len();
        for (buffer, value) in [(&mut scratch.base, 0.0), (&mut scratch.cover, 0.0)] {
            buffer.clear();
            buffer.resize(slots, value);
        }
        scratch.admits.clear();
        scratch.admits.resize(slots, 0);
        let mut readers: Vec<Reader<'_>> = plan.terms.iter().map(Reader::new).collect();
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
    extra: &'a [(u32, u8)],
}

impl<'a> Reader<'a> {
    fn new(term: &'a PlanTerm) -> Self {
        Self { term, cursor: Cursor::default(), extra: &term.extra }
    }

    /// Adds the word's evidence to the slots from `first` to `end`.
    fn add_block(&mut self, index: &Index, first: usize, end: usize, scratch: &mut Scratch) {
        let ranking = &index.ranking;
        let weight = self.term.weight;
        let list = self.term.exact.map(|term| index.postings.list(term));
        let length = self.extra.partition_point(|(slot, _)| (*slot as usize) < end);
        let (extra, rest) = self.extra.split_at(length);
        self.extra = rest;
        let Scratch { base, cover, admits, norms, exact, roles, .. } = scratch;
        let (base, cover, admits) = (&mut base[first..end], &mut cover[first..end], &mut admits[first..end]);
        if extra.is_empty() {
            let Some(list) = list else { return };
            if list.dense {
                let column = list.bytes.get(first..end.min(list.bytes.len())).unwrap_or_default();
                add_column(column, weight, ranking.k1, norms, base, cover, admits);
                return;
            }
            while let Some((slot, times)) = self.cursor.next(list, end as u32) {
                let at = slot as usize - first;
                base[at] += okapi(weight, times as f32, norms[at], ranking.k1);
                cover[at] += weight;
                admits[at] = 1;
            }
            return;
        }
        exact.clear();
        exact.resize(end - first, 0);
        roles.clear();
        roles.resize(end - first, 0);
        if let Some(list) = list {
            if list.dense {
                let column = list.bytes.get(first..end.min(list.bytes.len())).unwrap_or_default();
                exact[..column.len()].copy_from_slice(column);
            } else {
                while let Some((slot, times)) = self.cursor.next(list, end as u32) {
                    exact[slot as usize - first] = times as u8;
                }
            }
        }
        extra.iter().for_each(|(slot, role)| roles[*slot as usize - first] = *role);
        for at in 0..end - first {
            let (times, role) = (exact[at], roles[at]);
            if times == 0 && role == 0 {
                continue;
            }
            base[at] += okapi(weight, count(u32::from(times), role, ranking), norms[at], ranking.k1);
            cover[at] += weight;
            admits[at] |= u8::from(times > 0 || role & MORPH != 0);
        }
        roles.fill(0);
    }
}

/// Adds a dense word's evidence; written without branches so that it becomes vector instructions.
fn add_column(
    column: &[u8],
    weight: f32,
    k1: f32,
    norms: &[f32],
    base: &mut [f32],
    cover: &mut [f32],
    admits: &mut [u8],
) {
    let sums = base.iter_mut().zip(cover).zip(admits);
    for ((count, norm), ((base, cover), admits)) in column.iter().zip(norms).zip(sums) {
        *base += okapi(weight, f32::from(*count), *norm, k1);
        *cover += if *count > 0 { weight } else { 0.0 };
        *admits |= u8::from(*count > 0);
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
            for slot in first..end {
                if !documents.live[slot] || !self.scope.admits(documents, slot) {
                    continue;
                }
                let semantic = self.fusion.semantic(scratch.cosines[slot - first]);
                if scratch.admits[slot] == 0 && !self.fusion.admits(semantic) {
                    continue;
                }
                admitted += 1;
                let lower = scratch.base[slot] + self.context(slot, scratch);
                let upper = lower + self.index.ranking.line * scratch.cover[slot] * 1.000_1;
                let [lower, upper] = [lower, upper].map(|raw| self.fuse(slot, semantic, raw));
                selector.offer(Candidate { slot: slot as u32, place: documents.places[slot], lower, upper });
            }
        }
        (selector.finish(), admitted)
    }

    /// Evidence lent by the neighbours in the thread and by the room.
    fn context(&self, slot: usize, scratch: &Scratch) -> f32 {
        let (documents, ranking) = (&self.index.documents, &self.index.ranking);
        let lent = |neighbour: u32| if neighbour == NO_SLOT { 0.0 } else { scratch.base[neighbour as usize] };
        let neighbours = lent(documents.before[slot]).max(lent(documents.after[slot]));
        ranking.neighbour * neighbours + ranking.room * scratch.rooms[documents.places[slot] as usize]
    }

    fn fuse(&self, slot: usize, semantic: f32, raw: f32) -> f32 {
        let documents = &self.index.documents;
        let disjoint = self.plan.scripts.is_disjoint(documents.scripts[slot]);
        let recency = documents.recency(slot, self.age_factor);
        self.fusion.score(semantic, self.plan.squash(raw), recency, disjoint)
    }

    /// The full judgement of a slot.
    fn hit(&self, slot: usize, scratch: &mut Scratch) -> Hit {
        let evidence = self.index.evidence(self.plan, &self.lookup, &mut scratch.tally, slot as u32);
        let raw = evidence.all + self.context(slot, scratch);
        let raw = raw + self.index.ranking.line * evidence.line;
        let cosine = self.probe.as_ref().map_or(0.0, |probe| self.index.vectors.cosine(slot as u32, probe));
        let semantic = self.fusion.semantic(cosine);
        let documents = &self.index.documents;
        Hit {
            key: documents.keys[slot],
            seq: documents.seqs[slot],
            score: self.fuse(slot, semantic, raw),
            semantic,
            lexical: self.plan.squash(raw),
            lexical_exact: self.plan.squash(evidence.exact),
            lexical_morph: self.plan.squash(evidence.morph),
        }
    }
}
