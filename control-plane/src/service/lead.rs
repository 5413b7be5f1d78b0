//! What only the leader of the control group has: what it saw of the nodes, and its turn at things that one must do at a time.

use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::{Mutex as Turn, MutexGuard};
use undercroft_proto::NodeId;

use crate::plan::{Contact, Observed};

/// Shared by the services of a member and its loop. Empty while it does not lead.
#[derive(Clone, Default)]
pub struct Lead(Arc<Inner>);

#[derive(Default)]
struct Inner {
    observed: Mutex<Option<Observed>>,
    turn: Turn<()>,
}

impl Lead {
    /// The member begins to lead, at this time: nothing is seen yet.
    pub fn begin(&self, now: u64) {
        *self.0.observed.lock() = Some(Observed::new(now));
    }

    /// The member does not lead any more. What it saw is void.
    pub fn end(&self) {
        *self.0.observed.lock() = None;
    }

    /// Whether the member leads and has begun to.
    #[must_use]
    pub fn leads(&self) -> bool {
        self.0.observed.lock().is_some()
    }

    /// A node was heard. Whether anybody listens.
    #[must_use]
    pub fn heard(&self, node: NodeId, contact: Contact) -> bool {
        self.0.observed.lock().as_mut().map(|observed| observed.heard(node, contact)).is_some()
    }

    /// A router said which map it acts on. Whether anybody listens.
    #[must_use]
    pub fn heard_router(&self, router: String, map_version: u64, now: u64) -> bool {
        let mut observed = self.0.observed.lock();
        observed.as_mut().map(|observed| observed.heard_router(router, map_version, now)).is_some()
    }

    /// Looks at what was seen, and forgets nodes that are gone. `None` while it does not lead.
    pub fn look<T>(&self, there: impl Fn(NodeId) -> bool, look: impl FnOnce(&Observed) -> T) -> Option<T> {
        let mut observed = self.0.observed.lock();
        let observed = observed.as_mut()?;
        observed.keep(there);
        Some(look(observed))
    }

    /// How long a node has been silent, in milliseconds. `None` while it does not lead.
    #[must_use]
    pub fn silent_ms(&self, node: NodeId, now: u64) -> Option<u64> {
        self.0.observed.lock().as_ref().map(|observed| observed.silent_ms(node, now))
    }

    /// Waits for the turn to do what must be done one after another.
    pub(super) async fn turn(&self) -> MutexGuard<'_, ()> {
        self.0.turn.lock().await
    }
}
