//! Records of the log and their frames: `length u32 ‖ crc32 u32 ‖ kind u8 ‖ body`, little-endian. The length is that of kind
//! and body, the checksum is over both.

use std::io;

use crate::raft::codec;
use crate::raft::types::{Entry, LogId, Vote};

/// Bytes before the kind.
pub(super) const FRAME: usize = 8;
/// Largest record: an entry and what openraft adds to it.
pub(super) const RECORD_BYTES: usize = crate::limits::BATCH_BYTES + (64 << 10);
/// Begins the body of a mark, so that marks can be found where frames are lost.
const MARK: [u8; 8] = *b"\x00UCmark\x01";

/// One thing that the log keeps.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Record {
    /// Whom the member voted for.
    Vote(Vote),
    /// One more entry.
    Entry(Entry),
    /// Entries behind this one are gone; `None` for all.
    Truncate(Option<u64>),
    /// Entries up to this one are gone, because a snapshot has them.
    Purge(LogId),
    /// What was known to be committed. A hint, written without a flush.
    Committed(Option<LogId>),
    /// Everything before this place of this file was flushed.
    Mark { sequence: u64, at: u64 },
    /// What held when the file began, so that files before it can go; and the highest entry in those, until whose purge they
    /// must be there.
    State { vote: Option<Vote>, committed: Option<LogId>, purged: Option<LogId>, highest: Option<u64> },
}

impl Record {
    /// Appends the record's frame.
    pub(super) fn write(&self, out: &mut Vec<u8>) -> io::Result<()> {
        let (kind, body) = match self {
            Self::Vote(vote) => (1, codec::encode(vote)?),
            Self::Entry(entry) => (2, codec::encode(entry)?),
            Self::Truncate(after) => (3, codec::encode(after)?),
            Self::Purge(log_id) => (4, codec::encode(log_id)?),
            Self::Committed(log_id) => (5, codec::encode(log_id)?),
            Self::Mark { sequence, at } => (6, mark(*sequence, *at)),
            Self::State { vote, committed, purged, highest } => {
                (7, codec::encode(&(vote, committed, purged, highest))?)
            }
        };
        let mut hash = crc32fast::Hasher::new();
        hash.update(&[kind]);
        hash.update(&body);
        let length = u32::try_from(body.len() + 1).ok().filter(|length| *length as usize <= RECORD_BYTES);
        let length = length.ok_or_else(|| codec::invalid(format!("a record of {} bytes", body.len())))?;
        out.extend(length.to_le_bytes());
        out.extend(hash.finalize().to_le_bytes());
        out.push(kind);
        out.extend(body);
        Ok(())
    }

    /// The record at the beginning of `bytes` and the length of its frame; `None` when there is no whole one.
    pub(super) fn read(bytes: &[u8]) -> Option<(Self, usize)> {
        let length = u32::from_le_bytes(*bytes.first_chunk::<4>()?) as usize;
        let checksum = u32::from_le_bytes(*bytes.get(4..)?.first_chunk::<4>()?);
        let content = bytes.get(FRAME..FRAME.checked_add(length)?)?;
        if length > RECORD_BYTES || crc32fast::hash(content) != checksum {
            return None;
        }
        let (kind, body) = content.split_first()?;
        let record = match kind {
            1 => Self::Vote(codec::decode(body).ok()?),
            2 => Self::Entry(codec::decode(body).ok()?),
            3 => Self::Truncate(codec::decode(body).ok()?),
            4 => Self::Purge(codec::decode(body).ok()?),
            5 => Self::Committed(codec::decode(body).ok()?),
            6 => read_mark(body)?,
            7 => {
                let (vote, committed, purged, highest) = codec::decode(body).ok()?;
                Self::State { vote, committed, purged, highest }
            }
            _ => return None,
        };
        Some((record, FRAME + length))
    }
}

fn mark(sequence: u64, at: u64) -> Vec<u8> {
    [MARK, sequence.to_le_bytes(), at.to_le_bytes()].concat()
}

fn read_mark(body: &[u8]) -> Option<Record> {
    let (magic, rest) = body.split_first_chunk::<8>()?;
    let (sequence, rest) = rest.split_first_chunk::<8>()?;
    let at = u64::from_le_bytes(rest.try_into().ok()?);
    (*magic == MARK).then_some(Record::Mark { sequence: u64::from_le_bytes(*sequence), at })
}

/// Whether a whole mark of this file lies anywhere behind `from`, wherever its frame begins.
pub(super) fn mark_behind(file: &[u8], from: usize, sequence: u64) -> bool {
    let ahead = FRAME + 1;
    let behind = file.get(from..).unwrap_or_default();
    behind.windows(MARK.len()).enumerate().filter(|(_, window)| **window == MARK).any(|(at, _)| {
        let begin = (from + at).checked_sub(ahead);
        let record = begin.and_then(|begin| Record::read(&file[begin..]));
        record.is_some_and(|(record, _)| {
            matches!(record, Record::Mark { sequence: of, at } if of == sequence && Some(at as usize) == begin)
        })
    })
}
