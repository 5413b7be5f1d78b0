//! An open vault in the hands of one request: reads on the bounded pool, writes through the vault's writer.
//!
//! A handle keeps its vault from being closed, deleted or replaced. A request takes one, uses it and lets go; one that
//! takes a second handle of the same vault while somebody waits to close it would wait for itself.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tokio::sync::{OwnedRwLockReadGuard, OwnedSemaphorePermit, mpsc, oneshot};
use undercroft_palace::ErrorClass;
use undercroft_vault::{Outcome, Recovery, Vault, WriteRequest};

use super::cache::State;
use super::crowd::Turn;
use super::lanes::{Lane, LongPlace, blocking, here};
use super::pace::Pace;
use super::shared::Shared;
use super::writer::Job;
use crate::error::{Error, Result};

/// An open vault and what belongs to it.
pub(super) struct Running {
    pub(super) vault: Vault,
    /// Absent when the vault is open read-only.
    writes: Option<mpsc::Sender<Job>>,
    reads: Lane,
    waiting_reads: Lane,
    /// It is no longer what is on the disk under its name, and somebody closes it.
    displaced: AtomicBool,
    /// The number that it is known by among those that are read.
    reader: u64,
    /// What it owes to those beside it.
    pace: Pace,
    /// Height of the audit chain up to which its records were counted.
    counted: AtomicU64,
    /// Records that the anchor lagged when the vault was opened, until somebody was told.
    healed: AtomicU64,
    /// Counts as one of the open vaults.
    _place: OwnedSemaphorePermit,
}

/// One open vault. Cheap to clone; every clone keeps the vault open.
#[derive(Clone)]
pub struct VaultHandle {
    running: Arc<OwnedRwLockReadGuard<State, Running>>,
    shared: Arc<Shared>,
    name: Arc<str>,
}

impl std::fmt::Debug for VaultHandle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("VaultHandle").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Running {
    pub(super) fn new(
        vault: Vault,
        writes: Option<mpsc::Sender<Job>>,
        lanes: (Lane, Lane),
        reader: u64,
        place: OwnedSemaphorePermit,
    ) -> Self {
        let counted = AtomicU64::new(vault.height());
        let healed = match vault.recovery() {
            Recovery::Behind(records) if !vault.is_read_only() => AtomicU64::new(*records),
            _ => AtomicU64::new(0),
        };
        let (reads, waiting_reads) = lanes;
        Self {
            vault,
            writes,
            reads,
            waiting_reads,
            displaced: AtomicBool::new(false),
            reader,
            pace: Pace::default(),
            counted,
            healed,
            _place: place,
        }
    }
}

impl Running {
    /// Whether something was committed that the manifest does not name yet.
    pub(super) fn lags(&self) -> bool {
        !self.vault.is_read_only() && self.vault.manifest().anchor.height.get() < self.vault.height()
    }

    /// Notes that it is displaced; true for the one who notes it first, and who closes it.
    pub(super) fn leave(&self) -> bool {
        !self.displaced.swap(true, Ordering::AcqRel)
    }

    /// Whether it is displaced: nobody gets it any more.
    pub(super) fn has_left(&self) -> bool {
        self.displaced.load(Ordering::Acquire)
    }

    /// Records that the audit chain grew by since the last time that this was asked.
    pub(super) fn growth(&self) -> u64 {
        let height = self.vault.height();
        height.saturating_sub(self.counted.fetch_max(height, Ordering::AcqRel))
    }
}

impl VaultHandle {
    pub(super) fn new(
        running: OwnedRwLockReadGuard<State, Running>,
        shared: Arc<Shared>,
        name: &str,
    ) -> Self {
        Self { running: Arc::new(running), shared, name: name.into() }
    }

    /// The vault's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The height that the vault's audit chain has reached, at least: every write that was acknowledged through this
    /// process is at or below it, and so is what other processes wrote before the last read or write here.
    #[must_use]
    pub fn position(&self) -> u64 {
        self.running.vault.height()
    }

    /// Whether the vault is open read-only.
    #[must_use]
    pub fn is_read_only(&self) -> bool {
        self.running.writes.is_none()
    }

    /// Makes one change. It is committed together with others that wait for the same vault, durably, before this
    /// returns; each has its own result.
    ///
    /// Once accepted it is carried out, whether or not anybody waits for the answer. One under an idempotency key that
    /// waits here already is joined: both are in the vault's order, and the second finds what the first did.
    ///
    /// # Errors
    /// [`Error::VaultBusy`] when too many writes wait; a denial when the vault is read-only; or what the vault says.
    pub async fn write(&self, request: impl Into<WriteRequest>) -> Result<Outcome> {
        let Some(writes) = &self.running.writes else {
            return Err(undercroft_vault::Error::ReadOnly.into());
        };
        let (reply, answer) = oneshot::channel();
        let job = Job { request: request.into(), reply, handle: self.clone() };
        writes.try_send(job).map_err(|error| match error {
            mpsc::error::TrySendError::Full(_) => Error::VaultBusy(self.name.to_string()),
            mpsc::error::TrySendError::Closed(_) => Error::Lost,
        })?;
        answer.await.unwrap_or(Err(Error::Lost))
    }

