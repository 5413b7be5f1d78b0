//! Owns the distinct terms of an index: their text, their numbers, and the orders by which near terms are found
//! without walking all of them. It knows no documents.
//!
//! Three orders are kept: by text (a shared beginning is a range), by reversed text (a shared ending is a range)
//! and by every window of eight characters (containment is a lookup). Each is a sorted base and a short tail of
//! the newest terms, which is merged in when it has grown; a lookup searches the base and walks the tail.

use std::hash::Hasher;

use hashbrown::HashTable;
use rustc_hash::FxHasher;

use crate::document::TermClass;

/// Number of a term, dense from 0.
pub(crate) type TermId = u32;

/// Characters of a containment window: containment counts from this length on.
pub(crate) const WINDOW: usize = 8;
/// The tail is merged when it exceeds this, or a sixteenth of the base.
const TAIL_MIN: usize = 1_024;

/// The distinct terms.
#[derive(Clone, Default)]
pub(crate) struct Vocabulary {
    pub(crate) text: Vec<u8>,
    /// End of each term in `text`.
    pub(crate) ends: Vec<u32>,
    pub(crate) classes: Vec<TermClass>,
    numbers: HashTable<TermId>,
    /// Words only, ordered by text.
    pub(crate) forward: Vec<TermId>,
    /// Words only, ordered by reversed bytes.
    pub(crate) backward: Vec<TermId>,
    /// Windows of words, ordered by window then term.
    pub(crate) windows: Vec<(u64, TermId)>,
    /// Terms below this number are in the three orders.
    pub(crate) ordered: TermId,
}

impl Vocabulary {
    /// Puts a vocabulary together from the parts of an image, whose `text` is valid and cut at characters by
    /// `ends`. `None` when an order names a term that is not there or is out of order, or a term comes twice.
    pub(crate) fn restore(
        text: Vec<u8>,
        ends: Vec<u32>,
        classes: Vec<TermClass>,
        ordered: TermId,
        [forward, backward]: [Vec<TermId>; 2],
        windows: Vec<(u64, TermId)>,
    ) -> Option<Self> {
        let count = ends.len() as TermId;
        let known = |id: &TermId| *id < ordered;
        let all_known = forward.iter().chain(&backward).chain(windows.iter().map(|(_, id)| id)).all(known);
        if ordered > count || !all_known || !windows.is_sorted() {
            return None;
        }
        let mut restored =
            Self { text, ends, classes, forward, backward, windows, ordered, ..Self::default() };
        let numbers = HashTable::with_capacity(count as usize);
        restored.numbers = numbers;
        for id in 0..count {
            if restored.find(restored.text(id), restored.class(id)).is_some() {
                return None;
            }
            restored.number(id);
        }
        let sorted = restored.forward.is_sorted_by(|a, b| restored.bytes(*a) < restored.bytes(*b))
            && restored.backward.is_sorted_by(|a, b| restored.reversed(*a).lt(restored.reversed(*b)));
        sorted.then_some(restored)
    }

    /// Terms known.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Text of a term.
    pub(crate) fn text(&self, id: TermId) -> &str {
        std::str::from_utf8(self.bytes(id)).unwrap_or_default()
    }

    fn bytes(&self, id: TermId) -> &[u8] {
        let index = id as usize;
        let start = if index == 0 { 0 } else { self.ends[index - 1] as usize };
        &self.text[start..self.ends[index] as usize]
    }

    /// Class of a term.
    pub(crate) fn class(&self, id: TermId) -> TermClass {
        self.classes[id as usize]
    }

    /// Number of a term, if it is known.
    pub(crate) fn find(&self, text: &str, class: TermClass) -> Option<TermId> {
        let same = |id: &TermId| self.class(*id) == class && self.bytes(*id) == text.as_bytes();
        self.numbers.find(hash(text.as_bytes(), class), same).copied()
    }

    /// Number of a term, which becomes known.
    pub(crate) fn intern(&mut self, text: &str, class: TermClass) -> TermId {
        if let Some(id) = self.find(text, class) {
            return id;
        }
        let id = self.push(text, class);
        if self.len() - self.ordered as usize > TAIL_MIN.max(self.forward.len() / 16) {
            self.merge_tail();
        }
        id
    }

    /// Appends a term that is not known yet, without ordering it.
    pub(crate) fn push(&mut self, text: &str, class: TermClass) -> TermId {
        let id = self.ends.len() as TermId;
        self.text.extend(text.as_bytes());
        self.ends.push(self.text.len() as u32);
        self.classes.push(class);
        self.number(id);
        id
    }

