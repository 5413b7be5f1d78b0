//! Owns the word sequence of every slot: which terms, in which order, in which lines. From it single drawers are
//! scored in full, removed drawers are taken out of the statistics, and the whole index is rebuilt.

use super::documents::Slot;
use super::postings::{read_varint, write_varint};
use super::vocabulary::TermId;

/// What a sequence consists of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// A line ends here.
    Break,
    /// A term.
    Term(TermId),
}

/// The sequences, one after another: 0 for a line's end, else one more than the term's number, as varints.
#[derive(Clone, Debug, Default)]
pub(crate) struct Streams {
    pub(crate) bytes: Vec<u8>,
    pub(crate) ends: Vec<u64>,
}

impl Streams {
    /// Appends the sequence of the next slot.
    pub(crate) fn push(&mut self, steps: impl Iterator<Item = Step>) {
        if self.bytes.capacity() - self.bytes.len() < 1_024 {
            self.bytes.reserve_exact((self.bytes.len() / 8).max(4_096));
        }
        for step in steps {
            match step {
                Step::Break => self.bytes.push(0),
                Step::Term(term) => write_varint(&mut self.bytes, u64::from(term) + 1),
            }
        }
        self.ends.push(self.bytes.len() as u64);
    }

    /// The sequence of a slot.
    pub(crate) fn steps(&self, slot: Slot) -> Steps<'_> {
        let index = slot as usize;
        let start = if index == 0 { 0 } else { self.ends[index - 1] as usize };
        Steps { bytes: &self.bytes[start..self.ends[index] as usize], at: 0 }
    }

    /// Bytes on the heap.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.bytes.capacity() + self.ends.capacity() * 8
    }
}

/// Walks one sequence.
#[derive(Clone, Debug)]
pub(crate) struct Steps<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Iterator for Steps<'_> {
    type Item = Step;

    #[inline]
    fn next(&mut self) -> Option<Step> {
        let value = read_varint(self.bytes, &mut self.at)?;
        Some(if value == 0 { Step::Break } else { Step::Term(value - 1) })
    }
}
