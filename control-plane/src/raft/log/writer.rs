//! The thread that writes the log. Everything that waits is written together and flushed once.
//!
//! After a failure nothing more is written: what a flush that failed has left on disk is unknown, and a second one may claim
//! success for bytes that are gone.

use std::collections::VecDeque;
use std::fs::{self, File};
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

use openraft::entry::RaftEntry;
use openraft::storage::IOFlushed;
use tokio::sync::oneshot;

use super::files::{self, FILE_BYTES};
use super::record::Record;
use super::recover::{Known, Recovered};
use super::view::View;
use crate::raft::types::Types;
use crate::raft::{Disk, folder};

/// Who is told when the records are on disk.
pub(super) enum Done {
    /// Openraft.
    Flushed(IOFlushed<Types>),
    /// A task that waits.
    Signal(oneshot::Sender<io::Result<()>>),
    /// Nobody: it need not be flushed.
    Nobody,
}

/// Records to write.
pub(super) struct Task {
    pub(super) records: Vec<Record>,
    pub(super) done: Done,
}

/// The way to the thread. When it is dropped, what was handed over is written and the thread ends.
pub(super) struct Writer {
    tasks: Option<Sender<Task>>,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    pub(super) fn start(
        folder: PathBuf,
        member: u64,
        found: Recovered,
        disk: Arc<dyn Disk>,
    ) -> io::Result<Self> {
        let mut log = Log::open(folder, member, found, disk)?;
        let (tasks, waiting) = channel();
        let run = move || log.run(&waiting);
        let thread = std::thread::Builder::new().name("control-log".into()).spawn(run)?;
        Ok(Self { tasks: Some(tasks), thread: Some(thread) })
    }

    /// Hands records over, in the order of calls.
    pub(super) fn write(&self, task: Task) {
        if let Some(Err(refused)) = self.tasks.as_ref().map(|tasks| tasks.send(task)) {
            tell(refused.0.done, &Some(io::ErrorKind::BrokenPipe.into()));
        }
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        drop(self.tasks.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn tell(done: Done, failed: &Option<io::Error>) {
    let result =
        || failed.as_ref().map_or(Ok(()), |error| Err(io::Error::new(error.kind(), error.to_string())));
    match done {
        Done::Flushed(callback) => callback.io_completed(result()),
        // Who waited may have gone away.
        Done::Signal(waiting) => drop(waiting.send(result())),
        Done::Nobody => {}
    }
}

struct Log {
    disk: Arc<dyn Disk>,
    folder: PathBuf,
    member: u64,
    /// Vote, committed and purged, as they will be read again. Holds no entries.
    shadow: View,
    files: VecDeque<Known>,
    file: File,
    failed: Option<io::Error>,
}

impl Log {
    fn open(folder: PathBuf, member: u64, found: Recovered, disk: Arc<dyn Disk>) -> io::Result<Self> {
        let Recovered { view, files, .. } = found;
        let Some(last) = files.last() else { return Err(io::ErrorKind::NotFound.into()) };
        let file = File::options().append(true).open(files::path(&folder, last.sequence))?;
        let shadow = view.without_entries();
        Ok(Self { disk, folder, member, shadow, files: files.into(), file, failed: None })
    }

    fn run(&mut self, waiting: &Receiver<Task>) {
        while let Ok(first) = waiting.recv() {
            let tasks: Vec<Task> = std::iter::once(first).chain(waiting.try_iter()).collect();
            if self.failed.is_none() {
                self.failed = self.write(&tasks).err();
            }
            if let Some(error) = &self.failed {
                tracing::error!(%error, "the control group's log cannot be written; this member stops");
            }
            tasks.into_iter().for_each(|task| tell(task.done, &self.failed));
        }
    }

    fn write(&mut self, tasks: &[Task]) -> io::Result<()> {
        if self.files.back().is_some_and(|file| file.length >= FILE_BYTES) {
            self.roll()?;
        }
        let mut bytes = Vec::new();
        let mut highest = None;
        let mut purged = false;
        for record in tasks.iter().flat_map(|task| &task.records) {
            record.write(&mut bytes)?;
            match record {
                Record::Entry(entry) => highest = highest.max(Some(entry.log_id().index)),
                other => {
                    purged |= matches!(other, Record::Purge(_));
                    self.shadow.take(other)?;
                }
            }
        }
        self.disk.write(&mut self.file, &bytes)?;
        self.note(bytes.len(), highest);
        if tasks.iter().any(|task| !matches!(task.done, Done::Nobody)) {
            self.disk.flush(&self.file)?;
            self.mark()?;
        }
        if purged { self.drop_purged() } else { Ok(()) }
    }

    fn note(&mut self, length: usize, highest: Option<u64>) {
        if let Some(file) = self.files.back_mut() {
            file.length += length as u64;
            file.highest = file.highest.max(highest);
        }
    }

    /// Says in the log that everything before was flushed. The mark itself reaches the disk with the next flush: until then
    /// damage to what it covers looks like a torn tail only where a loss of power came with it.
    fn mark(&mut self) -> io::Result<()> {
        let Some(Known { sequence, length, .. }) = self.files.back().copied() else { return Ok(()) };
        let mut bytes = Vec::new();
        Record::Mark { sequence, at: length }.write(&mut bytes)?;
        self.disk.write(&mut self.file, &bytes)?;
        self.note(bytes.len(), None);
        Ok(())
    }

    /// Begins the next file, after the present one is on disk to its end.
    fn roll(&mut self) -> io::Result<()> {
        self.disk.flush(&self.file)?;
        let sequence = self.files.back().map_or(1, |file| file.sequence + 1);
        let View { vote, committed, purged, .. } = self.shadow;
        let highest = self.files.iter().filter_map(|file| file.highest).max();
        let state = Record::State { vote, committed, purged, highest };
        let (file, length) = files::begin(&*self.disk, &self.folder, (self.member, sequence), &state)?;
        self.file = file;
        self.files.push_back(Known { sequence, highest: None, length });
        Ok(())
    }

    /// Removes files, oldest first, of which every entry is purged. What else they say is said again in later ones.
    fn drop_purged(&mut self) -> io::Result<()> {
        let purged = self.shadow.purged.map(|log_id| log_id.index);
        let mut removed = false;
        while self.files.len() > 1 && self.files.front().is_some_and(|file| file.highest <= purged) {
            if let Some(file) = self.files.pop_front() {
                fs::remove_file(files::path(&self.folder, file.sequence))?;
                removed = true;
            }
        }
        if removed { folder::sync(&self.folder) } else { Ok(()) }
    }
}