    /// Reads from the vault, when there is a place for it among all reads. It runs on the calling thread, whose other tasks
    /// go on elsewhere: most reads are over before a thread of their own had woken up. To be called on a runtime of
    /// several threads.
    ///
    /// # Errors
    /// [`Error::VaultBusy`] when too many reads wait, or what `work` says.
    pub async fn read<T, F>(&self, work: F) -> Result<T>
    where
        F: FnOnce(&Vault) -> undercroft_vault::Result<T>,
    {
        let waiting = self.running.waiting_reads.try_enter();
        let _waiting = waiting.ok_or_else(|| Error::VaultBusy(self.name.to_string()))?;
        // First among the vault's own, then among all: a vault with many readers waits for itself.
        let turn = self.turn();
        let _own = self.running.reads.enter_many(turn.places).await?;
        self.pause(turn).await;
        let _place = self.shared.lanes.reads.enter().await?;
        let began = Instant::now();
        let result = here(|| self.judge(work));
        self.worked(turn, began.elapsed());
        result
    }

    /// What a read may take now.
    fn turn(&self) -> Turn {
        let others_wait = self.running.waiting_reads.free() + 1 < self.shared.options.bounds.waiting_reads;
        self.shared.crowd.turn(self.running.reader, others_wait)
    }

    /// Makes the pause that this vault owes to those beside it.
    pub(super) async fn pause(&self, turn: Turn) {
        if !turn.paced {
            return self.running.pace.forgive();
        }
        if let Some(pause) = self.running.pace.due() {
            tokio::time::sleep(pause).await;
        }
    }

    /// Notes what this vault took beside others.
    pub(super) fn worked(&self, turn: Turn, took: Duration) {
        if turn.paced {
            self.running.pace.owe(took);
        }
    }

    /// What a group of writes may take now.
    pub(super) fn turn_to_write(&self, others_wait: bool) -> Turn {
        self.shared.crowd.turn(self.running.reader, others_wait)
    }

    /// Does long work with the vault (verify, repair), in a place that was taken for it before this handle was: on a lane of
    /// its own, so that reads go on.
    ///
    /// # Errors
    /// What `work` says.
    pub async fn work<T, F>(&self, place: LongPlace, work: F) -> Result<T>
    where
        T: Send + 'static,
        F: FnOnce(&Vault) -> undercroft_vault::Result<T> + Send + 'static,
    {
        self.run(place, work).await
    }

    /// The vault was verified and nothing was found: it is not named as damaged any more.
    pub fn is_whole(&self) {
        self.shared.health.clear(&self.name);
    }

    /// The vault was verified, and this many of its records failed their checks; none of them is needed for it to have
    /// failed as a whole.
    pub fn was_verified(&self, ok: bool, failed: usize) {
        if ok {
            return self.is_whole();
        }
        self.shared.counts.failed_drawers(failed as u64);
        self.shared.health.note(&self.name, String::from("integrity: its verification failed"));
    }

    /// Records that the manifest lagged when this vault was opened and that opening it healed. Told once.
    #[must_use]
    pub fn take_healed_lag(&self) -> u64 {
        self.running.healed.swap(0, Ordering::AcqRel)
    }

    /// Brings the position up to what other processes have committed.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub async fn catch_up(&self) -> Result<()> {
        self.read(|vault| vault.history(None, 1, 0).map(drop)).await
    }

    /// The permit and a clone of the handle live as long as the work, even when the request is given up.
    async fn run<T, F, P>(&self, permit: P, work: F) -> Result<T>
    where
        T: Send + 'static,
        F: FnOnce(&Vault) -> undercroft_vault::Result<T> + Send + 'static,
        P: Send + 'static,
    {
        let handle = self.clone();
        blocking(move || {
            let result = handle.judge(work);
            drop(permit);
            result
        })
        .await
    }

    fn judge<T>(&self, work: impl FnOnce(&Vault) -> undercroft_vault::Result<T>) -> Result<T> {
        let result = work(&self.running.vault).map_err(|error| self.judged(error.into()));
        self.count_growth();
        result
    }

    pub(super) fn vault(&self) -> &Vault {
        &self.running.vault
    }

    pub(super) fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    /// Counts the records that the audit chain grew by.
    pub(super) fn count_growth(&self) {
        self.shared.counts.chained(self.running.growth());
    }

    /// Notes a verdict on the vault's bytes on its way out. A vault that is no longer what lies under its name is closed,
    /// so that the next request opens what does; what its old files say is no verdict on anything.
    pub(crate) fn judged(&self, error: Error) -> Error {
        if self.running.vault.is_in_place() {
            self.shared.judge(&self.name, &error);
            return error;
        }
        if self.running.leave() {
            self.shared.close_displaced(&self.name);
        }
        match error.class() {
            // Of a change whose fate is not known, that is the word.
            _ if matches!(error, Error::Lost) => error,
            ErrorClass::Internal | ErrorClass::Integrity | ErrorClass::Unavailable => {
                Error::Displaced(self.name.to_string())
            }
            _ => error,
        }
    }
}
