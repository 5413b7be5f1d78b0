//! The state machine as openraft sees it. It never fails for what a vault or a disk does and never waits for either: it reads
//! an entry, checks that it knows it, and appends it to its vault's queue. What the library calls a snapshot is the floor.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::{Stream, StreamExt};
use openraft::entry::RaftEntry;
use openraft::storage::{ApplyResponder, EntryResponder, RaftStateMachine};
use openraft::{EntryPayload, OptionalSend, RaftSnapshotBuilder};
use undercroft_proto::VaultId;

use super::entry::ShardEntry;
use super::replica::Replica;
use super::types::{
    LogId, Membership, Reply, Snapshot, SnapshotMeta, Types, decode, encode, invalid, ours, theirs,
};
use super::{healing, worker};
use crate::journal::{self, Floor};

/// A shard's state machine; clones are the same.
#[derive(Clone)]
pub(super) struct Machine {
    replica: Arc<Replica>,
}

impl Machine {
    pub(super) const fn new(replica: Arc<Replica>) -> Self {
        Self { replica }
    }

    fn apply_one(&self, (entry, responder): EntryResponder<Types>) -> io::Result<()> {
        let at = entry.log_id();
        match entry.payload {
            EntryPayload::Blank => tell_nothing(responder),
            EntryPayload::Membership(membership) => {
                self.replica.note_membership(Membership::new(Some(at), membership));
                tell_nothing(responder);
            }
            EntryPayload::Normal(proposal) => {
                // One that cannot be read stops this replica here: skipping it would make another state.
                let entry = ShardEntry::decode(proposal.as_bytes()).map_err(|error| {
                    tracing::error!(shard = %self.replica.shard, "entry {at} stops the shard on this node: {error}");
                    invalid(error.to_string())
                })?;
                let slot = self.replica.slot_of_entry(entry.vault);
                if slot.push(ours(&at), entry.what, responder) {
                    worker::send(&self.replica, &slot);
                }
                slot.changed();
            }
        }
        self.replica.note_applied(ours(&at));
        Ok(())
    }

    fn floor(&self) -> io::Result<Option<Snapshot>> {
        let Some(floor) = self.replica.log.floor() else { return Ok(None) };
        let meta = SnapshotMeta {
            last_log_id: Some(theirs(floor.log_id)),
            last_membership: decode(&floor.membership)?,
        };
        let vaults: Vec<(VaultId, u64, u64, u64)> =
            floor.vaults.iter().map(|(vault, at)| (*vault, at.term, at.node, at.index)).collect();
        Ok(Some(Snapshot { meta, snapshot: encode(&vaults)?.into() }))
    }
}

fn tell_nothing(responder: Option<ApplyResponder<Types>>) {
    if let Some(responder) = responder {
        responder.send(Reply::default());
    }
}

impl RaftStateMachine<Types> for Machine {
    type SnapshotData = Bytes;
    type SnapshotBuilder = Self;

    async fn applied_state(&mut self) -> io::Result<(Option<LogId>, Membership)> {
        let applied = *self.replica.applied.borrow();
        Ok((applied.map(theirs), self.replica.membership_at(applied.map_or(0, |at| at.index))))
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

    /// Fetches a copy of each vault that is behind the floor. The applied state moves when all of them are durable.
    async fn install_snapshot(&mut self, meta: &SnapshotMeta, snapshot: Bytes) -> io::Result<()> {
        let last = meta.last_log_id.as_ref().ok_or_else(|| invalid("a floor without a place in the log"))?;
        let vaults: Vec<(VaultId, u64, u64, u64)> = decode(&snapshot)?;
        let vaults: BTreeMap<VaultId, journal::LogId> = vaults
            .into_iter()
            .map(|(vault, term, node, index)| (vault, journal::LogId::new(term, node, index)))
            .collect();
        // Whom to ask is written in what arrived: this replica may never have been told before.
        self.replica.note_membership(meta.last_membership.clone());
        let floor = Floor { log_id: ours(last), membership: encode(&meta.last_membership)?.into(), vaults };
        healing::reach(&self.replica, &floor).await?;
        self.replica.take_floor(floor, meta.last_membership.clone()).await
    }

    async fn get_current_snapshot(&mut self) -> io::Result<Option<Snapshot>> {
        self.floor()
    }
}

impl RaftSnapshotBuilder<Types> for Machine {
    type SnapshotData = Bytes;

    async fn build_snapshot(&mut self) -> io::Result<Snapshot> {
        self.floor()?.ok_or_else(|| invalid("the shard has no floor yet"))
    }
}
