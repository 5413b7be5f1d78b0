//! Reading a journal when it is opened: every record in order, a torn tail cut, anything else told as what it is.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::io;
use std::path::Path;
use std::sync::Arc;

use super::disk::{Disk, DiskFile, read_whole, write_all};
use super::group::{Laid, Position};
use super::keeper::Segment;
use super::names::{Group, JournalId};
use super::record::{self, FRAME, Kind, MARK, Place, Record};
use super::replay::Replay;
use super::segment::{self, BadHead, HEAD, Head};
use crate::Error;

/// A journal that must not be used: what it acknowledged may be gone. The Raft ids that belong to it never vote again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Retired {
    /// The journal, where that can still be read.
    pub journal: Option<JournalId>,
    /// What was found.
    pub why: Why,
}

/// What retires a journal.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Why {
    /// There is no journal.
    Missing,
    /// A segment is missing that was not dropped.
    MissingSegment {
        /// Its sequence number.
        sequence: u64,
    },
    /// What was flushed cannot be read.
    Damaged {
        /// The segment.
        sequence: u64,
        /// The byte in it.
        at: u64,
        /// What is wrong there.
        problem: &'static str,
    },
    /// Entries of a group are missing although every segment is there.
    Gap {
        /// The group.
        group: Group,
    },
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing => f.write_str("there is no journal"),
            Self::MissingSegment { sequence } => write!(f, "segment {sequence:016x} is missing"),
            Self::Damaged { sequence, at, problem } => {
                write!(f, "segment {sequence:016x} is damaged at byte {at}: {problem}")
            }
            Self::Gap { group } => write!(f, "entries of group {group} are missing"),
        }
    }
}

/// A journal as it was found, flushed and marked to its end.
pub(super) struct Found {
    pub(super) id: JournalId,
    pub(super) segments: VecDeque<Segment>,
    pub(super) groups: BTreeMap<Group, Laid>,
    pub(super) file: Arc<dyn DiskFile>,
}

/// Why a journal was not recovered.
pub(super) enum Stop {
    Retired(Retired),
    Error(Error),
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Self::Error(error)
    }
}

/// Reads all segments and makes the end of the last one good to go on.
pub(super) fn recover(disk: &dyn Disk, folder: &Path) -> Result<Found, Stop> {
    let (listed, unborn) = match segment::listed(disk, folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => (Vec::new(), Vec::new()),
        listed => listed.map_err(|error| Error::journal("read the folder", folder, error))?,
    };
    let mut opening =
        Opening { disk, folder, id: None, segments: VecDeque::new(), replay: Replay::default() };
    let (oldest, last) = opening.ends(&listed)?;
    let needed = listed.iter().copied().filter(|sequence| (oldest..=last).contains(sequence));
    if let Some((missing, _)) =
        (oldest..=last).zip(needed.map(Some).chain([None])).find(|(a, b)| Some(*a) != *b)
    {
        return Err(opening.retired(Why::MissingSegment { sequence: missing }));
    }
    for sequence in oldest..last {
        opening.read_closed(sequence)?;
    }
    let file = opening.read_last(last)?;
    let id = opening.id;
    let groups = match std::mem::take(&mut opening.replay).finish() {
        Ok(groups) => groups,
        Err(group) => return Err(opening.retired(Why::Gap { group })),
    };
    opening.weigh(&groups);
    // Dropped ones, whose removal was not flushed.
    let leftover = listed.iter().filter(|sequence| **sequence < oldest);
    opening.remove(leftover.map(|sequence| segment::path(folder, *sequence)).chain(unborn).collect())?;
    let segments = opening.segments;
    id.map(|id| Found { id, segments, groups, file })
        .ok_or(Stop::Retired(Retired { journal: None, why: Why::Missing }))
}

struct Opening<'a> {
    disk: &'a dyn Disk,
    folder: &'a Path,
    /// Known as soon as one head was read.
    id: Option<JournalId>,
    segments: VecDeque<Segment>,
    replay: Replay,
}

