//! The log of one group in the journal, in bytes: what openraft's storage stands on, and the floor.
//!
//! What is asked for is readable at once and durable when the caller is told. Within a group, callers see their own order.

use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use bytes::Bytes;
use tokio::sync::{OwnedSemaphorePermit, oneshot};

use super::body::Standing;
use super::group::{Cell, State, refused};
use super::journal::Inner;
use super::limits::RECORD_BYTES;
use super::names::{Floor, FloorChange, Group, LogId, Vote};
use super::reading::{self, Wanted};
use super::shared::{Done, Op, Shared, Task};

/// The log of one group. Clones are the same log.
#[derive(Clone)]
pub struct GroupLog {
    inner: Arc<Inner>,
    cell: Arc<Cell>,
}

impl GroupLog {
    pub(super) const fn new(inner: Arc<Inner>, cell: Arc<Cell>) -> Self {
        Self { inner, cell }
    }

    /// Which group it is.
    #[must_use]
    pub fn group(&self) -> Group {
        self.cell.id
    }

    /// The last vote.
    #[must_use]
    pub fn vote(&self) -> Option<Vote> {
        self.standing().vote
    }

    /// What is known to be committed.
    #[must_use]
    pub fn committed(&self) -> Option<LogId> {
        self.standing().committed
    }

    /// The last entry that was purged, and the last one that there is; the same when there is none behind it.
    #[must_use]
    pub fn ends(&self) -> (Option<LogId>, Option<LogId>) {
        let standing = self.standing();
        (standing.purged, standing.last)
    }

    /// Where the log begins: the index of the first entry, or of the next one when there is none.
    #[must_use]
    pub fn begin(&self) -> u64 {
        self.standing().begin
    }

    /// The floor, as it was set last.
    #[must_use]
    pub fn floor(&self) -> Option<Arc<Floor>> {
        self.cell.state.lock().floor.clone()
    }

    fn standing(&self) -> Standing {
        self.cell.state.lock().front
    }

    /// Appends entries that follow the last one. They are readable when this returns; `done` is called once they are durable, or
    /// with what went wrong. Waits while more bytes wait for the disk than may.
    ///
    /// # Errors
    /// `StorageFull` when the journal holds as much as it may; `InvalidInput` when an entry is too large or does not follow; what
    /// stopped the journal. `done` is not called then.
    pub async fn append(&self, entries: Vec<(LogId, Bytes)>, done: Done) -> io::Result<()> {
        let room = self.room(&entries).await?;
        self.hand_over(Op::Entries(entries), Some(done), room)
    }

    /// Saves the vote; durable when this returns.
    ///
    /// # Errors
    /// What stopped the journal.
    pub async fn save_vote(&self, vote: Vote) -> io::Result<()> {
        self.wait_for(Op::Vote(vote)).await
    }

    /// Saves what is known to be committed: a hint, which a loss of power may take.
    ///
    /// # Errors
    /// What stopped the journal.
    pub fn save_committed(&self, committed: Option<LogId>) -> io::Result<()> {
        self.hand_over(Op::Committed(committed), None, None)
    }

    /// Takes away the entries behind this one, all of them for `None`; durable when this returns.
    ///
    /// # Errors
    /// What stopped the journal.
    pub async fn truncate_after(&self, last: Option<LogId>) -> io::Result<()> {
        self.wait_for(Op::Truncate(last)).await
    }

    /// Takes away the entries up to this one; durable when this returns.
    ///
    /// # Errors
    /// `InvalidInput` when it is above the group's floor: such an entry may be the only durable copy of a write. What stopped the
    /// journal.
    pub async fn purge(&self, log_id: LogId) -> io::Result<()> {
        self.wait_for(Op::Purge(log_id)).await
    }

    /// Sets the floor; durable when this returns.
    ///
    /// # Errors
    /// `InvalidInput` when it goes back or is too large; what stopped the journal.
    pub async fn set_floor(&self, floor: Floor) -> io::Result<()> {
        self.wait_for(Op::Floor(Arc::new(floor))).await
    }

    /// Moves the floor by what is new in it; durable when this returns.
    ///
    /// # Errors
    /// As [`Self::set_floor`]; also when no floor was set before.
    pub async fn advance_floor(&self, change: FloorChange) -> io::Result<()> {
        // The floor after it is made under the group's lock.
        let unknown = Arc::new(Floor { log_id: change.log_id, membership: Bytes::new(), vaults: [].into() });
        self.wait_for(Op::FloorChange(change, unknown)).await
    }

    /// Takes the group out of the journal with all it has; durable when this returns. Every clone of this log is of no use then.
    ///
    /// # Errors
    /// What stopped the journal.
    pub async fn remove(&self) -> io::Result<()> {
        self.wait_for(Op::Remove).await
    }

    /// The entries from `from` to before `to`, those that there are.
    ///
    /// # Errors
    /// `InvalidData` when one cannot be read unharmed; what the disk says.
    pub async fn read(&self, from: u64, to: u64) -> io::Result<Vec<(LogId, Bytes)>> {
        self.read_some(from, to, usize::MAX).await
    }

