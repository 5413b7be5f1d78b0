//! Owns the distinct terms of an index: their text, their numbers, and the orders by which near terms are found
//! without walking all of them. It knows no documents.
//!
//! Two orders are kept: by text (a shared beginning is a range) and by reversed text (a shared ending is a range).
//! Each is a long sorted row and a short one of the newest terms, which is merged in when it has grown, so that a
//! new term moves few others.

use std::hash::Hasher;
use std::ops::Range;

use hashbrown::HashTable;
use rustc_hash::FxHasher;

use crate::document::TermClass;

/// Number of a term, dense from 0.
pub(crate) type TermId = u32;

/// The newest terms are merged in when they exceed this, or a sixteenth of the base.
const NEWEST_MIN: usize = 1_024;

/// The distinct terms.
#[derive(Clone, Default)]
pub(crate) struct Vocabulary {
    pub(crate) text: String,
    /// End of each term in `text`.
    pub(crate) ends: Vec<u32>,
    pub(crate) classes: Vec<TermClass>,
    numbers: HashTable<TermId>,
    /// Words only, ordered by text.
    forward: Order,
    /// Words only, ordered by reversed bytes.
    backward: Order,
}

/// A sorted row of terms, in two parts.
#[derive(Clone, Default)]
struct Order {
    base: Vec<TermId>,
    newest: Vec<TermId>,
}

impl Vocabulary {
    /// Puts a vocabulary together from the parts of an image, whose `text` is valid and cut at characters by
    /// `ends`. `None` when an order names a term that is not there or is out of order, or a term comes twice.
    pub(crate) fn restore(
        text: String,
        ends: Vec<u32>,
        classes: Vec<TermClass>,
        [forward, backward]: [Vec<TermId>; 2],
    ) -> Option<Self> {
        let count = ends.len() as TermId;
        if forward.iter().chain(&backward).any(|id| *id >= count) {
            return None;
        }
        let [forward, backward] = [forward, backward].map(|base| Order { base, newest: Vec::new() });
        let mut restored = Self { text, ends, classes, forward, backward, ..Self::default() };
        let numbers = HashTable::with_capacity(count as usize);
        restored.numbers = numbers;
        for id in 0..count {
            if restored.find(restored.text(id), restored.class(id)).is_some() {
                return None;
            }
            restored.number(id);
        }
        let sorted = restored.forward.base.is_sorted_by(|a, b| restored.bytes(*a) < restored.bytes(*b))
            && restored.backward.base.is_sorted_by(|a, b| restored.reversed(*a).lt(restored.reversed(*b)));
        sorted.then_some(restored)
    }

    /// Terms known.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Text of a term.
    pub(crate) fn text(&self, id: TermId) -> &str {
        &self.text[self.span(id)]
    }

    /// Bytes of a term's text.
    #[inline]
    pub(crate) fn bytes(&self, id: TermId) -> &[u8] {
        &self.text.as_bytes()[self.span(id)]
    }

    #[inline]
    fn span(&self, id: TermId) -> Range<usize> {
        let index = id as usize;
        let start = if index == 0 { 0 } else { self.ends[index - 1] as usize };
        start..self.ends[index] as usize
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
        if class == TermClass::Word {
            let [mut forward, mut backward] = [&mut self.forward, &mut self.backward].map(std::mem::take);
            forward.insert(id, |other| self.bytes(other) < text.as_bytes());
            backward.insert(id, |other| self.reversed(other).lt(text.as_bytes().iter().rev()));
            if forward.is_due() {
                forward.merge(|a, b| self.bytes(a).cmp(self.bytes(b)));
                backward.merge(|a, b| self.reversed(a).cmp(self.reversed(b)));
            }
            (self.forward, self.backward) = (forward, backward);
        }
        id
    }

    /// Both orders in one piece each, for an image.
    pub(crate) fn orders(&self) -> [Vec<TermId>; 2] {
        let [mut forward, mut backward] = [&self.forward, &self.backward].map(Order::clone);
        forward.merge(|a, b| self.bytes(a).cmp(self.bytes(b)));
        backward.merge(|a, b| self.reversed(a).cmp(self.reversed(b)));
        [forward.base, backward.base]
    }

    /// Appends a term that is not known yet, without ordering it.
    pub(crate) fn push(&mut self, text: &str, class: TermClass) -> TermId {
        let id = self.ends.len() as TermId;
        self.text.push_str(text);
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
            hash(&text.as_bytes()[start..ends[index] as usize], classes[index])
        };
        numbers.insert_unique(rehash(&id), id, rehash);
    }

    fn reversed(&self, id: TermId) -> impl Iterator<Item = &u8> {
        self.bytes(id).iter().rev()
    }

    /// Calls `visit` for every word that begins with `prefix`.
    pub(crate) fn with_prefix(&self, prefix: &str, mut visit: impl FnMut(TermId)) {
        let prefix = prefix.as_bytes();
        for row in self.forward.rows() {
            let start = row.partition_point(|id| self.bytes(*id) < prefix);
            let range = row[start..].iter().take_while(|id| self.bytes(**id).starts_with(prefix));
            range.for_each(|id| visit(*id));
        }
    }

    /// Calls `visit` for every word that ends with `suffix`.
    pub(crate) fn with_suffix(&self, suffix: &str, mut visit: impl FnMut(TermId)) {
        let suffix = suffix.as_bytes();
        for row in self.backward.rows() {
            let start = row.partition_point(|id| self.reversed(*id).lt(suffix.iter().rev()));
            let range = row[start..].iter().take_while(|id| self.bytes(**id).ends_with(suffix));
            range.for_each(|id| visit(*id));
        }
    }

    /// Bytes on the heap.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.text.capacity()
            + self.ends.capacity() * 4
            + self.classes.capacity()
            + self.numbers.capacity() * 5
            + self.forward.memory_bytes()
            + self.backward.memory_bytes()
    }
}

impl Order {
    fn rows(&self) -> [&[TermId]; 2] {
        [&self.base, &self.newest]
    }

    /// Puts a term among the newest, behind those that are `below` it.
    fn insert(&mut self, id: TermId, below: impl Fn(TermId) -> bool) {
        let at = self.newest.partition_point(|other| below(*other));
        self.newest.insert(at, id);
    }

    fn is_due(&self) -> bool {
        self.newest.len() > NEWEST_MIN.max(self.base.len() / 16)
    }

    fn merge(&mut self, compare: impl Fn(TermId, TermId) -> std::cmp::Ordering) {
        self.base.reserve_exact(self.newest.len());
        self.base.append(&mut self.newest);
        // The stable sort finds the two sorted runs and merges them.
        self.base.sort_by(|a, b| compare(*a, *b));
    }

    fn memory_bytes(&self) -> usize {
        (self.base.capacity() + self.newest.capacity()) * size_of::<TermId>()
    }
}

fn hash(text: &[u8], class: TermClass) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write(text);
    hasher.write_u8(class as u8);
    hasher.finish()
}