    /// Makes a term findable.
    fn number(&mut self, id: TermId) {
        let Self { text, ends, classes, numbers, .. } = self;
        let rehash = |id: &TermId| {
            let index = *id as usize;
            let start = if index == 0 { 0 } else { ends[index - 1] as usize };
            hash(&text[start..ends[index] as usize], classes[index])
        };
        numbers.insert_unique(rehash(&id), id, rehash);
    }

    fn reversed(&self, id: TermId) -> impl Iterator<Item = &u8> {
        self.bytes(id).iter().rev()
    }

    /// Brings every term into the three orders.
    pub(crate) fn merge_tail(&mut self) {
        let tail: Vec<TermId> =
            (self.ordered..self.len() as TermId).filter(|id| self.class(*id) == TermClass::Word).collect();
        let mut windows = std::mem::take(&mut self.windows);
        for id in &tail {
            windows.extend(window_keys(self.text(*id)).map(|key| (key, *id)));
        }
        windows.sort_unstable();
        windows.dedup();
        self.windows = windows;
        let mut forward = std::mem::take(&mut self.forward);
        forward.extend(&tail);
        // The stable sort finds the long sorted run and merges the rest into it.
        forward.sort_by(|a, b| self.bytes(*a).cmp(self.bytes(*b)));
        self.forward = forward;
        let mut backward = std::mem::take(&mut self.backward);
        backward.extend(&tail);
        backward.sort_by(|a, b| self.bytes(*a).iter().rev().cmp(self.bytes(*b).iter().rev()));
        self.backward = backward;
        self.ordered = self.len() as TermId;
    }

    /// Calls `visit` for every word that begins with `prefix`.
    pub(crate) fn with_prefix(&self, prefix: &str, mut visit: impl FnMut(TermId)) {
        let prefix = prefix.as_bytes();
        let start = self.forward.partition_point(|id| self.bytes(*id) < prefix);
        let range = self.forward[start..].iter().take_while(|id| self.bytes(**id).starts_with(prefix));
        range.for_each(|id| visit(*id));
        self.tail().filter(|id| self.bytes(*id).starts_with(prefix)).for_each(visit);
    }

    /// Calls `visit` for every word that ends with `suffix`.
    pub(crate) fn with_suffix(&self, suffix: &str, mut visit: impl FnMut(TermId)) {
        let suffix = suffix.as_bytes();
        let below = |id: &TermId| self.bytes(*id).iter().rev().lt(suffix.iter().rev());
        let start = self.backward.partition_point(below);
        let range = self.backward[start..].iter().take_while(|id| self.bytes(**id).ends_with(suffix));
        range.for_each(|id| visit(*id));
        self.tail().filter(|id| self.bytes(*id).ends_with(suffix)).for_each(visit);
    }

    /// Calls `visit` for every word that shares a window of [`WINDOW`] characters with `word`; a superset of the
    /// words of at least that length that contain `word` or are contained in it.
    pub(crate) fn with_shared_window(&self, word: &str, mut visit: impl FnMut(TermId)) {
        let keys: Vec<u64> = window_keys(word).collect();
        if keys.is_empty() {
            return;
        }
        for key in &keys {
            let start = self.windows.partition_point(|(other, _)| other < key);
            let range = self.windows[start..].iter().take_while(|(other, _)| other == key);
            range.for_each(|(_, id)| visit(*id));
        }
        let shares = |id: &TermId| window_keys(self.text(*id)).any(|key| keys.contains(&key));
        self.tail().filter(shares).for_each(visit);
    }

    fn tail(&self) -> impl Iterator<Item = TermId> + '_ {
        (self.ordered..self.len() as TermId).filter(|id| self.class(*id) == TermClass::Word)
    }

    /// Bytes on the heap.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.text.capacity()
            + self.ends.capacity() * 4
            + self.classes.capacity()
            + self.numbers.capacity() * 5
            + (self.forward.capacity() + self.backward.capacity()) * 4
            + self.windows.capacity() * size_of::<(u64, TermId)>()
    }
}

fn hash(text: &[u8], class: TermClass) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write(text);
    hasher.write_u8(class as u8);
    hasher.finish()
}

/// Keys of every window of eight characters; the bytes themselves when they are ASCII.
fn window_keys(word: &str) -> impl Iterator<Item = u64> + '_ {
    let ends = word.char_indices().map(|(at, _)| at).chain(std::iter::once(word.len())).skip(WINDOW);
    word.char_indices().zip(ends).map(|((start, _), end)| {
        let window = &word.as_bytes()[start..end];
        match <[u8; WINDOW]>::try_from(window) {
            Ok(bytes) => u64::from_le_bytes(bytes),
            Err(_) => hash(window, TermClass::Word),
        }
    })
}

#[cfg(test)]
#[path = "vocabulary_test.rs"]
mod vocabulary_test;
