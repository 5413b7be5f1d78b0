//! How old segments go: dropped when nothing in them is needed, and emptied when little is.
//!
//! A group that is quiet for long would keep the oldest segment for its few entries, and every segment behind it. So when at most
//! half of some oldest segments is needed, that half is written again at the end, a little with each flush.

use std::io;
use std::sync::Arc;

use super::group::{Cell, Position};
use super::keeper::Keeper;
use super::limits::BATCH_BYTES;
use super::reading::Reader;
use super::record::{FRAME, Kind, Record};
use super::segment;
use super::shared::Counts;

/// An entry that was carried forward.
pub(super) struct Carried {
    cell: Arc<Cell>,
    index: u64,
    from: Position,
    to: Position,
}

impl Keeper {
    /// Drops the oldest segments in which nothing is needed. That they are gone on purpose is on disk before they are.
    pub(super) fn drop_dead(&mut self) -> io::Result<()> {
        let behind_last = self.segments.len() - 1;
        let dead = self.segments.iter().take(behind_last).take_while(|segment| segment.live == 0).count();
        let Some(oldest) = self.segments.get(dead).filter(|_| dead > 0).map(|segment| segment.sequence)
        else {
            return Ok(());
        };
        self.write_own(Kind::Oldest, oldest, &[])?;
        self.flush()?;
        for segment in self.segments.drain(..dead) {
            self.shared.disk.remove(&segment::path(&self.shared.folder, segment.sequence))?;
        }
        self.shared.disk.sync_folder(&self.shared.folder)
    }

    /// The sequence before which segments are to be emptied: as many of the oldest as half of which, at most, is needed.
    pub(super) fn carry_before(&self) -> Option<u64> {
        if self.shared.failure.get().is_some() {
            return None;
        }
        let (mut live, mut bytes, mut before) = (0, 0, None);
        for pair in 0..self.segments.len().saturating_sub(1) {
            live += self.segments[pair].live;
            bytes += self.segments[pair].length;
            if live > 0 && live * 2 <= bytes {
                before = Some(self.segments[pair + 1].sequence);
            }
        }
        before
    }

    /// Adds some of the entries that stand in such segments to the buffer.
    pub(super) fn encode_carried(&mut self) -> io::Result<Vec<Carried>> {
        let Some(before) = self.carry_before() else { return Ok(Vec::new()) };
        let shared = Arc::clone(&self.shared);
        let cells: Vec<Arc<Cell>> = shared.groups.read().values().cloned().collect();
        let (mut carried, mut reader) = (Vec::new(), Reader::new(&shared));
        let most = (shared.sizes.carry_bytes as usize).min(BATCH_BYTES);
        for cell in cells {
            if self.buffer.len() >= most {
                break;
            }
            // Enough for this flush; what is not reached now is found again by the next.
            let most_entries = most / FRAME + 1;
            let entries: Vec<(u64, Position)> =
                cell.state.lock().laid.before(before as u32).take(most_entries).collect();
            for (index, from) in entries {
                if self.buffer.len() >= most {
                    break;
                }
                let (log_id, payload) = reader.entry(cell.id, index, from)?;
                let to = self.put(&Record::new(Kind::Carried, cell.id.get(), log_id, &payload));
                carried.push(Carried { cell: Arc::clone(&cell), index, from, to });
            }
        }
        if carried.is_empty() {
            // Trying again and again would stop everybody.
            return Err(io::Error::other(
                "segments of the journal are counted as needed, and no entry stands in them",
            ));
        }
        Counts::add(&shared.counts.carried, carried.len() as u64);
        Ok(carried)
    }

    /// Carried entries are on disk where they stand now.
    pub(super) fn moved(&mut self, carried: Vec<Carried>) {
        for Carried { cell, index, from, to } in carried {
            cell.state.lock().laid.moved(index, to);
            self.weigh(to, true);
            self.weigh(from, false);
        }
    }
}
