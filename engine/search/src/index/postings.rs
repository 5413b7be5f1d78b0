//! Owns, for each term, which slots contain it and how often. It knows neither text nor positions.
//!
//! A rare term is a byte string of postings in slot order. A posting is a varint of `(gap << 1) | more`, the gap
//! being the distance from the previous slot (from -1 for the first), followed by a varint of the count less two
//! when `more` is set. A term in at least a quarter of all slots is a column of one byte a slot, the count capped
//! at 255: reading it needs no decoding and no prediction.

use super::documents::Slot;
use super::vocabulary::TermId;

/// Fewest slots of a term that is worth a column.
const DENSE_MIN: u32 = 64;
/// A term becomes a column when it is in one of this many slots.
const DENSE_SHARE: u32 = 4;
/// Largest count that is kept.
pub(crate) const COUNT_MAX: u32 = 255;

/// The postings of one term.
#[derive(Clone, Debug, Default)]
pub(crate) struct List {
    pub(crate) bytes: Vec<u8>,
    /// Slot after the last one listed; 0 when empty.
    pub(crate) next: Slot,
    /// Postings, of live and of removed drawers.
    pub(crate) total: u32,
    /// Postings of live drawers: the document frequency.
    pub(crate) live: u32,
    /// `bytes` is a column.
    pub(crate) dense: bool,
}

/// The postings of every term, by number.
#[derive(Clone, Debug, Default)]
pub(crate) struct Postings {
    pub(crate) lists: Vec<List>,
}

impl Postings {
    /// The postings of a term.
    pub(crate) fn list(&self, term: TermId) -> &List {
        &self.lists[term as usize]
    }

    /// Live drawers that contain a term.
    pub(crate) fn frequency(&self, term: TermId) -> u32 {
        self.list(term).live
    }

    /// Notes that the newest slot contains a term `count` times.
    pub(crate) fn push(&mut self, term: TermId, slot: Slot, count: u32) {
        if self.lists.len() <= term as usize {
            self.lists.resize_with(term as usize + 1, List::default);
        }
        self.lists[term as usize].push(slot, count.clamp(1, COUNT_MAX));
    }

    /// Notes that a drawer with this term is gone.
    pub(crate) fn forget(&mut self, term: TermId) {
        if let Some(list) = self.lists.get_mut(term as usize) {
            list.live = list.live.saturating_sub(1);
        }
    }

    /// Bytes on the heap.
    pub(crate) fn memory_bytes(&self) -> usize {
        let bytes: usize = self.lists.iter().map(|list| list.bytes.capacity()).sum();
        self.lists.capacity() * size_of::<List>() + bytes
    }
}

impl List {
    fn push(&mut self, slot: Slot, count: u32) {
        self.total += 1;
        self.live += 1;
        if self.dense {
            self.reserve(slot as usize + 1 - self.bytes.len());
            self.bytes.resize(slot as usize, 0);
            self.bytes.push(count as u8);
        } else {
            let gap = u64::from(slot - self.next);
            self.reserve(4);
            write_varint(&mut self.bytes, (gap << 1) | u64::from(count > 1));
            if count > 1 {
                write_varint(&mut self.bytes, u64::from(count - 2));
            }
        }
        self.next = slot + 1;
        if !self.dense && self.total >= DENSE_MIN && self.total >= self.next / DENSE_SHARE {
            self.make_dense();
        }
    }

    /// Grows by an eighth, where doubling would waste a third of the index's memory.
    fn reserve(&mut self, more: usize) {
        if self.bytes.capacity() - self.bytes.len() < more {
            self.bytes.reserve_exact(more.max(self.bytes.len() / 8));
        }
    }

    fn make_dense(&mut self) {
        let mut column = vec![0u8; self.next as usize];
        let mut cursor = Cursor::default();
        while let Some((slot, count)) = cursor.next(self, self.next) {
            column[slot as usize] = count as u8;
        }
        self.bytes = column;
        self.dense = true;
    }
}

impl List {
    /// Calls `visit` with every slot, in order, and the count in it.
    #[inline]
    pub(crate) fn each(&self, mut visit: impl FnMut(Slot, u32)) {
        if self.dense {
            let column = self.bytes.iter().enumerate().filter(|(_, count)| **count > 0);
            column.for_each(|(slot, count)| visit(slot as Slot, u32::from(*count)));
            return;
        }
        let mut cursor = Cursor::default();
        while let Some((slot, count)) = cursor.next(self, self.next) {
            visit(slot, count);
        }
    }
}

/// A place in the postings of a rare term.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Cursor {
    at: usize,
    base: Slot,
}

impl Cursor {
    /// The next posting of a slot below `end`; the cursor stays in front of the first one that is not.
    #[inline]
    pub(crate) fn next(&mut self, list: &List, end: Slot) -> Option<(Slot, u32)> {
        let mut at = self.at;
        let head = read_varint(&list.bytes, &mut at)?;
        let slot = self.base.checked_add(head >> 1)?;
        if slot >= end {
            return None;
        }
        let count = if head & 1 == 0 { 1 } else { read_varint(&list.bytes, &mut at)?.saturating_add(2) };
        self.at = at;
        self.base = slot + 1;
        Some((slot, count))
    }
}

/// Appends seven bits a byte, least significant first.
pub(crate) fn write_varint(bytes: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

/// Reads what [`write_varint`] wrote; `None` at the end, and bits beyond 32 are dropped.
#[inline]
pub(crate) fn read_varint(bytes: &[u8], at: &mut usize) -> Option<u32> {
    let first = *bytes.get(*at)?;
    *at += 1;
    if first < 0x80 {
        return Some(u32::from(first));
    }
    let mut value = u32::from(first & 0x7f);
    let mut shift = 7;
    loop {
        let byte = *bytes.get(*at)?;
        *at += 1;
        value |= u32::from(byte & 0x7f).checked_shl(shift).unwrap_or(0);
        if byte < 0x80 {
            return Some(value);
        }
        shift += 7;
    }
}

#[cfg(test)]
#[path = "postings_test.rs"]
mod postings_test;
