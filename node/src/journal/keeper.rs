//! The one writer of the files: takes what waits, writes it together, flushes once, says so with a mark, and tells who waited.
//!
//! It runs on a thread of its own and holds the files alone; callers and readers see its work through each group's lock. After a
//! failure it writes nothing more: what a flush that failed has left on the disk is unknown, and a second one may claim success
//! for bytes that are gone.

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;

use super::body;
use super::disk::{DiskFile, write_all};
use super::group::{Cell, Position};
use super::limits::BATCH_BYTES;
use super::names::LogId;
use super::record::{self, FRAME, Kind, MARK, Place, Record};
use super::segment::{self, Head};
use super::shared::{Counts, Failure, Op, Shared, Task};

/// A segment file as the keeper counts it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Segment {
    pub(super) sequence: u64,
    pub(super) length: u64,
    /// Bytes of frames in it whose entries are still needed.
    pub(super) live: u64,
}

pub(super) struct Keeper {
    pub(super) shared: Arc<Shared>,
    pub(super) segments: VecDeque<Segment>,
    file: Arc<dyn DiskFile>,
    place: Place,
    pub(super) buffer: Vec<u8>,
    /// Everything up to here is flushed and below a mark.
    marked: u64,
}

impl Keeper {
    /// Goes on behind the end of the last segment, which is flushed and marked up to `marked`.
    pub(super) fn new(
        shared: Arc<Shared>,
        segments: VecDeque<Segment>,
        file: Arc<dyn DiskFile>,
        marked: u64,
    ) -> Self {
        let place = Place::new(shared.id, segments.back().map_or(0, |last| last.sequence));
        let keeper = Self { shared, segments, file, place, buffer: Vec::new(), marked };
        keeper.count();
        keeper
    }

    /// Writes until nothing more can come.
    pub(super) fn run(&mut self) {
        let shared = Arc::clone(&self.shared);
        while let Some(tasks) = shared.queue.take(BATCH_BYTES, self.carry_before().is_none()) {
            self.batch(tasks);
        }
        self.finish();
    }

    /// Writes tasks with one flush, and tells who waits for them.
    pub(super) fn batch(&mut self, tasks: Vec<Task>) {
        let written = self.guarded(|keeper| keeper.write(&tasks));
        self.count();
        for task in tasks {
            if let Some(done) = task.done {
                done(written.as_ref().map_or_else(|_| self.shared.check(), |()| Ok(())));
            }
        }
        // Room is made after everybody was told. A failure of it stops the journal; what was told stays true.
        if written.is_ok() {
            let _ = self.guarded(Self::drop_dead);
        }
        self.count();
    }

    /// Flushes and marks the end, so that the next open finds nothing to do.
    pub(super) fn finish(&mut self) {
        let _ = self.guarded(|keeper| if keeper.marked < keeper.length() { keeper.flush() } else { Ok(()) });
    }

    /// Runs a step that writes, unless one failed before. The first failure is the last word.
    fn guarded(&mut self, step: impl FnOnce(&mut Self) -> io::Result<()>) -> io::Result<()> {
        if let Some(failure) = self.shared.failure.get() {
            return Err(failure.error());
        }
        step(self).inspect_err(|error| {
            let failure = self.shared.failure.get_or_init(|| Failure::of(error));
            tracing::error!(journal = %self.shared.id, "{failure}");
        })
    }

    fn write(&mut self, tasks: &[Task]) -> io::Result<()> {
        if self.length() >= self.shared.sizes.segment_bytes {
            self.roll()?;
        }
        self.buffer.clear();
        // First: what is carried is taken from what the files say, and the tasks change that.
        let carried = self.encode_carried()?;
        let positions: Vec<Vec<Position>> = tasks.iter().map(|task| self.encode(task)).collect();
        if self.buffer.is_empty() {
            return Ok(());
        }
        let buffer = std::mem::take(&mut self.buffer);
        self.append(&buffer)?;
        self.buffer = buffer;
        if !carried.is_empty() || tasks.iter().any(|task| task.done.is_some()) {
            self.flush()?;
        }
        self.moved(carried);
        let cache = self.shared.cache_share();
        for (task, positions) in tasks.iter().zip(positions) {
            self.lay(task, &positions, cache);
        }
        Ok(())
    }