/// A segment as it lies on the disk.
struct Lying {
    file: Arc<dyn DiskFile>,
    bytes: Vec<u8>,
    head: Head,
    place: Place,
}

/// How far the records of a segment can be read.
struct Read {
    /// Behind the last whole record.
    end: usize,
    /// Behind the last mark, and where it begins: what is before it was flushed, the mark itself perhaps not.
    marked: usize,
    flushed: usize,
    /// What the last record says, when it is the end of the segment: where it stands, and what follows.
    next: Option<(usize, u64)>,
    oldest: u64,
}

impl Opening<'_> {
    fn retired(&self, why: Why) -> Stop {
        Stop::Retired(Retired { journal: self.id, why })
    }

    fn damaged(&self, sequence: u64, at: usize, problem: &'static str) -> Stop {
        self.retired(Why::Damaged { sequence, at: at as u64, problem })
    }

    fn io(&self, doing: &'static str, sequence: u64, error: io::Error) -> Stop {
        Error::journal(doing, &segment::path(self.folder, sequence), error).into()
    }

    /// Sequences of the first segment that is needed and of the last.
    fn ends(&mut self, listed: &[u64]) -> Result<(u64, u64), Stop> {
        let Some(last) = listed.last().copied() else { return Err(self.retired(Why::Missing)) };
        let lying = self.load(last)?;
        let read = self.follow(&lying, None)?;
        if read.marked > HEAD || record::mark_behind(&lying.bytes, lying.place, read.end) {
            return Ok((read.oldest, last));
        }
        // A segment without a mark was begun, and nothing in it was acknowledged. It is undone, as if it had never been begun.
        let Some(before) = listed.iter().rev().nth(1).copied().filter(|before| before + 1 == last) else {
            return Err(self.damaged(last, HEAD, "it has no mark"));
        };
        let lying = self.load(before)?;
        let read = self.follow(&lying, None)?;
        if read.next.is_none() && record::mark_behind(&lying.bytes, lying.place, read.end) {
            return Err(self.damaged(before, read.end, "a record that was flushed cannot be read"));
        }
        let end = read.next.map_or(read.end, |(at, _)| at);
        lying.file.cut(end as u64).and_then(|()| lying.file.sync()).map_err(|e| self.io("cut", before, e))?;
        self.remove(vec![segment::path(self.folder, last)])?;
        Ok((read.oldest, before))
    }

    fn remove(&self, files: Vec<std::path::PathBuf>) -> Result<(), Stop> {
        for file in &files {
            self.disk.remove(file).map_err(|error| Error::journal("remove", file, error))?;
        }
        let synced = if files.is_empty() { Ok(()) } else { self.disk.sync_folder(self.folder) };
        synced.map_err(|error| Error::journal("flush the folder", self.folder, error).into())
    }

    fn load(&mut self, sequence: u64) -> Result<Lying, Stop> {
        let path = segment::path(self.folder, sequence);
        let read = self.disk.open(&path).and_then(|file| Ok((read_whole(&*file)?, file)));
        let (bytes, file) = read.map_err(|error| self.io("read", sequence, error))?;
        let head = match Head::read(&bytes) {
            Ok(head) => head,
            Err(BadHead::Damaged) => return Err(self.damaged(sequence, 0, "its head cannot be read")),
            Err(BadHead::Version(version)) => return Err(Error::JournalVersion { path, version }.into()),
        };
        if *self.id.get_or_insert(head.journal) != head.journal || head.sequence != sequence {
            return Err(self.damaged(sequence, 0, "it is of another journal, or of another place"));
        }
        let place = Place::new(head.journal, sequence);
        Ok(Lying { file, bytes, head, place })
    }

    /// Follows the records of a segment as far as they can be read.
    fn follow(&self, lying: &Lying, mut replay: Option<&mut Replay>) -> Result<Read, Stop> {
        let mut read = Read { end: HEAD, marked: HEAD, flushed: HEAD, next: None, oldest: lying.head.oldest };
        while read.next.is_none() {
            let rest = lying.bytes.get(read.end..).unwrap_or_default();
            let Some((record, length)) = record::read(rest, lying.place, read.end as u64) else { break };
            if let Some(replay) = replay.as_deref_mut() {
                let position = position(lying.head.sequence, read.end, &record);
                let taken = replay.take(&record, position);
                taken.map_err(|problem| self.damaged(lying.head.sequence, read.end, problem))?;
            }
            let begin = read.end;
            read.end += length;
            match record.kind {
                Kind::Mark if record::is_mark(&record) => (read.flushed, read.marked) = (begin, read.end),
                Kind::Oldest => read.oldest = record.log_id.index,
                Kind::End => read.next = Some((begin, record.log_id.index)),
                _ => {}
            }
        }
        Ok(read)
    }

    /// A segment that another one follows: it must be whole, since it was flushed before that one was used.
    fn read_closed(&mut self, sequence: u64) -> Result<(), Stop> {
        let lying = self.load(sequence)?;
        let mut replay = std::mem::take(&mut self.replay);
        let read = self.follow(&lying, Some(&mut replay))?;
        self.replay = replay;
        let follows = read.next.is_some_and(|(_, next)| next == sequence + 1);
        if !follows || read.end != lying.bytes.len() {
            return Err(self.damaged(sequence, read.end, "a record that was flushed cannot be read"));
        }
        self.segments.push_back(Segment { sequence, length: read.end as u64, live: 0 });
        Ok(())
    }

    /// The last segment: what cannot be read behind its last mark is cut, and what can be is flushed.
    fn read_last(&mut self, sequence: u64) -> Result<Arc<dyn DiskFile>, Stop> {
        let lying = self.load(sequence)?;
        let mut replay = std::mem::take(&mut self.replay);
        let read = self.follow(&lying, Some(&mut replay))?;
        self.replay = replay;
        if let Some((_, next)) = read.next {
            return Err(self.retired(Why::MissingSegment { sequence: next }));
        }
        if record::mark_behind(&lying.bytes, lying.place, read.end) {
            return Err(self.damaged(sequence, read.end, "a record that was flushed cannot be read"));
        }
        let length = settle(&lying, &read).map_err(|error| self.io("write to", sequence, error))?;
        self.segments.push_back(Segment { sequence, length, live: 0 });
        Ok(lying.file)
    }

    /// Counts what is needed of each segment.
    fn weigh(&mut self, groups: &BTreeMap<Group, Laid>) {
        let Some(first) = self.segments.front().map(|first| first.sequence) else { return };
        for position in groups.values().flat_map(Laid::positions) {
            let at = (u64::from(position.segment) - first) as usize;
            self.segments[at].live += FRAME as u64 + u64::from(position.length);
        }
    }
}

fn position(sequence: u64, at: usize, record: &Record<'_>) -> Position {
    // Segments beyond these numbers are not begun.
    Position { segment: sequence as u32, offset: at as u32, length: record.body.len() as u32 }
}

/// Cuts what was never acknowledged; left there, it could look like damage once more is written behind it. What can be read from
/// the last mark on is written once more to where it stands, before it is flushed: a flush that failed earlier may have left it in
/// memory alone, and the system then takes it for flushed. Gives the length.
fn settle(lying: &Lying, read: &Read) -> io::Result<u64> {
    let (file, end) = (&*lying.file, read.end as u64);
    if read.end < lying.bytes.len() {
        file.cut(end)?;
    }
    write_all(file, &lying.bytes[read.flushed..read.end], read.flushed as u64)?;
    file.sync()?;
    if read.marked == read.end {
        return Ok(end);
    }
    let mut mark = Vec::new();
    record::write(&mut mark, lying.place, end, &Record::own(Kind::Mark, 0, &MARK));
    write_all(file, &mark, end)?;
    file.sync()?;
    Ok(end + mark.len() as u64)
}
