//! The state of this member, shared with whoever reads or watches it.

use std::sync::Arc;

use parking_lot::RwLock;
use tokio::sync::broadcast;

use super::types::{LogId, Membership};
use crate::limits;
use crate::state::{Batch, Delta, Outcome, State};

/// What a watcher is told.
#[derive(Debug, Clone)]
pub enum MapEvent {
    /// These changes make the next version.
    Delta(Arc<Delta>),
    /// The map was replaced as a whole: take it anew.
    Replaced,
}

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
    applied: Arc<RwLock<Applied>>,
    events: broadcast::Sender<MapEvent>,
}

/// A map as it was, and every event since.
pub struct Watch<T> {
    /// What the reader took from the state, at the version where the events begin.
    pub taken: T,
    /// The events. One that lags too far gets an error and must watch anew.
    pub events: broadcast::Receiver<MapEvent>,
}

impl SharedMap {
    pub(super) fn new(applied: Applied) -> Self {
        let (events, _) = broadcast::channel(limits::WATCH_EVENTS);
        Self { applied: Arc::new(RwLock::new(applied)), events }
    }

    /// Reads the state. It does not change meanwhile, so take what is needed and go.
    pub fn read<T>(&self, reader: impl FnOnce(&State) -> T) -> T {
        reader(&self.applied.read().state)
    }

    /// Reads the state and watches it from there: no event is missed or told twice.
    pub fn watch<T>(&self, reader: impl FnOnce(&State) -> T) -> Watch<T> {
        let applied = self.applied.read();
        let events = self.events.subscribe();
        Watch { taken: reader(&applied.state), events }
    }

    pub(super) fn position(&self) -> (Option<LogId>, Membership) {
        let applied = self.applied.read();
        (applied.last, applied.membership.clone())
    }

    /// The state as bytes, with where it stands.
    pub(super) fn encode(&self) -> Result<(Vec<u8>, Option<LogId>, Membership), crate::Error> {
        let applied = self.applied.read();
        Ok((applied.state.encode()?, applied.last, applied.membership.clone()))
    }

    /// Applies an entry: a batch, or a change of members, or nothing but its place.
    pub(super) fn apply(
        &self,
        at: LogId,
        batch: Option<&Batch>,
        membership: Option<Membership>,
    ) -> Vec<Outcome> {
        let mut applied = self.applied.write();
        applied.last = Some(at);
        if let Some(membership) = membership {
            applied.membership = membership;
        }
        let Some(batch) = batch else { return Vec::new() };
        let done = applied.state.apply(batch);
        if let Some(delta) = done.delta {
            // Told under the lock, so that events come in the order of versions. Nobody may be watching.
            let _ = self.events.send(MapEvent::Delta(Arc::new(delta)));
        }
        done.outcomes
    }

    /// Puts another state in the place of this one.
    pub(super) fn replace(&self, with: Applied) {
        *self.applied.write() = with;
        let _ = self.events.send(MapEvent::Replaced);
    }
}
