//! The journal of a node: creating, opening, closing it, its groups, what it says of itself.

use std::collections::VecDeque;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::JoinHandle;

use parking_lot::{Mutex, RwLock};
use tokio::sync::Semaphore;

use super::disk::Disk;
use super::group::{Cell, State};
use super::keeper::{Keeper, Segment};
use super::limits::Sizes;
use super::log::GroupLog;
use super::names::{Group, JournalId};
use super::record::{self, Kind, MARK, Place, Record};
use super::recover::{self, Found, Retired, Stop};
use super::segment::{self, Head};
use super::shared::{Counts, Queue, Shared};
use crate::{Error, Result};

/// The one log of all groups of a node. Clones are the same journal; when the last one and the last [`GroupLog`] are dropped, what
/// was handed over is written, flushed and marked, and the folder is free again.
#[derive(Clone)]
pub struct Journal {
    pub(super) inner: Arc<Inner>,
}

pub(super) struct Inner {
    pub(super) shared: Arc<Shared>,
    /// Room for entries that wait, a permit a byte.
    pub(super) room: Arc<Semaphore>,
    writer: Mutex<Option<JoinHandle<()>>>,
    /// Keeps other processes out of the folder.
    _taken: Box<dyn Send + Sync>,
}

/// What opening a journal found.
#[derive(Debug)]
#[must_use]
pub enum Recovered {
    /// Everything that was acknowledged is there.
    Ready(Journal),
    /// Acknowledged entries may be gone. The node rejoins as a learner under new Raft ids, with a new journal.
    Retired(Retired),
}

/// Figures of a journal at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Status {
    /// Bytes of all segment files.
    pub bytes: u64,
    /// Bytes of entries in them that are needed.
    pub live_bytes: u64,
    /// Segment files.
    pub segments: u64,
    /// Entries of all groups.
    pub entries: u64,
    /// Bytes of entries that wait for the writer.
    pub waiting_bytes: u64,
    /// Groups.
    pub groups: u64,
    /// Flushes since it was opened.
    pub flushes: u64,
    /// Records written since it was opened.
    pub records: u64,
    /// Entries carried forward since it was opened.
    pub carried: u64,
    /// Why it takes nothing any more.
    pub failed: Option<String>,
}

impl Journal {
    /// Begins the journal of a node that never had one, or whose last one was set aside.
    ///
    /// # Errors
    /// [`Error::JournalExists`], [`Error::JournalInUse`], [`Error::JournalIo`].
    pub fn create(disk: Arc<dyn Disk>, folder: &Path, id: JournalId, sizes: Sizes) -> Result<Self> {
        let (shared, keeper, taken) = created(disk, folder, id, sizes)?;
        Self::start(shared, keeper, taken)
    }

    /// Opens the journal that a node had when it ran before. That there is none is [`Recovered::Retired`] as well.
    ///
    /// # Errors
    /// [`Error::JournalInUse`], [`Error::JournalVersion`], [`Error::JournalIo`] when the disk cannot be read or written now; nothing is
    /// said then of what it holds.
    pub fn open(disk: Arc<dyn Disk>, folder: &Path, sizes: Sizes) -> Result<Recovered> {
        match opened(disk, folder, sizes)? {
            Ok((shared, keeper, taken)) => Self::start(shared, keeper, taken).map(Recovered::Ready),
            Err(retired) => Ok(Recovered::Retired(retired)),
        }
    }

    /// Moves a retired journal out of the way, kept for whoever wants to know, and gives its new path. Nothing is deleted.
    ///
    /// # Errors
    /// [`Error::JournalIo`].
    pub fn set_aside(disk: &dyn Disk, folder: &Path) -> Result<PathBuf> {
        let parent = folder.parent().unwrap_or(Path::new(""));
        let name = folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let fail = |error| Error::journal("set aside", folder, error);
        let there = disk.list(parent).map_err(fail)?;
        let free =
            (1_u64..).map(|count| format!("{name}.retired-{count}")).find(|name| !there.contains(name));
        let aside = parent.join(free.unwrap_or_default());
        disk.rename(folder, &aside).and_then(|()| disk.sync_folder(parent)).map_err(fail)?;
        Ok(aside)
    }

    fn start(shared: Arc<Shared>, mut keeper: Keeper, taken: Box<dyn Send + Sync>) -> Result<Self> {
        let folder = shared.folder.clone();
        let thread = std::thread::Builder::new().name("journal".into()).spawn(move || keeper.run());
        let thread = thread.map_err(|error| Error::journal("start the writer of", &folder, error))?;
        Ok(Self::of(shared, Some(thread), taken))
    }

    /// The journal with this writer; a test writes in its own time and has none.
    pub(super) fn of(
        shared: Arc<Shared>,
        thread: Option<JoinHandle<()>>,
        taken: Box<dyn Send + Sync>,
    ) -> Self {
        let room = Arc::new(Semaphore::new(shared.sizes.waiting_bytes));
        Self { inner: Arc::new(Inner { shared, room, writer: Mutex::new(thread), _taken: taken }) }
    }

    /// Its incarnation. Raft ids belong to it.
    #[must_use]
    pub fn id(&self) -> JournalId {
        self.inner.shared.id
    }

    /// The groups of which it holds anything.
    #[must_use]
    pub fn groups(&self) -> Vec<Group> {
        self.inner.shared.groups.read().keys().copied().collect()
    }

