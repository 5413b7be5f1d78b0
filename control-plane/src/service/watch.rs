//! The map as a stream: all of it in pieces, then every delta. A watcher costs its version and one message.
//!
//! A whole map is read piece by piece while it changes. What changed in between is told after the last piece, as part of the
//! same version, so a watcher never acts on a mixture; and when too much changed, it begins anew.

use std::collections::VecDeque;
use std::sync::Arc;

use futures_util::stream::{self, Stream};
use tokio::sync::{OwnedSemaphorePermit, watch};
use tonic::Status;
use undercroft_proto::NodeId;
use undercroft_proto::wire::VERSION;
use undercroft_proto::wire::control::{MapChange, WatchReply};

use super::caller::Caller;
use super::convert::{self, Told};
use super::join::belongs;
use crate::keys::GroupKey;
use crate::limits;
use crate::raft::{SharedMap, Since};
use crate::state::{Delta, Key, State};

/// Where a watcher stands.
enum At {
    /// It has this version.
    Version(u64),
    /// It is told the whole map: what came before this key is told, and deltas are missing from `from` on.
    Whole { from: u64, after: Option<Key> },
}

/// Who watches.
pub(super) enum Audience {
    /// A node, which must stay one of the fleet; none in particular where there are no certificates.
    Node(NodeId, Caller),
    /// A router.
    Router,
}

impl Audience {
    /// Whether it may watch, or go on to.
    pub(super) fn may_watch(&self, state: &State) -> Result<(), Status> {
        match self {
            Self::Node(node, caller) if node.get() > 0 || caller.certificate().is_some() => {
                belongs(state, *node, caller)
            }
            Self::Node(..) | Self::Router => Ok(()),
        }
    }
}

/// One watcher.
pub(super) struct Watcher {
    map: SharedMap,
    versions: watch::Receiver<u64>,
    stop: watch::Receiver<bool>,
    audience: Audience,
    told: Told,
    at: At,
    /// Replies of one delta that was too large for one message.
    ready: VecDeque<WatchReply>,
    _place: OwnedSemaphorePermit,
}

impl Watcher {
    /// A watcher that has a version; 0 for none.
    pub(super) fn new(
        map: SharedMap,
        (have, audience, key): (u64, Audience, Arc<GroupKey>),
        stop: watch::Receiver<bool>,
        place: OwnedSemaphorePermit,
    ) -> Self {
        let versions = map.versions();
        let at = if have == 0 { At::Whole { from: 0, after: None } } else { At::Version(have) };
        let told = Told { tenants: matches!(audience, Audience::Router), key };
        Self { map, versions, stop, audience, told, at, ready: VecDeque::new(), _place: place }
    }

    /// The replies, for as long as somebody reads them. Nothing is made ahead.
    pub(super) fn stream(self) -> impl Stream<Item = Result<WatchReply, Status>> + Send {
        stream::unfold(Some(self), |watcher| async move {
            let mut watcher = watcher?;
            let reply = watcher.next().await;
            // After a refusal the stream ends.
            let rest = reply.is_ok().then_some(watcher);
            Some((reply, rest))
        })
    }

    async fn next(&mut self) -> Result<WatchReply, Status> {
        self.map.read(|state| self.audience.may_watch(state))?;
        loop {
            if let Some(reply) = self.ready.pop_front() {
                return Ok(reply);
            }
            match self.at {
                At::Whole { from, after } => {
                    if let Some(reply) = self.piece(from, after) {
                        return Ok(reply);
                    }
                }
                At::Version(have) => self.deltas(have).await?,
            }
        }
    }

    /// The next piece of the whole map; `None` when it was the last and what changed meanwhile is ready, or when it must
    /// begin anew.
    fn piece(&mut self, from: u64, after: Option<Key>) -> Option<WatchReply> {
        let read = |state: &State| (state.version(), state.map_piece(after, limits::WATCH_PIECE));
        let (version, piece) = self.map.read(read);
        let from = if after.is_none() { version } else { from };
        let Some((last, _)) = piece.last() else {
            self.complete(version, from, after.is_none());
            return None;
        };
        self.at = At::Whole { from, after: Some(*last) };
        let changes = piece.iter().filter_map(|(_, change)| convert::change(change, &self.told)).collect();
        Some(self.reply(version, after.is_none(), true, changes))
    }

    /// Every thing was told once: what changed since the first piece ends the version.
    fn complete(&mut self, version: u64, from: u64, reset: bool) {
        match self.map.since(from) {
            Since::Deltas(deltas) => {
                let newest = deltas.last().map_or(version.max(from), |delta| delta.version);
                let end = self.reply(newest, reset, false, Vec::new());
                for delta in &deltas {
                    self.push(delta, true);
                }
                self.ready.push_back(end);
                self.at = At::Version(newest);
            }
            Since::Forgotten | Since::Ahead => self.at = At::Whole { from: 0, after: None },
        }
    }

    /// Waits for what comes after a version.
    async fn deltas(&mut self, have: u64) -> Result<(), Status> {
        self.versions.borrow_and_update();
        match self.map.since(have) {
            Since::Deltas(deltas) if deltas.is_empty() => {
                tokio::select! {
                    changed = self.versions.changed() => changed.map_err(|_| stopping()),
                    _ = self.stop.wait_for(|stop| *stop) => Err(stopping()),
                }
            }
            Since::Deltas(deltas) => {
                // A few at a time: the rest is found again.
                for delta in deltas.iter().take(16) {
                    self.push(delta, false);
                    self.at = At::Version(delta.version);
                }
                Ok(())
            }
            Since::Forgotten => {
                self.at = At::Whole { from: 0, after: None };
                Ok(())
            }
            Since::Ahead => Err(Status::unavailable(format!(
                "this member has not come to version {have} of the map; watch another one, or from 0"
            ))),
        }
    }

    /// A delta in messages within their bound. All but the last are partial; the last as well when `partial`.
    fn push(&mut self, delta: &Arc<Delta>, partial: bool) {
        let mut changes: Vec<MapChange> =
            delta.changes.iter().filter_map(|change| convert::change(change, &self.told)).collect();
        while changes.len() > limits::WATCH_PIECE {
            let rest = changes.split_off(limits::WATCH_PIECE);
            self.ready.push_back(self.reply(delta.version, false, true, changes));
            changes = rest;
        }
        self.ready.push_back(self.reply(delta.version, false, partial, changes));
    }

    fn reply(&self, map_version: u64, reset: bool, partial: bool, changes: Vec<MapChange>) -> WatchReply {
        WatchReply { version: VERSION, map_version, reset, partial, changes }
    }
}

fn stopping() -> Status {
    Status::unavailable("this member stops; watch another one")
}

#[cfg(test)]
#[path = "watch_test.rs"]
mod watch_test;
