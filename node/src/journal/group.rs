//! One group in memory: what its callers see, what the files hold, and the newest entries.
//!
//! Callers are ahead of the files by what waits for the writer. So there are two sides: `front` is what was asked for and must be
//! readable at once, `laid` is what the files say, changed by the writer alone, in the order of the files. An entry is found in
//! the newest ones (`tail`) or else where `laid` has it.

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;

use bytes::Bytes;
use parking_lot::Mutex;

use super::body::Standing;
use super::names::{Floor, Group, LogId};

/// Where a record stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Position {
    pub(super) segment: u32,
    pub(super) offset: u32,
    /// Bytes of its body.
    pub(super) length: u32,
}

/// A group and the lock around it.
pub(super) struct Cell {
    pub(super) id: Group,
    pub(super) state: Mutex<State>,
}

/// See the file's head.
#[derive(Default)]
pub(super) struct State {
    pub(super) front: Standing,
    pub(super) floor: Option<Arc<Floor>>,
    /// The newest entries, without a gap, up to the last.
    tail: VecDeque<Newest>,
    /// Bytes in the tail that could be read from the disk as well.
    spare: usize,
    pub(super) laid: Laid,
    /// Numbers what is handed to the writer.
    ticket: u64,
    pub(super) removed: bool,
}

struct Newest {
    log_id: LogId,
    payload: Bytes,
    ticket: u64,
    laid: bool,
}

/// What the files say.
#[derive(Default)]
pub(super) struct Laid {
    pub(super) standing: Standing,
    pub(super) floor: Option<Arc<Floor>>,
    /// Index of the first of `positions`.
    first: u64,
    positions: VecDeque<Position>,
}

/// An entry, or where it is.
pub(super) enum Found {
    Here(LogId, Bytes),
    There(u64, Position),
}

impl Found {
    fn bytes(&self) -> usize {
        match self {
            Self::Here(_, payload) => payload.len(),
            Self::There(_, position) => position.length as usize,
        }
    }
}

impl State {
    /// What was found when the journal was opened.
    pub(super) fn recovered(laid: Laid) -> Self {
        Self { front: laid.standing, floor: laid.floor.clone(), laid, ..Self::default() }
    }

    pub(super) fn next_ticket(&mut self) -> u64 {
        self.ticket += 1;
        self.ticket
    }

    /// Takes entries in; they are readable when this returns.
    ///
    /// # Errors
    /// `InvalidInput` when they do not follow each other and the last one. Nothing is taken then.
    pub(super) fn append(&mut self, entries: &[(LogId, Bytes)], ticket: u64) -> io::Result<()> {
        let Some((first, _)) = entries.first() else { return Ok(()) };
        let next = self.front.last.map_or(first.index, |last| last.index + 1);
        for ((log_id, _), expected) in entries.iter().zip(next..) {
            if log_id.index != expected {
                return Err(refused(format!("entry {log_id} where {expected} follows")));
            }
        }
        if self.front.last.is_none() {
            self.front.begin = first.index;
        }
        for (log_id, payload) in entries {
            self.tail.push_back(Newest { log_id: *log_id, payload: payload.clone(), ticket, laid: false });
            self.front.last = Some(*log_id);
        }
        Ok(())
    }

    /// Entries behind this one are gone.
    pub(super) fn truncate(&mut self, after: Option<LogId>) {
        while self
            .tail
            .back()
            .is_some_and(|newest| after.is_none_or(|after| newest.log_id.index > after.index))
        {
            if let Some(newest) = self.tail.pop_back().filter(|newest| newest.laid) {
                self.spare -= newest.payload.len();
            }
        }
        truncate(&mut self.front, after);
    }

    /// Entries up to this one are gone.
    pub(super) fn purge(&mut self, log_id: LogId) {
        while self.tail.front().is_some_and(|newest| newest.log_id.index <= log_id.index) {
            if let Some(newest) = self.tail.pop_front().filter(|newest| newest.laid) {
                self.spare -= newest.payload.len();
            }
        }
        purge(&mut self.front, log_id);
    }

    /// What was handed over up to this ticket is in the files. Keeps at most `cache` bytes of it in memory.
    pub(super) fn note_laid(&mut self, ticket: u64, cache: usize) {
        // Laid ones come first: tickets grow along the tail.
        let from = self.tail.partition_point(|newest| newest.laid);
        for newest in self.tail.range_mut(from..).take_while(|newest| newest.ticket <= ticket) {
            newest.laid = true;
            self.spare += newest.payload.len();
        }
        while self.spare > cache {
            let Some(oldest) = self.tail.pop_front() else { break };
            self.spare -= oldest.payload.len();
        }
    }

