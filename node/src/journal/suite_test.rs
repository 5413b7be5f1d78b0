//! openraft's own suite against one group, while other groups of the same journal write all the time.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use futures_util::{Stream, StreamExt};
use openraft::alias::{LogIdOf, SnapshotMetaOf, SnapshotOf};
use openraft::entry::RaftEntry;
use openraft::storage::{EntryResponder, RaftStateMachine};
use openraft::testing::log::{StoreBuilder, Suite};
use openraft::{BasicNode, EntryPayload, OptionalSend, RaftSnapshotBuilder, StorageError, StoredMembership};
use parking_lot::Mutex;
use tokio::task::JoinHandle;

use super::{Group, GroupLog, GroupStore, GroupTypes, Journal, JournalId, LogId, Sizes, SystemDisk};

openraft::declare_raft_types!(
    /// Types of a group that keeps strings.
    Types:
        D = String,
        R = (),
        NodeId = u64,
        Node = BasicNode,
);

type Entry = openraft::alias::EntryOf<Types>;
type Membership = StoredMembership<openraft::alias::CommittedLeaderIdOf<Types>, u64, BasicNode>;

impl GroupTypes for Types {
    fn encode(entry: &Entry) -> io::Result<Bytes> {
        serde_json::to_vec(&entry.payload).map(Bytes::from).map_err(io::Error::other)
    }

    fn decode(log_id: LogIdOf<Self>, payload: Bytes) -> io::Result<Entry> {
        let payload: EntryPayload<String, u64, BasicNode> =
            serde_json::from_slice(&payload).map_err(io::Error::other)?;
        Ok(<Entry as RaftEntry>::new(log_id, payload))
    }
}

/// A machine that keeps where it is and nothing else.
#[derive(Clone, Default)]
struct Machine {
    last: Option<LogIdOf<Types>>,
    membership: Membership,
    snapshot: Arc<Mutex<Option<SnapshotMetaOf<Types>>>>,
}

impl RaftStateMachine<Types> for Machine {
    type SnapshotData = Vec<u8>;
    type SnapshotBuilder = Self;

    async fn applied_state(&mut self) -> io::Result<(Option<LogIdOf<Types>>, Membership)> {
        Ok((self.last, self.membership.clone()))
    }

    async fn apply<Strm>(&mut self, mut entries: Strm) -> io::Result<()>
    where
        Strm: Stream<Item = io::Result<EntryResponder<Types>>> + Unpin + OptionalSend,
    {
        while let Some(entry) = entries.next().await {
            let (entry, responder) = entry?;
            self.last = Some(entry.log_id);
            if let EntryPayload::Membership(membership) = entry.payload {
                self.membership = Membership::new(self.last, membership);
            }
            if let Some(responder) = responder {
                responder.send(());
            }
        }
        Ok(())
    }

    async fn get_snapshot_builder(&mut self) -> Self {
        self.clone()
    }

    async fn install_snapshot(&mut self, meta: &SnapshotMetaOf<Types>, _: Vec<u8>) -> io::Result<()> {
        (self.last, self.membership) = (meta.last_log_id, meta.last_membership.clone());
        *self.snapshot.lock() = Some(meta.clone());
        Ok(())
    }

    async fn get_current_snapshot(&mut self) -> io::Result<Option<SnapshotOf<Types, Vec<u8>>>> {
        let snapshot = self.snapshot.lock().clone();
        Ok(snapshot.map(|meta| SnapshotOf::<Types, Vec<u8>> { meta, snapshot: Vec::new() }))
    }
}

impl RaftSnapshotBuilder<Types> for Machine {
    type SnapshotData = Vec<u8>;

    async fn build_snapshot(&mut self) -> io::Result<SnapshotOf<Types, Vec<u8>>> {
        let meta =
            SnapshotMetaOf::<Types> { last_log_id: self.last, last_membership: self.membership.clone() };
        *self.snapshot.lock() = Some(meta.clone());
        Ok(SnapshotOf::<Types, Vec<u8>> { meta, snapshot: Vec::new() })
    }
}

/// Each store of the suite is one more group of the same journal.
struct Builder {
    journal: Journal,
    next: AtomicU64,
}

impl StoreBuilder<Types, GroupStore<Types>, Machine, ()> for Builder {
    async fn build(&self) -> Result<((), GroupStore<Types>, Machine), StorageError<Types>> {
        let group = Group::new(self.next.fetch_add(1, Ordering::Relaxed));
        let log = self.journal.group(group).expect("a group");
        Ok(((), GroupStore::new(log), Machine::default()))
    }
}

/// Appends and purges until it is told to end; gives what it appended.
async fn make_noise(log: GroupLog, end: Arc<AtomicU64>) -> u64 {
    let mut index = 0_u64;
    while end.load(Ordering::Relaxed) == 0 {
        let payload = Bytes::from(index.to_le_bytes().repeat(20));
        let (tell, told) = tokio::sync::oneshot::channel();
        let done = Box::new(move |result: io::Result<()>| drop(tell.send(result)));
        log.append(vec![(LogId::new(1, 1, index), payload)], done).await.expect("appended");
        told.await.expect("told").expect("written");
        if index % 50 == 49 {
            log.purge(LogId::new(1, 1, index - 25)).await.expect("purged");
        }
        index += 1;
    }
    index
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_storage_passes_the_suite_of_the_library_while_other_groups_write() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("journal");
    let sizes = Sizes { segment_bytes: 64 << 10, cache_bytes: 64 << 10, ..Sizes::default() };
    let journal = Journal::create(Arc::new(SystemDisk), &path, JournalId::from_bytes([1; 16]), sizes);
    let journal = journal.expect("a journal");
    let end = Arc::new(AtomicU64::new(0));
    let noise: Vec<JoinHandle<u64>> = (1..=3)
        .map(|group| {
            let log = journal.group(Group::new(group)).expect("a group");
            tokio::spawn(make_noise(log, Arc::clone(&end)))
        })
        .collect();
    Suite::test_all(Builder { journal: journal.clone(), next: AtomicU64::new(100) })
        .await
        .expect("the suite");
    end.store(1, Ordering::Relaxed);
    for (group, noise) in (1..=3).zip(noise) {
        let count = noise.await.expect("it ends");
        let log = journal.group(Group::new(group)).expect("a group");
        let entries = log.read(0, u64::MAX).await.expect("entries");
        assert!(count > 20 && entries.last().is_some_and(|(log_id, _)| log_id.index + 1 == count));
        assert!(entries.iter().all(|(log_id, payload)| *payload == log_id.index.to_le_bytes().repeat(20)));
    }
    let status = journal.status();
    assert_eq!(status.failed, None);
    assert!(status.segments < 30, "{status:?}");
}
