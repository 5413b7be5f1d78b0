//! Where blocking work runs: a bounded number of threads for each kind, so that long works, commits and openings do not
//! take the threads of reads. Owns the permits, not the work.
//!
//! Long works have one order, and nobody may leave it: the turn of their vault, a place among all, and only then the vault
//! itself. Whoever waits for one of them holds nothing that comes later, so nobody waits in a circle.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Weak};

use parking_lot::Mutex;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::bounds::Bounds;
use crate::error::{Error, Result};
use crate::limits;

/// One kind of work.
#[derive(Debug, Clone)]
pub(super) struct Lane(Arc<Semaphore>);

impl Lane {
    pub(super) fn new(at_once: usize) -> Self {
        Self(Arc::new(Semaphore::new(at_once)))
    }

    /// Waits for a place, first come first served.
    pub(super) async fn enter(&self) -> Result<OwnedSemaphorePermit> {
        // No lane is ever closed.
        self.0.clone().acquire_owned().await.map_err(|_| Error::Draining)
    }

    /// Waits for several places at once.
    pub(super) async fn enter_many(&self, places: u32) -> Result<OwnedSemaphorePermit> {
        self.0.clone().acquire_many_owned(places).await.map_err(|_| Error::Draining)
    }

    /// A place, if one is free.
    pub(super) fn try_enter(&self) -> Option<OwnedSemaphorePermit> {
        self.0.clone().try_acquire_owned().ok()
    }

    /// Places that are free.
    pub(super) fn free(&self) -> usize {
        self.0.available_permits()
    }
}

/// The lanes that all vaults share.
#[derive(Debug, Clone)]
pub(super) struct Lanes {
    pub(super) reads: Lane,
    pub(super) commits: Lane,
    pub(super) openings: Lane,
    long: Lane,
    long_waiting: Lane,
    turns: Arc<Mutex<HashMap<String, Weak<Turns>>>>,
}

/// The long works of one vault, while there are any.
#[derive(Debug)]
struct Turns {
    /// Those that run or wait.
    all: Lane,
    /// The one that runs: the other places are for other vaults.
    running: Lane,
}

/// The turn of one vault's long works: while somebody has it, no other long work of the vault runs or has it open.
#[derive(Debug)]
pub(super) struct LongTurn {
    _running: OwnedSemaphorePermit,
    _all: OwnedSemaphorePermit,
    _turns: Arc<Turns>,
}

/// A place for one long work on one vault. To be taken before the vault is.
#[derive(Debug)]
pub struct LongPlace {
    _place: OwnedSemaphorePermit,
    _turn: LongTurn,
    _waiting: OwnedSemaphorePermit,
}

impl Lanes {
    pub(super) fn new(bounds: &Bounds) -> Self {
        Self {
            reads: Lane::new(bounds.reads),
            commits: Lane::new(limits::COMMITS),
            openings: Lane::new(limits::OPENINGS),
            long: Lane::new(limits::LONG_WORKS),
            long_waiting: Lane::new(limits::LONG_WORKS + limits::WAITING_LONG_WORKS),
            turns: Arc::default(),
        }
    }

    /// Waits for a place among the long works of the vault `name` and then among all, unless too many wait.
    pub(super) async fn long(&self, name: &str) -> Result<LongPlace> {
        let turns = self.turns_of(name);
        let all = turns.all.try_enter().ok_or_else(|| Error::VaultBusy(name.to_owned()))?;
        let waiting = self
            .long_waiting
            .try_enter()
            .ok_or(Error::Busy("as many verifications, repairs and copies waiting as are accepted"))?;
        let turn = LongTurn { _running: turns.running.enter().await?, _all: all, _turns: turns };
        Ok(LongPlace { _place: self.long.enter().await?, _turn: turn, _waiting: waiting })
    }

    /// Waits until no long work of the vault `name` runs, unless too many wait for that.
    pub(super) async fn turn(&self, name: &str) -> Result<LongTurn> {
        let turns = self.turns_of(name);
        let all = turns.all.try_enter().ok_or_else(|| Error::VaultBusy(name.to_owned()))?;
        Ok(LongTurn { _running: turns.running.enter().await?, _all: all, _turns: turns })
    }

    /// Long works of the vault `name` that run or wait.
    #[cfg(test)]
    pub(super) fn long_works_of(&self, name: &str) -> usize {
        limits::LONG_WORKS_PER_VAULT - self.turns_of(name).all.free()
    }

    /// The turns of one vault. What nobody holds any more is forgotten.
    fn turns_of(&self, name: &str) -> Arc<Turns> {
        let mut known = self.turns.lock();
        if let Some(turns) = known.get(name).and_then(Weak::upgrade) {
            return turns;
        }
        known.retain(|_, turns| turns.strong_count() > 0);
        let all = Lane::new(limits::LONG_WORKS_PER_VAULT);
        let turns = Arc::new(Turns { all, running: Lane::new(limits::LONG_WORKS_RUNNING_PER_VAULT) });
        known.insert(name.to_owned(), Arc::downgrade(&turns));
        turns
    }
}

/// Runs short blocking work on the calling thread, whose other tasks move to another one meanwhile.
pub(super) fn here<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    tokio::task::block_in_place(|| {
        // What a panic leaves half done is behind locks that do not poison, and in transactions that roll back.
        catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| {
            tracing::error!(panicked = true, "blocking work ended without an answer");
            Err(Error::Lost)
        })
    })
}

/// Runs blocking work on a thread of its own. It runs to its end even when nobody waits for it any more.
pub(super) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result,
        Err(error) => {
            tracing::error!(panicked = error.is_panic(), "blocking work ended without an answer");
            Err(Error::Lost)
        }
    }
}