    /// The entries from `from` to before `to` that there are, of at most so many bytes; the first one in any case.
    ///
    /// # Errors
    /// `InvalidData` when one that must be there is not known.
    pub(super) fn find(&self, from: u64, to: u64, bytes: usize) -> io::Result<Vec<Found>> {
        let end = self.front.last.map_or(0, |last| last.index + 1);
        let range = from.max(self.front.begin)..to.min(end);
        if range.is_empty() || self.removed {
            return Ok(Vec::new());
        }
        let here = end - self.tail.len() as u64;
        let there = range.start..range.end.min(here);
        let position = |index| {
            let position = self.laid.position(index).ok_or(io::ErrorKind::InvalidData)?;
            Ok(Found::There(index, position))
        };
        let skip = range.start.saturating_sub(here) as usize;
        let count = range.end.saturating_sub(range.start.max(here)) as usize;
        let newest = self.tail.iter().skip(skip).take(count);
        let newest = newest.map(|newest| Ok(Found::Here(newest.log_id, newest.payload.clone())));
        let mut sum = 0;
        let within = |found: &io::Result<Found>| {
            let first = sum == 0;
            sum += found.as_ref().map_or(0, Found::bytes).max(1);
            first || sum <= bytes
        };
        there.map(position).chain(newest).take_while(within).collect()
    }

    /// Bytes that are kept in memory although the disk has them.
    #[cfg(test)]
    pub(super) const fn spare(&self) -> usize {
        self.spare
    }
}

impl Laid {
    /// What the files were found to say.
    pub(super) fn found(
        standing: Standing,
        floor: Option<Arc<Floor>>,
        positions: VecDeque<Position>,
    ) -> Self {
        Self { standing, floor, first: standing.begin, positions }
    }

    fn position(&self, index: u64) -> Option<Position> {
        self.positions.get(usize::try_from(index.checked_sub(self.first)?).ok()?).copied()
    }

    pub(super) fn append(&mut self, log_id: LogId, position: Position) {
        if self.standing.last.is_none() {
            self.standing.begin = log_id.index;
        }
        if self.positions.is_empty() {
            self.first = log_id.index;
        }
        self.standing.last = Some(log_id);
        self.positions.push_back(position);
    }

    /// Gives the positions that nothing needs any more.
    pub(super) fn truncate(&mut self, after: Option<LogId>) -> Vec<Position> {
        truncate(&mut self.standing, after);
        let keep = after.map_or(0, |after| (after.index + 1).saturating_sub(self.first));
        let keep = usize::try_from(keep).unwrap_or(usize::MAX).min(self.positions.len());
        self.positions.split_off(keep).into()
    }

    /// As [`Self::truncate`].
    pub(super) fn purge(&mut self, log_id: LogId) -> Vec<Position> {
        purge(&mut self.standing, log_id);
        let gone = (log_id.index + 1).saturating_sub(self.first);
        let gone = usize::try_from(gone).unwrap_or(usize::MAX).min(self.positions.len());
        self.first += gone as u64;
        self.positions.drain(..gone).collect()
    }

    /// As [`Self::truncate`], for everything.
    pub(super) fn clear(&mut self) -> Vec<Position> {
        std::mem::take(self).positions.into()
    }

    /// Entries that stand in segments before this one, oldest first, each with its index.
    pub(super) fn before(&self, segment: u32) -> impl Iterator<Item = (u64, Position)> {
        let numbered = (self.first..).zip(self.positions.iter().copied());
        numbered.filter(move |(_, position)| position.segment < segment)
    }

    /// Says where an entry stands now.
    pub(super) fn moved(&mut self, index: u64, to: Position) {
        let at = index.checked_sub(self.first).and_then(|at| usize::try_from(at).ok());
        if let Some(position) = at.and_then(|at| self.positions.get_mut(at)) {
            *position = to;
        }
    }

    pub(super) fn positions(&self) -> impl Iterator<Item = &Position> {
        self.positions.iter()
    }
}

/// What a truncation does to a standing.
pub(super) fn truncate(standing: &mut Standing, after: Option<LogId>) {
    let kept = after.filter(|after| after.index >= standing.begin).or(standing.purged);
    if kept.map(|kept| kept.index) < standing.last.map(|last| last.index) {
        standing.last = kept;
    }
}

/// What a purge does to a standing.
pub(super) fn purge(standing: &mut Standing, log_id: LogId) {
    if standing.purged.is_none_or(|purged| purged.index < log_id.index) {
        standing.purged = Some(log_id);
        standing.begin = log_id.index + 1;
    }
    if standing.last.is_none_or(|last| last.index < log_id.index) {
        standing.last = Some(log_id);
    }
}

pub(super) fn refused(problem: impl Into<String>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, problem.into())
}
