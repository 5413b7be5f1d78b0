//! The state of this member, shared with whoever reads or watches it.

use std::sync::Arc;

use parking_lot::{RwLock, RwLockWriteGuard};
use tokio::sync::watch;

use super::history::History;
use super::types::{LogId, Membership};
use crate::state::{Batch, Delta, Outcome, State};

/// What is applied, and up to where.
#[derive(Debug, Default)]
pub(super) struct Applied {
    pub(super) state: State,
    pub(super) last: Option<LogId>,
    pub(super) membership: Membership,
}

/// The state of this member. Clones share it.
#[derive(Clone)]
pub struct SharedMap {
    inner: Arc<RwLock<Inner>>,
    versions: watch::Sender<u64>,
}

struct Inner {
    applied: Applied,
    history: History,
}

/// What came after a version of the map.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Since {
    /// Every delta after it, in order; none when it is the newest.
    Deltas(Vec<Arc<Delta>>),
    /// It is too long ago, or there was none: the map must be taken anew.
    Forgotten,
    /// This member has not come as far yet.
    Ahead,
}

impl SharedMap {
    pub(super) fn new(applied: Applied) -> Self {
        let (versions, _) = watch::channel(applied.state.version());
        Self { inner: Arc::new(RwLock::new(Inner { applied, history: History::default() })), versions }
    }

    /// Reads the state. It does not change meanwhile, so take what is needed and go.
    pub fn read<T>(&self, reader: impl FnOnce(&State) -> T) -> T {
        reader(&self.inner.read().applied.state)
    }

    /// The newest version of the map, and a signal each time that there is a newer one.
    #[must_use]
    pub fn versions(&self) -> watch::Receiver<u64> {
        self.versions.subscribe()
    }

    /// What changed after a version. Watchers keep nothing but the version that they have.
    #[must_use]
    pub fn since(&self, version: u64) -> Since {
        let inner = self.inner.read();
        inner.history.since(version, inner.applied.state.version())
    }

    /// Index of the last entry that is applied here; 0 for none.
    #[must_use]
    pub fn index(&self) -> u64 {
        self.inner.read().applied.last.map_or(0, |last| last.index)
    }

    pub(super) fn position(&self) -> (Option<LogId>, Membership) {
        let inner = self.inner.read();
        (inner.applied.last, inner.applied.membership.clone())
    }

    /// The state as bytes, with where it stands.
    pub(super) fn encode(&self) -> Result<(Vec<u8>, Option<LogId>, Membership), crate::Error> {
        let applied = &self.inner.read().applied;
        Ok((applied.state.encode()?, applied.last, applied.membership.clone()))
    }

    /// A map of this state, for tests without a group.
    #[cfg(test)]
    pub(crate) fn of(state: State) -> Self {
        Self::new(Applied { state, ..Applied::default() })
    }

    /// Decides a batch without a group.
    #[cfg(test)]
    pub(crate) fn decide(&self, batch: &Batch) -> Vec<Outcome> {
        self.step(self.inner.write(), batch)
    }

    /// Applies an entry: a batch, or a change of members, or nothing but its place.
    pub(super) fn apply(
        &self,
        at: LogId,
        batch: Option<&Batch>,
        membership: Option<Membership>,
    ) -> Vec<Outcome> {
        let mut inner = self.inner.write();
        inner.applied.last = Some(at);
        if let Some(membership) = membership {
            inner.applied.membership = membership;
        }
        batch.map_or_else(Vec::new, |batch| self.step(inner, batch))
    }

    fn step(&self, mut inner: RwLockWriteGuard<'_, Inner>, batch: &Batch) -> Vec<Outcome> {
        let done = inner.applied.state.apply(batch);
        if let Some(delta) = done.delta {
            let version = delta.version;
            inner.history.push(delta);
            drop(inner);
            self.versions.send_replace(version);
        }
        done.outcomes
    }

    /// Puts another state in the place of this one.
    pub(super) fn replace(&self, with: Applied) {
        let version = with.state.version();
        *self.inner.write() = Inner { applied: with, history: History::default() };
        self.versions.send_replace(version);
    }
}