    /// As [`Self::read`], of at most so many bytes; the first entry in any case.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub async fn read_some(&self, from: u64, to: u64, bytes: usize) -> io::Result<Vec<(LogId, Bytes)>> {
        let wanted = Wanted { from, to, bytes };
        if let Some(entries) = reading::read(&self.inner.shared, &self.cell, wanted, false)? {
            return Ok(entries);
        }
        let log = self.clone();
        let read = move || reading::read(&log.inner.shared, &log.cell, wanted, true);
        let entries = tokio::task::spawn_blocking(read).await.map_err(io::Error::other)??;
        Ok(entries.unwrap_or_default())
    }

    async fn room(&self, entries: &[(LogId, Bytes)]) -> io::Result<Option<OwnedSemaphorePermit>> {
        let sum: usize = entries.iter().map(|(_, payload)| payload.len()).sum();
        // One that is larger than all the room waits until nothing else does.
        let permits = sum.min(self.inner.shared.sizes.waiting_bytes);
        let permits = u32::try_from(permits).unwrap_or(u32::MAX);
        let room = Arc::clone(&self.inner.room).acquire_many_owned(permits).await;
        room.map(Some).map_err(io::Error::other)
    }

    async fn wait_for(&self, op: Op) -> io::Result<()> {
        let (tell, told) = oneshot::channel();
        // Who waited may have gone away.
        self.hand_over(op, Some(Box::new(move |result| drop(tell.send(result)))), None)?;
        told.await.unwrap_or_else(|_| Err(io::ErrorKind::BrokenPipe.into()))
    }

    /// Takes something in and hands it to the writer, in one order.
    pub(super) fn hand_over(
        &self,
        mut op: Op,
        done: Option<Done>,
        room: Option<OwnedSemaphorePermit>,
    ) -> io::Result<()> {
        let shared = &self.inner.shared;
        shared.check()?;
        if let Op::Entries(entries) = &op {
            check_room(shared, entries)?;
        }
        let mut state = self.cell.state.lock();
        if state.removed {
            return Err(refused(format!("group {} was removed from the journal", self.cell.id)));
        }
        let ticket = state.next_ticket();
        take(&mut state, &mut op, ticket)?;
        shared.queue.push(Task { cell: Arc::clone(&self.cell), op, ticket, done, _room: room });
        Ok(())
    }

    #[cfg(test)]
    pub(super) fn read_now(&self, from: u64, to: u64) -> io::Result<Vec<(LogId, Bytes)>> {
        let wanted = Wanted { from, to, bytes: usize::MAX };
        reading::read(&self.inner.shared, &self.cell, wanted, true).map(Option::unwrap_or_default)
    }

    #[cfg(test)]
    pub(super) fn spare(&self) -> usize {
        self.cell.state.lock().spare()
    }
}

fn check_room(shared: &Shared, entries: &[(LogId, Bytes)]) -> io::Result<()> {
    if let Some((log_id, payload)) = entries.iter().find(|(_, payload)| payload.len() > RECORD_BYTES) {
        return Err(refused(format!(
            "entry {log_id} has {} bytes; at most {RECORD_BYTES}, split it",
            payload.len()
        )));
    }
    let bytes = shared.counts.bytes.load(Ordering::Relaxed);
    let count = shared.counts.entries.load(Ordering::Relaxed) + entries.len() as u64;
    if bytes > shared.sizes.journal_bytes || count > shared.sizes.entries {
        let problem = format!(
            "the journal holds {bytes} bytes and {count} entries, as much as it may; it takes entries again when floors have \
             advanced and what is below them was purged"
        );
        return Err(io::Error::new(io::ErrorKind::StorageFull, problem));
    }
    Ok(())
}

/// Does to the group's state what the files will say.
fn take(state: &mut State, op: &mut Op, ticket: u64) -> io::Result<()> {
    match op {
        Op::Entries(entries) => state.append(entries, ticket)?,
        Op::Vote(vote) => state.front.vote = Some(*vote),
        Op::Committed(committed) => state.front.committed = *committed,
        Op::Truncate(after) => state.truncate(*after),
        Op::Purge(log_id) => {
            if let Some(floor) = state.floor.as_ref().filter(|floor| floor.log_id.index < log_id.index) {
                return Err(refused(format!(
                    "a purge up to {log_id} is above the floor {}; set the floor first",
                    floor.log_id
                )));
            }
            state.purge(*log_id);
        }
        Op::Floor(floor) => {
            check_floor(state, floor)?;
            state.floor = Some(Arc::clone(floor));
        }
        Op::FloorChange(change, after) => {
            let floor =
                state.floor.as_ref().ok_or_else(|| refused("no floor was set that could be changed"))?;
            let changed = Arc::new(floor.changed(change));
            check_floor(state, &changed)?;
            state.floor = Some(Arc::clone(&changed));
            *after = changed;
        }
        Op::Remove => state.removed = true,
    }
    Ok(())
}

fn check_floor(state: &State, floor: &Floor) -> io::Result<()> {
    if let Some(old) = state.floor.as_ref().filter(|old| old.log_id.index > floor.log_id.index) {
        return Err(refused(format!("a floor at {} is below the one at {}", floor.log_id, old.log_id)));
    }
    if !floor.is_bounded() {
        return Err(refused(format!(
            "a floor of {} vaults and a membership of {} bytes is larger than a record may be",
            floor.vaults.len(),
            floor.membership.len()
        )));
    }
    Ok(())
}
