//! What the callers and the writer of one journal share: where it is, its groups, what waits, whether it failed, its counts.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use parking_lot::{Condvar, Mutex, RwLock};
use tokio::sync::OwnedSemaphorePermit;

use super::disk::Disk;
use super::group::Cell;
use super::limits::Sizes;
use super::names::{Floor, FloorChange, Group, JournalId, LogId, Vote};

pub(super) struct Shared {
    pub(super) disk: Arc<dyn Disk>,
    pub(super) folder: PathBuf,
    pub(super) id: JournalId,
    pub(super) sizes: Sizes,
    pub(super) groups: RwLock<BTreeMap<Group, Arc<Cell>>>,
    pub(super) queue: Queue,
    pub(super) failure: OnceLock<Failure>,
    pub(super) counts: Counts,
}

/// What happened so far; read by whoever watches.
#[derive(Default)]
pub(super) struct Counts {
    pub(super) bytes: AtomicU64,
    pub(super) live: AtomicU64,
    pub(super) segments: AtomicU64,
    pub(super) entries: AtomicU64,
    pub(super) flushes: AtomicU64,
    pub(super) records: AtomicU64,
    pub(super) carried: AtomicU64,
}

/// Why a journal takes nothing any more. What failed once may have left anything on the disk, so nothing is tried again.
#[derive(Debug, Clone)]
pub(super) struct Failure {
    kind: io::ErrorKind,
    cause: String,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the journal takes nothing more until it is opened again, because writing failed: {}",
            self.cause
        )
    }
}

impl Failure {
    pub(super) fn of(error: &io::Error) -> Self {
        Self { kind: error.kind(), cause: error.to_string() }
    }

    pub(super) fn error(&self) -> io::Error {
        io::Error::new(self.kind, self.to_string())
    }
}

impl Shared {
    /// Bytes of written entries that one group may keep in memory.
    pub(super) fn cache_share(&self) -> usize {
        self.sizes.cache_bytes / self.groups.read().len().max(super::limits::CACHE_SHARES)
    }

    pub(super) fn check(&self) -> io::Result<()> {
        self.failure.get().map_or(Ok(()), |failure| Err(failure.error()))
    }
}

/// What a caller wants written.
pub(super) enum Op {
    Entries(Vec<(LogId, Bytes)>),
    Vote(Vote),
    Committed(Option<LogId>),
    Truncate(Option<LogId>),
    Purge(LogId),
    Floor(Arc<Floor>),
    /// The change, and the floor after it.
    FloorChange(FloorChange, Arc<Floor>),
    Remove,
}

/// Who is told, once, on the writer's thread.
pub(super) type Done = Box<dyn FnOnce(io::Result<()>) + Send>;

/// Something to write for a group.
pub(super) struct Task {
    pub(super) cell: Arc<Cell>,
    pub(super) op: Op,
    pub(super) ticket: u64,
    /// `None` when it need not be flushed.
    pub(super) done: Option<Done>,
    /// The room that it takes among what waits; given back when it is done.
    pub(super) _room: Option<OwnedSemaphorePermit>,
}

impl Task {
    fn bytes(&self) -> usize {
        match &self.op {
            Op::Entries(entries) => entries.iter().map(|(_, payload)| payload.len()).sum(),
            _ => 0,
        }
    }
}

/// What waits for the writer, in the order of the files to be. Each caller pushes while it holds its group's lock, so the order
/// within a group is the order of its state.
#[derive(Default)]
pub(super) struct Queue {
    waiting: Mutex<Waiting>,
    came: Condvar,
}

#[derive(Default)]
struct Waiting {
    tasks: VecDeque<Task>,
    closed: bool,
}

impl Queue {
    pub(super) fn push(&self, task: Task) {
        self.waiting.lock().tasks.push_back(task);
        self.came.notify_one();
    }

    /// Nothing more will come.
    pub(super) fn close(&self) {
        self.waiting.lock().closed = true;
        self.came.notify_one();
    }

    /// The first tasks, up to so many bytes; waits for one where asked to. `None` when it is closed and empty.
    pub(super) fn take(&self, bytes: usize, wait: bool) -> Option<Vec<Task>> {
        let mut waiting = self.waiting.lock();
        while wait && waiting.tasks.is_empty() && !waiting.closed {
            self.came.wait(&mut waiting);
        }
        if waiting.tasks.is_empty() && waiting.closed {
            return None;
        }
        let (mut taken, mut sum) = (Vec::new(), 0);
        while let Some(task) = waiting.tasks.pop_front() {
            sum += task.bytes();
            taken.push(task);
            if sum >= bytes {
                break;
            }
        }
        Some(taken)
    }
}

impl Counts {
    pub(super) fn add(counter: &AtomicU64, amount: u64) {
        counter.fetch_add(amount, Ordering::Relaxed);
    }

    pub(super) fn set(counter: &AtomicU64, value: u64) {
        counter.store(value, Ordering::Relaxed);
    }

    pub(super) fn get(counter: &AtomicU64) -> u64 {
        counter.load(Ordering::Relaxed)
    }
}