    /// Adds the records of a task to the buffer; gives the positions of its entries.
    fn encode(&mut self, task: &Task) -> Vec<Position> {
        let group = task.cell.id.get();
        let (kind, log_id, body) = match &task.op {
            Op::Entries(entries) => {
                let entries = entries.iter();
                return entries
                    .map(|(log_id, payload)| self.put(&Record::new(Kind::Entry, group, *log_id, payload)))
                    .collect();
            }
            Op::Vote(vote) => {
                let log_id = LogId::new(vote.term, vote.node, u64::from(vote.committed));
                (Kind::Vote, Some(log_id), Vec::new())
            }
            Op::Committed(log_id) => (Kind::Committed, *log_id, Vec::new()),
            Op::Truncate(after) => (Kind::Truncate, *after, Vec::new()),
            Op::Purge(log_id) => (Kind::Purge, Some(*log_id), Vec::new()),
            Op::Floor(floor) => (Kind::Floor, Some(floor.log_id), body::write_floor(floor)),
            Op::FloorChange(change, _) => {
                (Kind::FloorChange, Some(change.log_id), body::write_floor_change(change))
            }
            Op::Remove => (Kind::Remove, None, Vec::new()),
        };
        self.put(&Record::about(kind, group, log_id, &body));
        Vec::new()
    }

    /// Adds a record to the buffer, for the place where it will stand.
    pub(super) fn put(&mut self, record: &Record<'_>) -> Position {
        let offset = self.length() + self.buffer.len() as u64;
        record::write(&mut self.buffer, self.place, offset, record);
        Counts::add(&self.shared.counts.records, 1);
        Position {
            // A roll refuses sequences and the sizes refuse lengths that would not fit.
            segment: self.sequence() as u32,
            offset: offset as u32,
            length: record.body.len() as u32,
        }
    }

    /// The files say now what the task asked for.
    fn lay(&mut self, task: &Task, positions: &[Position], cache: usize) {
        let mut state = task.cell.state.lock();
        let laid = &mut state.laid;
        let gone = match &task.op {
            Op::Entries(entries) => {
                for ((log_id, _), position) in entries.iter().zip(positions) {
                    laid.append(*log_id, *position);
                }
                Vec::new()
            }
            Op::Truncate(after) => laid.truncate(*after),
            Op::Purge(log_id) => laid.purge(*log_id),
            Op::Remove => laid.clear(),
            Op::Vote(vote) => {
                laid.standing.vote = Some(*vote);
                Vec::new()
            }
            Op::Committed(log_id) => {
                laid.standing.committed = *log_id;
                Vec::new()
            }
            Op::Floor(floor) | Op::FloorChange(_, floor) => {
                laid.floor = Some(Arc::clone(floor));
                Vec::new()
            }
        };
        state.note_laid(task.ticket, cache);
        drop(state);
        if matches!(task.op, Op::Remove) {
            self.shared.groups.write().remove(&task.cell.id);
        }
        positions.iter().for_each(|position| self.weigh(*position, true));
        gone.iter().for_each(|position| self.weigh(*position, false));
    }

