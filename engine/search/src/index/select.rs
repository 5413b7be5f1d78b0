//! Owns choosing the best of many: partial selection by score with ties by sequence, and the room cap.

use rustc_hash::FxHashMap;

use super::documents::Slot;
use crate::query::{Hit, Page};

/// A drawer that passed the gate, with bounds of its score.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Candidate {
    pub(crate) slot: Slot,
    pub(crate) place: u32,
    pub(crate) lower: f32,
    pub(crate) upper: f32,
}

/// Keeps every candidate that may be among the best `depth`.
#[derive(Debug)]
pub(crate) struct Selector {
    depth: usize,
    threshold: f32,
    pool: Vec<Candidate>,
    lowers: Vec<f32>,
}

impl Selector {
    pub(crate) fn new(depth: usize) -> Self {
        Self { depth, threshold: f32::NEG_INFINITY, pool: Vec::new(), lowers: Vec::new() }
    }

    /// Considers a candidate.
    #[inline]
    pub(crate) fn offer(&mut self, candidate: Candidate) {
        if candidate.upper < self.threshold {
            return;
        }
        self.pool.push(candidate);
        if self.pool.len() >= self.depth.saturating_mul(4).saturating_add(256) {
            self.prune();
        }
    }

    /// Drops those of which `depth` others are certainly better.
    fn prune(&mut self) {
        if self.depth == 0 || self.pool.len() <= self.depth {
            return;
        }
        self.lowers.clear();
        self.lowers.extend(self.pool.iter().map(|candidate| candidate.lower));
        let (_, kth, _) = self.lowers.select_nth_unstable_by(self.depth - 1, |a, b| b.total_cmp(a));
        self.threshold = *kth;
        self.pool.retain(|candidate| candidate.upper >= self.threshold);
    }

    /// What is left.
    pub(crate) fn finish(mut self) -> Vec<Candidate> {
        self.prune();
        self.pool
    }
}

/// Best first: by score, then by sequence, then by key.
pub(crate) fn order(a: &Hit, b: &Hit) -> std::cmp::Ordering {
    b.score.total_cmp(&a.score).then(a.seq.cmp(&b.seq)).then(a.key.cmp(&b.key))
}

/// Moves the overflow of each room behind the hits within its cap; both parts stay in order.
/// `hits` is in order; each comes with its room.
pub(crate) fn cap_rooms(hits: Vec<(Hit, u32)>, cap: usize) -> Vec<Hit> {
    let mut seen: FxHashMap<u32, usize> = FxHashMap::default();
    let (mut within, mut overflow) = (Vec::new(), Vec::new());
    for (hit, room) in hits {
        let count = seen.entry(room).or_default();
        *count += 1;
        if *count <= cap { within.push(hit) } else { overflow.push(hit) }
    }
    within.extend(overflow);
    within
}

/// The ranks of a page.
pub(crate) fn slice(hits: Vec<Hit>, page: &Page) -> Vec<Hit> {
    hits.into_iter().skip(page.offset).take(page.limit).collect()
}

#[cfg(test)]
#[path = "select_test.rs"]
mod select_test;
