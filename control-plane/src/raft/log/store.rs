//! The log as openraft sees it.

use std::fmt::Debug;
use std::fs::File;
use std::io;
use std::ops::RangeBounds;
use std::path::Path;
use std::sync::{Arc, Weak};

use openraft::storage::{IOFlushed, RaftLogStorage};
use openraft::{LogState, OptionalSend, RaftLogReader};
use parking_lot::RwLock;
use tokio::sync::oneshot;
use undercroft_proto::MemberId;

use super::files;
use super::record::Record;
use super::recover::recover;
use super::view::View;
use super::writer::{Done, Task, Writer};
use crate::Error;
use crate::raft::types::{Entry, LogId, Types, Vote};
use crate::raft::{Disk, folder};

/// The log of one member. Clones are the same log.
#[derive(Clone)]
pub struct LogStore {
    inner: Arc<Inner>,
}

struct Inner {
    view: RwLock<View>,
    writer: Writer,
    /// Keeps other processes out of the folder.
    _lock: File,
    /// Goes behind the lock, as fields go in their order.
    held: Arc<()>,
}

/// Tells whether anybody still has a log, without having it.
pub(crate) struct LogHeld(Weak<()>);

impl LogHeld {
    /// Whether somebody does, and so nobody else can open it.
    pub(crate) fn is_held(&self) -> bool {
        self.0.strong_count() > 0
    }
}

impl LogStore {
    /// Tells later whether this log was let go.
    pub(crate) fn held(&self) -> LogHeld {
        LogHeld(Arc::downgrade(&self.inner.held))
    }

    /// Begins the log of a new member.
    ///
    /// # Errors
    /// [`Error::LogExists`] when there is one, [`Error::Io`].
    pub fn create(folder: &Path, member: MemberId, disk: Arc<dyn Disk>) -> Result<Self, Error> {
        folder::make(folder).map_err(|error| Error::io("create", folder, error))?;
        let lock = folder::take(folder).map_err(|error| Error::io("lock", folder, error))?;
        let there = files::listed(folder).map_err(|error| Error::io("read", folder, error))?;
        if !there.is_empty() {
            return Err(Error::LogExists(folder.to_path_buf()));
        }
        let nothing = Record::State { vote: None, committed: None, purged: None, highest: None };
        files::begin(&*disk, folder, (member.get(), 1), &nothing)
            .map_err(|error| Error::io("begin a log in", folder, error))?;
        Self::start(folder, member, (lock, disk))
    }

    /// Opens the log of a member that ran before.
    ///
    /// # Errors
    /// [`Error::LogMissing`], [`Error::LogDamaged`]: acknowledged entries may be gone, and this member must never vote
    /// again under its id. [`Error::Io`].
    pub fn open(folder: &Path, member: MemberId, disk: Arc<dyn Disk>) -> Result<Self, Error> {
        if !folder.is_dir() {
            return Err(Error::LogMissing(folder.to_path_buf()));
        }
        let lock = folder::take(folder).map_err(|error| Error::io("lock", folder, error))?;
        Self::start(folder, member, (lock, disk))
    }

    fn start(folder: &Path, member: MemberId, (lock, disk): (File, Arc<dyn Disk>)) -> Result<Self, Error> {
        let found = recover(folder, member.get())?;
        let view = RwLock::new(found.view.clone());
        let writer = Writer::start(folder.to_path_buf(), member.get(), found, disk);
        let writer = writer.map_err(|error| Error::io("write to", folder, error))?;
        Ok(Self { inner: Arc::new(Inner { view, writer, _lock: lock, held: Arc::default() }) })
    }

    /// Takes records in and hands them to the writer, in one order.
    fn put(&self, records: Vec<Record>, done: Done) -> io::Result<()> {
        let mut view = self.inner.view.write();
        records.iter().try_for_each(|record| view.take(record))?;
        self.inner.writer.write(Task { records, done });
        Ok(())
    }

    /// As [`Self::put`], until it is on disk.
    async fn put_and_wait(&self, record: Record) -> io::Result<()> {
        let (done, flushed) = oneshot::channel();
        self.put(vec![record], Done::Signal(done))?;
        flushed.await.unwrap_or_else(|_| Err(io::ErrorKind::BrokenPipe.into()))
    }
}

impl RaftLogReader<Types> for LogStore {
    async fn try_get_log_entries<RB>(&mut self, range: RB) -> io::Result<Vec<Entry>>
    where
        RB: RangeBounds<u64> + Clone + Debug + OptionalSend,
    {
        Ok(self.inner.view.read().range(range))
    }

    async fn read_vote(&mut self) -> io::Result<Option<Vote>> {
        Ok(self.inner.view.read().vote)
    }
}

impl RaftLogStorage<Types> for LogStore {
    type LogReader = Self;

    async fn get_log_state(&mut self) -> io::Result<LogState<Types>> {
        let view = self.inner.view.read();
        Ok(LogState { last_purged_log_id: view.purged, last_log_id: view.last() })
    }

    async fn get_log_reader(&mut self) -> Self {
        self.clone()
    }

    async fn save_vote(&mut self, vote: &Vote) -> io::Result<()> {
        self.put_and_wait(Record::Vote(*vote)).await
    }

    async fn save_committed(&mut self, committed: Option<LogId>) -> io::Result<()> {
        self.put(vec![Record::Committed(committed)], Done::Nobody)
    }

    async fn read_committed(&mut self) -> io::Result<Option<LogId>> {
        Ok(self.inner.view.read().committed)
    }

    async fn append<I>(&mut self, entries: I, callback: IOFlushed<Types>) -> io::Result<()>
    where
        I: IntoIterator<Item = Entry> + OptionalSend,
        I::IntoIter: OptionalSend,
    {
        let records = entries.into_iter().map(Record::Entry).collect();
        self.put(records, Done::Flushed(callback))
    }

    async fn truncate_after(&mut self, last: Option<LogId>) -> io::Result<()> {
        self.put_and_wait(Record::Truncate(last.map(|log_id| log_id.index))).await
    }

    async fn purge(&mut self, log_id: LogId) -> io::Result<()> {
        self.put_and_wait(Record::Purge(log_id)).await
    }
}