    /// Counts an entry of a segment as needed, or as needed no more.
    pub(super) fn weigh(&mut self, position: Position, needed: bool) {
        let Some(first) = self.segments.front().map(|first| first.sequence) else { return };
        let at = u64::from(position.segment).checked_sub(first).and_then(|at| usize::try_from(at).ok());
        let bytes = FRAME as u64 + u64::from(position.length);
        if let Some(segment) = at.and_then(|at| self.segments.get_mut(at)) {
            segment.live = if needed { segment.live + bytes } else { segment.live - bytes };
        }
        let entries = &self.shared.counts.entries;
        let count = Counts::get(entries);
        Counts::set(entries, if needed { count + 1 } else { count - 1 });
    }

    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        write_all(&*self.file, bytes, self.length())?;
        if let Some(last) = self.segments.back_mut() {
            last.length += bytes.len() as u64;
        }
        Ok(())
    }

    /// Flushes, and says in the file that everything before was. The mark itself reaches the disk with the next flush: until
    /// then damage to what it covers looks like a torn tail only where a loss of power came with it.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        self.file.sync()?;
        Counts::add(&self.shared.counts.flushes, 1);
        self.write_own(Kind::Mark, 0, &MARK)?;
        self.marked = self.length();
        Ok(())
    }

    pub(super) fn write_own(&mut self, kind: Kind, number: u64, body: &[u8]) -> io::Result<()> {
        let mut bytes = Vec::with_capacity(FRAME + body.len());
        record::write(&mut bytes, self.place, self.length(), &Record::own(kind, number, body));
        self.append(&bytes)
    }

    /// Begins the next segment. The order makes each step undoable until the last: the new file exists whole, the old one says
    /// that it is continued, the new one has its first mark. Only behind that mark something is acknowledged.
    fn roll(&mut self) -> io::Result<()> {
        self.file.sync()?;
        let sequence = self.sequence() + 1;
        u32::try_from(sequence).map_err(io::Error::other)?;
        let place = Place::new(self.shared.id, sequence);
        let bytes = self.opening(sequence, place);
        let file = segment::begin(&*self.shared.disk, &self.shared.folder, sequence, &bytes)?;
        self.write_own(Kind::End, sequence, &[])?;
        self.file.sync()?;
        (self.file, self.place) = (file, place);
        self.segments.push_back(Segment { sequence, length: bytes.len() as u64, live: 0 });
        self.write_own(Kind::Mark, 0, &MARK)?;
        self.file.sync()?;
        self.marked = self.length();
        Ok(())
    }

    /// The first bytes of a segment: its head, and what holds for each group, so that older segments are needed for entries only.
    fn opening(&self, sequence: u64, place: Place) -> Vec<u8> {
        let oldest = self.segments.front().map_or(sequence, |first| first.sequence);
        let mut bytes = Head { journal: self.shared.id, sequence, oldest }.write().to_vec();
        let groups: Vec<Arc<Cell>> = self.shared.groups.read().values().cloned().collect();
        for cell in groups {
            let (standing, floor) = {
                let state = cell.state.lock();
                (state.laid.standing, state.laid.floor.clone())
            };
            if standing == body::Standing::default() && floor.is_none() {
                continue;
            }
            let (group, offset) = (cell.id.get(), bytes.len() as u64);
            let body = body::write_standing(&standing);
            record::write(&mut bytes, place, offset, &Record::about(Kind::State, group, None, &body));
            if let Some(floor) = floor {
                let (offset, body) = (bytes.len() as u64, body::write_floor(&floor));
                record::write(
                    &mut bytes,
                    place,
                    offset,
                    &Record::new(Kind::Floor, group, floor.log_id, &body),
                );
            }
        }
        bytes
    }

    pub(super) fn length(&self) -> u64 {
        self.segments.back().map_or(0, |last| last.length)
    }

    fn sequence(&self) -> u64 {
        self.segments.back().map_or(0, |last| last.sequence)
    }

    fn count(&self) {
        let counts = &self.shared.counts;
        Counts::set(&counts.bytes, self.segments.iter().map(|segment| segment.length).sum());
        Counts::set(&counts.live, self.segments.iter().map(|segment| segment.live).sum());
        Counts::set(&counts.segments, self.segments.len() as u64);
    }
}
