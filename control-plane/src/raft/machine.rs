//! The state machine as openraft sees it: entries in, outcomes out, snapshots.

use std::io;
use std::path::Path;
use std::sync::Arc;

use futures_util::{Stream, StreamExt};
use openraft::entry::RaftEntry;
use openraft::storage::{EntryResponder, RaftStateMachine};
use openraft::{EntryPayload, OptionalSend, RaftSnapshotBuilder};

use super::Disk;
use super::codec::invalid;
use super::map::{Applied, SharedMap};
use super::snapshots::Snapshots;
use super::types::{LogId, Membership, Reply, Snapshot, SnapshotData, SnapshotMeta, Types};
use crate::Error;
use crate::state::State;

/// The state of a member and its snapshots.
#[derive(Clone)]
pub struct Machine {
    map: SharedMap,
    snapshots: Snapshots,
}

impl Machine {
    /// The state as the newest snapshot in the folder has it; openraft applies the rest of the log again.
    ///
    /// # Errors
    /// [`Error::SnapshotDamaged`], [`Error::Version`], [`Error::Invariant`], [`Error::Io`].
    pub fn open(folder: &Path, disk: Arc<dyn Disk>) -> Result<Self, Error> {
        let snapshots = Snapshots::open(folder, disk)?;
        let applied =
            snapshots.load()?.map(|snapshot| unpack(&snapshot.meta, &snapshot.snapshot)).transpose()?;
        Ok(Self { map: SharedMap::new(applied.unwrap_or_default()), snapshots })
    }

    /// The state, to read and to watch.
    #[must_use]
    pub fn map(&self) -> SharedMap {
        self.map.clone()
    }

    fn apply_one(&self, (entry, responder): EntryResponder<Types>) -> io::Result<()> {
        let at = entry.log_id();
        let outcomes = match &entry.payload {
            EntryPayload::Blank => self.map.apply(at, None, None),
            EntryPayload::Normal(proposal) => {
                // One that cannot be read stops this member here, for good: skipping it would make another state.
                let batch = proposal.batch().map_err(|error| invalid(error.to_string()))?;
                self.map.apply(at, Some(&batch), None)
            }
            EntryPayload::Membership(membership) => {
                self.map.apply(at, None, Some(Membership::new(Some(at), membership.clone())))
            }
        };
        if let Some(responder) = responder {
            responder.send(Reply(outcomes));
        }
        Ok(())
    }
}

fn unpack(meta: &SnapshotMeta, state: &[u8]) -> Result<Applied, Error> {
    let state = State::decode(state)?;
    Ok(Applied { state, last: meta.last_log_id, membership: meta.last_membership.clone() })
}

/// Runs what waits for the disk or counts for long away from the threads that serve.
async fn aside<T: Send + 'static>(work: impl FnOnce() -> io::Result<T> + Send + 'static) -> io::Result<T> {
    tokio::task::spawn_blocking(work).await.map_err(io::Error::other)?
}

impl RaftStateMachine<Types> for Machine {
    type SnapshotData = SnapshotData;
    type SnapshotBuilder = Self;

    async fn applied_state(&mut self) -> io::Result<(Option<LogId>, Membership)> {
        Ok(self.map.position())
    }

    async fn apply<Strm>(&mut self, mut entries: Strm) -> io::Result<()>
    where
        Strm: Stream<Item = io::Result<EntryResponder<Types>>> + Unpin + OptionalSend,
    {
        while let Some(entry) = entries.next().await {
            self.apply_one(entry?)?;
        }
        Ok(())
    }

    async fn get_snapshot_builder(&mut self) -> Self {
        self.clone()
    }

    async fn install_snapshot(&mut self, meta: &SnapshotMeta, snapshot: SnapshotData) -> io::Result<()> {
        let (map, snapshots, meta) = (self.map.clone(), self.snapshots.clone(), meta.clone());
        // Read before it is kept: one that cannot be used must not replace one that can.
        aside(move || {
            let applied = unpack(&meta, &snapshot).map_err(|error| invalid(error.to_string()))?;
            snapshots.save(&meta, &snapshot)?;
            map.replace(applied);
            Ok(())
        })
        .await
    }

    async fn get_current_snapshot(&mut self) -> io::Result<Option<Snapshot>> {
        let snapshots = self.snapshots.clone();
        aside(move || snapshots.load().map_err(|error| invalid(error.to_string()))).await
    }
}

impl RaftSnapshotBuilder<Types> for Machine {
    type SnapshotData = SnapshotData;

    async fn build_snapshot(&mut self) -> io::Result<Snapshot> {
        let (map, snapshots) = (self.map.clone(), self.snapshots.clone());
        aside(move || {
            let encoded = map.encode().map_err(|error| invalid(error.to_string()))?;
            let (state, last_log_id, last_membership) = encoded;
            let meta = SnapshotMeta { last_log_id, last_membership };
            snapshots.save(&meta, &state)?;
            Ok(Snapshot { meta, snapshot: Arc::from(state) })
        })
        .await
    }
}
