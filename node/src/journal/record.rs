//! Records and their frames: bytes in, bytes out. The table of bytes is in `docs/formats/journal.md`.
//!
//! A checksum covers more than what is written: also the journal's id, the file's sequence and the record's offset. So a record
//! of another journal, of another file or of another place is none, whatever a disk hands back.

use super::limits::RECORD_BYTES;
use super::names::{JournalId, LogId};

/// Bytes of a frame before the body.
pub const FRAME: usize = 44;
/// The whole body of a mark, by which marks are found where frames are lost.
pub const MARK: [u8; 8] = *b"\x00UCjmark";

/// What a record says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Kind {
    /// One more entry, behind the group's last; the body is its payload.
    Entry = 1,
    /// An entry that stood in an older file, said again so that the file can go.
    Carried = 2,
    /// Whom the group's member voted for; `index` is 1 when the vote is committed.
    Vote = 3,
    /// What is known to be committed. A hint: it is not flushed.
    Committed = 4,
    /// Entries behind this one are gone.
    Truncate = 5,
    /// Entries up to this one are gone.
    Purge = 6,
    /// The group's floor.
    Floor = 7,
    /// What is new in the group's floor.
    FloorChange = 8,
    /// The group is gone.
    Remove = 9,
    /// What held for a group when the file began.
    State = 10,
    /// Everything before this record is on disk.
    Mark = 11,
    /// Files before sequence `index` are not needed any more.
    Oldest = 12,
    /// The last record of a file: it is continued in the file of sequence `index`.
    End = 13,
}

impl Kind {
    /// Every kind, in the order of their numbers.
    pub const ALL: [Self; 13] = [
        Self::Entry,
        Self::Carried,
        Self::Vote,
        Self::Committed,
        Self::Truncate,
        Self::Purge,
        Self::Floor,
        Self::FloorChange,
        Self::Remove,
        Self::State,
        Self::Mark,
        Self::Oldest,
        Self::End,
    ];

    fn of(number: u8) -> Option<Self> {
        Self::ALL.get(usize::from(number).checked_sub(1)?).copied()
    }
}

/// One record, its body where it lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Record<'a> {
    /// What it says.
    pub kind: Kind,
    /// Whether `log_id` says something: a truncation to nothing has none.
    pub has_log_id: bool,
    /// The group's number; 0 for records of the journal itself.
    pub group: u64,
    /// Which entry it is about.
    pub log_id: LogId,
    /// The rest.
    pub body: &'a [u8],
}

impl<'a> Record<'a> {
    /// A record about an entry of a group.
    #[must_use]
    pub const fn new(kind: Kind, group: u64, log_id: LogId, body: &'a [u8]) -> Self {
        Self { kind, has_log_id: true, group, log_id, body }
    }

    /// A record that may be about no entry.
    #[must_use]
    pub fn about(kind: Kind, group: u64, log_id: Option<LogId>, body: &'a [u8]) -> Self {
        let none = LogId::new(0, 0, 0);
        Self { kind, has_log_id: log_id.is_some(), group, log_id: log_id.unwrap_or(none), body }
    }

    /// A record of the journal itself, with a number.
    #[must_use]
    pub const fn own(kind: Kind, number: u64, body: &'a [u8]) -> Self {
        Self::new(kind, 0, LogId::new(0, 0, number), body)
    }

    /// The entry that it is about.
    #[must_use]
    pub fn log_id(&self) -> Option<LogId> {
        self.has_log_id.then_some(self.log_id)
    }
}

/// What a file adds to the checksums of its records.
#[derive(Debug, Clone, Copy)]
pub struct Place(u32);

impl Place {
    /// The file of this sequence in this journal.
    #[must_use]
    pub fn new(journal: JournalId, sequence: u64) -> Self {
        Self(crc32c::crc32c_append(crc32c::crc32c(journal.as_bytes()), &sequence.to_le_bytes()))
    }

    /// The checksum of a frame at an offset: over its length, and over all that is behind the checksum.
    fn checksum(self, offset: u64, frame: &[u8]) -> u32 {
        let seed = crc32c::crc32c_append(self.0, &offset.to_le_bytes());
        crc32c::crc32c_append(crc32c::crc32c_append(seed, &frame[..4]), &frame[8..])
    }
}

/// Appends the frame of a record that will stand at `offset` of its file, and gives its length.
///
/// The caller has checked that the body has at most [`RECORD_BYTES`].
pub fn write(out: &mut Vec<u8>, place: Place, offset: u64, record: &Record<'_>) -> usize {
    debug_assert!(record.body.len() <= RECORD_BYTES, "a record of {} bytes", record.body.len());
    let begin = out.len();
    out.extend((record.body.len() as u32).to_le_bytes());
    out.extend([0; 4]);
    out.extend([record.kind as u8, u8::from(record.has_log_id), 0, 0]);
    for number in [record.group, record.log_id.term, record.log_id.node, record.log_id.index] {
        out.extend(number.to_le_bytes());
    }
    out.extend(record.body);
    let checksum = place.checksum(offset, &out[begin..]);
    out[begin + 4..begin + 8].copy_from_slice(&checksum.to_le_bytes());
    out.len() - begin
}

/// The record whose frame begins `bytes`, which stand at `offset` of their file, and the length of the frame; `None` when there is
/// no whole and unharmed one.
#[must_use]
pub fn read(bytes: &[u8], place: Place, offset: u64) -> Option<(Record<'_>, usize)> {
    let length = u32::from_le_bytes(*bytes.first_chunk()?) as usize;
    if length > RECORD_BYTES {
        return None;
    }
    let frame = bytes.get(..FRAME + length)?;
    let checksum = u32::from_le_bytes(*frame[4..].first_chunk()?);
    if place.checksum(offset, frame) != checksum {
        return None;
    }
    let has_log_id = match frame[9..12] {
        [0, 0, 0] => false,
        [1, 0, 0] => true,
        _ => return None,
    };
    let number = |at: usize| frame[at..].first_chunk().map(|bytes| u64::from_le_bytes(*bytes));
    let log_id = LogId::new(number(20)?, number(28)?, number(36)?);
    let kind = Kind::of(frame[8])?;
    let record = Record { kind, has_log_id, group: number(12)?, log_id, body: &frame[FRAME..] };
    Some((record, FRAME + length))
}

/// Whether a whole mark lies anywhere behind `from`, wherever its frame begins.
#[must_use]
pub fn mark_behind(file: &[u8], place: Place, from: usize) -> bool {
    let behind = file.get(from..).unwrap_or_default();
    behind.windows(MARK.len()).enumerate().filter(|(_, window)| **window == MARK).any(|(at, _)| {
        let Some(begin) = (from + at).checked_sub(FRAME).filter(|begin| *begin >= from) else { return false };
        read(&file[begin..], place, begin as u64).is_some_and(|(record, _)| is_mark(&record))
    })
}

/// Whether the record is a mark.
#[must_use]
pub fn is_mark(record: &Record<'_>) -> bool {
    record.kind == Kind::Mark && record.body == MARK
}
