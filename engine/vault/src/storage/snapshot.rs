//! Read snapshots: a connection inside a read transaction, registered so that it can be told to go.
//!
//! A snapshot that is held while writes go on keeps the write-ahead log from being cut. The log is bounded
//! (`limits::WAL_BOUND_BYTES`): when it passes the bound, the writer closes the snapshots older than the grace period
//! (past the hard bound, all of them), and their next use answers [`Error::SnapshotExpired`]. Snapshots of other processes cannot be closed from here;
//! each checks for itself, at every use, whether it has become the one that holds the log up.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use rusqlite::{Connection, InterruptHandle};

use super::sqlite;
use crate::error::{Error, Result};
use crate::limits;

/// Connections for reading, and the snapshots handed out on them.
pub(crate) struct Readers {
    dir: PathBuf,
    /// The folder cannot be written: the file is read as one that does not change.
    immutable: bool,
    idle: Mutex<Vec<Connection>>,
    out: Mutex<Vec<Weak<Slot>>>,
}

struct Slot {
    conn: Mutex<Option<Connection>>,
    interrupt: InterruptHandle,
    since: Instant,
    /// Size of the write-ahead log when the snapshot began: a log that was already long is nobody's fault here.
    wal_at_start: u64,
}

/// A consistent view of the vault, until it is dropped or told to go.
pub(crate) struct Snapshot<'a> {
    readers: &'a Readers,
    slot: Arc<Slot>,
}

impl Readers {
    pub(crate) fn new(dir: &Path, immutable: bool) -> Self {
        Self { dir: dir.to_path_buf(), immutable, idle: Mutex::new(Vec::new()), out: Mutex::new(Vec::new()) }
    }

    /// Adds a connection that is already open.
    pub(crate) fn adopt(&self, conn: Connection) {
        let mut idle = self.idle.lock();
        if idle.len() < limits::IDLE_READERS {
            idle.push(conn);
        }
    }

    fn take(&self) -> Result<Connection> {
        let pooled = self.idle.lock().pop();
        pooled.map_or_else(|| self.connect(), Ok)
    }

    /// Opens a connection of its own.
    pub(crate) fn connect(&self) -> Result<Connection> {
        if self.immutable { sqlite::open_immutable(&self.dir) } else { sqlite::open_reader(&self.dir) }
    }

    /// Begins a snapshot of what is committed now.
    pub(crate) fn snapshot(&self) -> Result<Snapshot<'_>> {
        let conn = self.take()?;
        conn.prepare_cached("BEGIN")?.execute([])?;
        // A deferred transaction sees its snapshot from its first read on.
        conn.prepare_cached("SELECT height FROM chain")?.query_row([], |_| Ok(()))?;
        let slot = Arc::new(Slot {
            interrupt: conn.get_interrupt_handle(),
            conn: Mutex::new(Some(conn)),
            since: Instant::now(),
            wal_at_start: sqlite::wal_bytes(&self.dir),
        });
        let mut out = self.out.lock();
        out.retain(|weak| weak.strong_count() > 0);
        out.push(Arc::downgrade(&slot));
        drop(out);
        Ok(Snapshot { readers: self, slot })
    }

    /// Closes every snapshot older than `grace`; a statement that runs on one is interrupted.
    pub(crate) fn expire(&self, grace: Duration) {
        let out: Vec<Arc<Slot>> = self.out.lock().iter().filter_map(Weak::upgrade).collect();
        for slot in out.iter().filter(|slot| slot.since.elapsed() >= grace) {
            match slot.conn.try_lock() {
                // Closing the connection ends its transaction.
                Some(mut held) => drop(held.take()),
                None => slot.interrupt.interrupt(),
            }
        }
    }

    /// Closes idle connections.
    pub(crate) fn clear(&self) {
        self.idle.lock().clear();
    }
}

impl Snapshot<'_> {
    /// Uses the snapshot; at most one page of work at a time, so that it can be told to go in between.
    pub(crate) fn with<T>(&self, work: impl FnOnce(&Connection) -> Result<T>) -> Result<T> {
        let mut held = self.slot.conn.lock();
        if self.overstayed() {
            drop(held.take());
        }
        let conn = held.as_ref().ok_or(Error::SnapshotExpired)?;
        match work(conn) {
            Err(Error::Sqlite(error))
                if error.sqlite_error_code() == Some(rusqlite::ErrorCode::OperationInterrupted) =>
            {
                drop(held.take());
                Err(Error::SnapshotExpired)
            }
            other => other,
        }
    }

    fn overstayed(&self) -> bool {
        let allowed = limits::WAL_BOUND_BYTES.max(self.slot.wal_at_start + limits::WAL_BOUND_BYTES / 2);
        self.slot.since.elapsed() >= limits::SNAPSHOT_GRACE && sqlite::wal_bytes(&self.readers.dir) > allowed
    }
}

impl Drop for Snapshot<'_> {
    fn drop(&mut self) {
        if let Some(conn) = self.slot.conn.lock().take()
            && end(&conn).is_ok()
        {
            self.readers.adopt(conn);
        }
    }
}

/// Ends the read transaction; a prepared statement, since every search ends one.
fn end(conn: &Connection) -> Result<()> {
    conn.prepare_cached("ROLLBACK")?.execute([])?;
    Ok(())
}
