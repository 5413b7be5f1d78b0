//! A group's log as openraft sees it. Owns the translation of its types; what is durable is `log`'s.

use std::fmt::Debug;
use std::io;
use std::marker::PhantomData;
use std::ops::{Bound, RangeBounds};

use bytes::Bytes;
use futures_util::stream::{self, Stream, StreamExt};
use openraft::alias::{LogIdOf, VoteOf};
use openraft::entry::RaftEntry;
use openraft::impls::leader_id_adv::LeaderId;
use openraft::storage::{IOFlushed, RaftLogStorage};
use openraft::vote::RaftVote;
use openraft::{LogState, OptionalSend, RaftLogReader, RaftTypeConfig};

use super::log::GroupLog;
use super::names::{LogId, Vote};

/// Bytes of entries that are read at once where openraft takes what it gets.
const PIECE: usize = 1 << 20;

/// The types of a group whose log can stand in the journal: how its entries are written. The journal keeps the log id.
pub trait GroupTypes: RaftTypeConfig<NodeId = u64, Term = u64, LeaderId = LeaderId<u64, u64>> {
    /// The payload of an entry.
    ///
    /// # Errors
    /// When it cannot be encoded; the group stops then.
    fn encode(entry: &Self::Entry) -> io::Result<Bytes>;

    /// The entry of a payload.
    ///
    /// # Errors
    /// When it cannot be decoded; the group stops then, and skips nothing.
    fn decode(log_id: LogIdOf<Self>, payload: Bytes) -> io::Result<Self::Entry>;
}

/// The log of one group behind openraft's storage traits. Clones are the same log.
pub struct GroupStore<C> {
    log: GroupLog,
    types: PhantomData<fn() -> C>,
}

impl<C> Clone for GroupStore<C> {
    fn clone(&self) -> Self {
        Self { log: self.log.clone(), types: PhantomData }
    }
}

impl<C: GroupTypes> GroupStore<C> {
    /// The storage of a group.
    #[must_use]
    pub const fn new(log: GroupLog) -> Self {
        Self { log, types: PhantomData }
    }

    /// The log beneath, with the floor.
    #[must_use]
    pub const fn log(&self) -> &GroupLog {
        &self.log
    }

    async fn read(&self, from: u64, to: u64, bytes: usize) -> io::Result<Vec<C::Entry>> {
        let entries = self.log.read_some(from, to, bytes).await?;
        entries.into_iter().map(|(log_id, payload)| C::decode(theirs::<C>(log_id), payload)).collect()
    }
}

fn ours<C: GroupTypes>(log_id: &LogIdOf<C>) -> LogId {
    LogId::new(log_id.leader_id.term, log_id.leader_id.node_id, log_id.index)
}

fn theirs<C: GroupTypes>(log_id: LogId) -> LogIdOf<C> {
    LogIdOf::<C>::new(LeaderId { term: log_id.term, node_id: log_id.node }, log_id.index)
}

/// The range as its first index and the one behind its last.
fn bounds(range: &impl RangeBounds<u64>) -> (u64, u64) {
    let from = match range.start_bound() {
        Bound::Included(from) => *from,
        Bound::Excluded(before) => before.saturating_add(1),
        Bound::Unbounded => 0,
    };
    let to = match range.end_bound() {
        Bound::Included(last) => last.saturating_add(1),
        Bound::Excluded(to) => *to,
        Bound::Unbounded => u64::MAX,
    };
    (from, to)
}

impl<C: GroupTypes> RaftLogReader<C> for GroupStore<C> {
    async fn try_get_log_entries<RB>(&mut self, range: RB) -> io::Result<Vec<C::Entry>>
    where
        RB: RangeBounds<u64> + Clone + Debug + OptionalSend,
    {
        let (from, to) = bounds(&range);
        self.read(from, to, usize::MAX).await
    }

    async fn limited_get_log_entries(&mut self, start: u64, end: u64) -> io::Result<Vec<C::Entry>> {
        self.read(start, end, PIECE).await
    }

    /// In pieces, so that a long replay never holds all of its entries.
    async fn entries_stream<RB>(
        &mut self,
        range: RB,
    ) -> impl Stream<Item = io::Result<C::Entry>> + OptionalSend
    where
        RB: RangeBounds<u64> + Clone + Debug + OptionalSend,
    {
        let (from, to) = bounds(&range);
        let pieces = stream::unfold((self.clone(), from), move |(store, from)| async move {
            let piece = store.read(from, to, PIECE).await;
            let next = match &piece {
                Ok(entries) => entries.last()?.log_id().index + 1,
                // What cannot be read ends the stream.
                Err(_) => to,
            };
            Some((piece, (store, next)))
        });
        pieces
            .flat_map(|piece| match piece {
                Ok(entries) => stream::iter(entries.into_iter().map(Ok).collect::<Vec<_>>()),
                Err(error) => stream::iter(vec![Err(error)]),
            })
            .boxed()
    }

    async fn read_vote(&mut self) -> io::Result<Option<VoteOf<C>>> {
        let vote = self.log.vote();
        Ok(vote.map(|vote| {
            let leader = LeaderId { term: vote.term, node_id: vote.node };
            VoteOf::<C>::from_leader_id(leader, vote.committed)
        }))
    }
}

impl<C: GroupTypes> RaftLogStorage<C> for GroupStore<C> {
    type LogReader = Self;

    async fn get_log_state(&mut self) -> io::Result<LogState<C>> {
        let (purged, last) = self.log.ends();
        Ok(LogState { last_purged_log_id: purged.map(theirs::<C>), last_log_id: last.map(theirs::<C>) })
    }

    async fn get_log_reader(&mut self) -> Self {
        self.clone()
    }

    async fn save_vote(&mut self, vote: &VoteOf<C>) -> io::Result<()> {
        let leader = vote.leader_id();
        let vote = Vote { term: leader.term, node: leader.node_id, committed: vote.is_committed() };
        self.log.save_vote(vote).await
    }

    async fn save_committed(&mut self, committed: Option<LogIdOf<C>>) -> io::Result<()> {
        self.log.save_committed(committed.as_ref().map(ours::<C>))
    }

    async fn read_committed(&mut self) -> io::Result<Option<LogIdOf<C>>> {
        Ok(self.log.committed().map(theirs::<C>))
    }

    async fn append<I>(&mut self, entries: I, callback: IOFlushed<C>) -> io::Result<()>
    where
        I: IntoIterator<Item = C::Entry> + OptionalSend,
        I::IntoIter: OptionalSend,
    {
        let encoded = entries.into_iter().map(|entry| Ok((ours::<C>(&entry.log_id()), C::encode(&entry)?)));
        let encoded = encoded.collect::<io::Result<Vec<_>>>()?;
        self.log.append(encoded, Box::new(move |result| callback.io_completed(result))).await
    }

    async fn truncate_after(&mut self, last: Option<LogIdOf<C>>) -> io::Result<()> {
        self.log.truncate_after(last.as_ref().map(ours::<C>)).await
    }

    async fn purge(&mut self, log_id: LogIdOf<C>) -> io::Result<()> {
        self.log.purge(ours::<C>(&log_id)).await
    }
}