    /// The log of a group; an empty one when the journal holds nothing of it. A group that was removed can be begun again once
    /// its removal is done.
    ///
    /// # Errors
    /// [`Error::JournalGroups`] when there are as many as may be.
    pub fn group(&self, group: Group) -> Result<GroupLog> {
        let mut groups = self.inner.shared.groups.write();
        if let Some(cell) = groups.get(&group) {
            return Ok(GroupLog::new(Arc::clone(&self.inner), Arc::clone(cell)));
        }
        if groups.len() >= self.inner.shared.sizes.groups {
            return Err(Error::JournalGroups(self.inner.shared.sizes.groups));
        }
        let cell = Arc::new(Cell { id: group, state: Mutex::new(State::default()) });
        groups.insert(group, Arc::clone(&cell));
        drop(groups);
        Ok(GroupLog::new(Arc::clone(&self.inner), cell))
    }

    /// Its figures now.
    #[must_use]
    pub fn status(&self) -> Status {
        let (shared, counts) = (&self.inner.shared, &self.inner.shared.counts);
        let free = self.inner.room.available_permits();
        Status {
            bytes: Counts::get(&counts.bytes),
            live_bytes: Counts::get(&counts.live),
            segments: Counts::get(&counts.segments),
            entries: Counts::get(&counts.entries),
            waiting_bytes: shared.sizes.waiting_bytes.saturating_sub(free) as u64,
            groups: shared.groups.read().len() as u64,
            flushes: Counts::get(&counts.flushes),
            records: Counts::get(&counts.records),
            carried: Counts::get(&counts.carried),
            failed: shared.failure.get().map(ToString::to_string),
        }
    }
}

impl fmt::Debug for Journal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Journal").field("id", &self.id()).finish_non_exhaustive()
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.shared.queue.close();
        let writer = self.writer.lock().take();
        // The last handle may have been in the hands of somebody whom the writer told; it ends by itself then.
        let elsewhere = |writer: &JoinHandle<()>| writer.thread().id() != std::thread::current().id();
        if let Some(writer) = writer.filter(elsewhere) {
            // A writer that panicked has told nobody that anything is done.
            let _ = writer.join();
        }
    }
}

/// What a journal consists of before somebody writes.
pub(super) type Parts = (Arc<Shared>, Keeper, Box<dyn Send + Sync>);

pub(super) fn created(disk: Arc<dyn Disk>, folder: &Path, id: JournalId, sizes: Sizes) -> Result<Parts> {
    let fail = |error| Error::journal("create", folder, error);
    disk.make_folder(folder).map_err(fail)?;
    let taken = take(&*disk, folder)?;
    let (there, _) = segment::listed(&*disk, folder).map_err(fail)?;
    if !there.is_empty() {
        return Err(Error::JournalExists(folder.to_path_buf()));
    }
    let mut bytes = Head { journal: id, sequence: 1, oldest: 1 }.write().to_vec();
    let at = bytes.len() as u64;
    record::write(&mut bytes, Place::new(id, 1), at, &Record::own(Kind::Mark, 0, &MARK));
    let file = segment::begin(&*disk, folder, 1, &bytes).map_err(fail)?;
    let segments = VecDeque::from([Segment { sequence: 1, length: bytes.len() as u64, live: 0 }]);
    let found = Found { id, segments, groups: [].into(), file };
    let (shared, keeper) = assembled(disk, folder, sizes, found);
    Ok((shared, keeper, taken))
}

pub(super) fn opened(
    disk: Arc<dyn Disk>,
    folder: &Path,
    sizes: Sizes,
) -> Result<std::result::Result<Parts, Retired>> {
    let missing = match disk.list(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => true,
        listed => listed.map(|_| false).map_err(|error| Error::journal("read the folder", folder, error))?,
    };
    if missing {
        return Ok(Err(Retired { journal: None, why: recover::Why::Missing }));
    }
    let taken = take(&*disk, folder)?;
    match recover::recover(&*disk, folder) {
        Ok(found) => {
            let (shared, keeper) = assembled(disk, folder, sizes, found);
            Ok(Ok((shared, keeper, taken)))
        }
        Err(Stop::Retired(retired)) => Ok(Err(retired)),
        Err(Stop::Error(error)) => Err(error),
    }
}

fn take(disk: &dyn Disk, folder: &Path) -> Result<Box<dyn Send + Sync>> {
    disk.take(folder).map_err(|error| match error.kind() {
        io::ErrorKind::ResourceBusy => Error::JournalInUse(folder.to_path_buf()),
        _ => Error::journal("lock", folder, error),
    })
}

fn assembled(disk: Arc<dyn Disk>, folder: &Path, sizes: Sizes, found: Found) -> (Arc<Shared>, Keeper) {
    let entries = found.groups.values().map(|laid| laid.positions().count() as u64).sum();
    let cells = found
        .groups
        .into_iter()
        .map(|(id, laid)| (id, Arc::new(Cell { id, state: Mutex::new(State::recovered(laid)) })));
    let shared = Arc::new(Shared {
        disk,
        folder: folder.to_path_buf(),
        id: found.id,
        sizes,
        groups: RwLock::new(cells.collect()),
        queue: Queue::default(),
        failure: std::sync::OnceLock::new(),
        counts: Counts::default(),
    });
    Counts::set(&shared.counts.entries, entries);
    let marked = found.segments.back().map_or(0, |last| last.length);
    let keeper = Keeper::new(Arc::clone(&shared), found.segments, found.file, marked);
    (shared, keeper)
}
