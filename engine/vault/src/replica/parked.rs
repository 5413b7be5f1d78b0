//! An open transaction that waits for its replicas, and the connection that it sits on. Neither commits nor rolls back by
//! itself but when it is dropped: then nothing happened.

use std::sync::Arc;

use rusqlite::Connection;
use undercroft_crypto::Segment;

use super::log_id::LogId;
use super::ownership;
use super::state::State;
use crate::error::{Error, Result};
use crate::vault::{Committed, Vault};

/// The writing connection of a vault, taken away from everybody else; given back when it is dropped.
pub(super) struct Taken {
    vault: Arc<Vault>,
    /// `None` only while it is being dropped.
    conn: Option<Connection>,
}

impl Taken {
    pub(super) fn from(vault: &Arc<Vault>) -> Result<Self> {
        let conn = vault.replicating()?.take()?;
        Ok(Self { vault: Arc::clone(vault), conn: Some(conn) })
    }

    #[expect(clippy::expect_used, reason = "only `drop` takes the connection out")]
    pub(super) fn conn(&self) -> &Connection {
        self.conn.as_ref().expect("the connection is here until it is dropped")
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        if let (Some(conn), Ok(writer)) = (self.conn.take(), self.vault.replicating()) {
            writer.put_back(conn);
        }
    }
}

/// An open transaction and its segment. It may be kept by any thread. Dropping it rolls it back.
#[must_use = "dropping it rolls the transaction back"]
pub struct Parked {
    taken: Taken,
    committed: Committed,
    segment: Segment,
}

impl std::fmt::Debug for Parked {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Parked").field("segment", &self.segment).finish_non_exhaustive()
    }
}

impl Parked {
    pub(super) fn new(taken: Taken, committed: Committed, segment: Segment) -> Self {
        Self { taken, committed, segment }
    }

    /// What to propose.
    #[must_use]
    pub const fn segment(&self) -> &Segment {
        &self.segment
    }

    /// Commits it as the entry `log_id`, publishes it to the index, and lets the next one begin.
    ///
    /// # Errors
    /// When the database refuses, as on a full disk. The transaction is rolled back then, and nothing is lost: the entry is in
    /// the log, and [`apply`](super::apply) carries it out when there is room again.
    pub fn commit(self, log_id: LogId) -> Result<State> {
        let Self { taken, committed, .. } = self;
        let (vault, conn) = (&taken.vault, taken.conn());
        if conn.is_autocommit() {
            // The database has ended the transaction by itself.
            return Err(Error::SnapshotExpired);
        }
        ownership::store_applied(conn, vault.keyring().mac(), log_id)?;
        let state = State::load(conn, vault.keyring())?;
        vault.check_in_place()?;
        conn.execute_batch("COMMIT")?;
        vault.after_commit(conn, committed);
        Ok(state)
    }

    /// Rolls it back; the same as dropping it.
    pub fn roll_back(self) {}
}
