//! Where blocking work runs: a bounded number of threads for each kind, so that long works, commits and openings do not
//! take the threads of reads. Owns the permits, not the work.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

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
}

impl Lanes {
    pub(super) fn new(bounds: &Bounds) -> Self {
        Self {
            reads: Lane::new(bounds.reads),
            commits: Lane::new(limits::COMMITS),
            openings: Lane::new(limits::OPENINGS),
            long: Lane::new(limits::LONG_WORKS),
            long_waiting: Lane::new(limits::LONG_WORKS + limits::WAITING_LONG_WORKS),
        }
    }

    /// Waits for a place among the long works, unless too many wait.
    pub(super) async fn long(&self) -> Result<(OwnedSemaphorePermit, OwnedSemaphorePermit)> {
        let waiting = self
            .long_waiting
            .try_enter()
            .ok_or(Error::Busy("as many verifications, repairs and copies waiting as are accepted"))?;
        Ok((waiting, self.long.enter().await?))
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
