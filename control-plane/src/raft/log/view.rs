//! What the log says, in memory: the entries between the purged one and the last, the vote, the committed index.
//!
//! The group's log is short, because a snapshot is taken every few thousand entries; entries share their bytes.

use std::collections::BTreeMap;
use std::io;
use std::ops::RangeBounds;

use openraft::entry::RaftEntry;

use super::record::Record;
use crate::raft::codec::invalid;
use crate::raft::types::{Entry, LogId, Vote};

#[derive(Debug, Clone, Default)]
pub(super) struct View {
    pub(super) vote: Option<Vote>,
    pub(super) committed: Option<LogId>,
    pub(super) purged: Option<LogId>,
    entries: BTreeMap<u64, Entry>,
}

impl View {
    /// Takes a record in, as it was written or as it is read again.
    ///
    /// # Errors
    /// `InvalidData` for an entry that does not follow the one before it.
    pub(super) fn take(&mut self, record: &Record) -> io::Result<()> {
        match record {
            Record::Vote(vote) => self.vote = Some(*vote),
            Record::Entry(entry) => {
                let index = entry.log_id().index;
                let last = self.entries.last_key_value().map(|(last, _)| *last);
                // The first file that is left may begin behind a gap, which the purge that made it closes again.
                let follows = last
                    .map_or_else(|| self.purged.is_none_or(|p| p.index < index), |last| last + 1 == index);
                if !follows {
                    return Err(invalid(format!("entry {index} does not follow {:?}", self.last())));
                }
                self.entries.insert(index, entry.clone());
            }
            Record::Truncate(after) => {
                self.entries.split_off(&after.map_or(0, |index| index + 1));
            }
            Record::Purge(log_id) => {
                self.purged = Some(*log_id);
                self.entries = self.entries.split_off(&(log_id.index + 1));
            }
            Record::Committed(log_id) => self.committed = *log_id,
            Record::State { vote, committed, purged, .. } => {
                (self.vote, self.committed) = (*vote, *committed);
                // Of the first file that is left it is news; of a later one it is known.
                if let Some(log_id) = purged {
                    self.purged = Some(*log_id);
                    self.entries = self.entries.split_off(&(log_id.index + 1));
                }
            }
            Record::Mark { .. } => {}
        }
        Ok(())
    }

    /// The same without its entries.
    pub(super) const fn without_entries(&self) -> Self {
        Self { vote: self.vote, committed: self.committed, purged: self.purged, entries: BTreeMap::new() }
    }

    /// Whether the entries begin right behind the purged one, as they do in a log that was read to its end.
    pub(super) fn is_whole(&self) -> bool {
        let begin = self.purged.map_or(0, |log_id| log_id.index + 1);
        self.entries.first_key_value().is_none_or(|(first, _)| *first == begin)
    }

    /// The last entry's id, or the purged one's.
    pub(super) fn last(&self) -> Option<LogId> {
        self.entries.last_key_value().map(|(_, entry)| entry.log_id()).or(self.purged)
    }

    pub(super) fn range(&self, range: impl RangeBounds<u64>) -> Vec<Entry> {
        let bounds = (range.start_bound().cloned(), range.end_bound().cloned());
        // A range that ends before it begins makes the map panic.
        let empty = match bounds {
            (std::ops::Bound::Included(a), std::ops::Bound::Excluded(b)) => a >= b,
            (std::ops::Bound::Included(a), std::ops::Bound::Included(b)) => a > b,
            (std::ops::Bound::Excluded(a), std::ops::Bound::Excluded(b) | std::ops::Bound::Included(b)) => {
                a >= b
            }
            _ => false,
        };
        if empty { Vec::new() } else { self.entries.range(bounds).map(|(_, entry)| entry.clone()).collect() }
    }
}
