//! Changesets of the replicated tables, taken before commit on the writing side.
//! Owns the list of tables; sealing, reading and proving are replication's.

use rusqlite::Connection;

use super::schema::{EVIDENCE, LEDGER};
use super::session::{self, Session};
use crate::error::Result;

/// Records what a transaction changes in evidence and ledger tables.
pub(crate) struct Recorder<'conn>(Session<'conn>);

impl<'conn> Recorder<'conn> {
    /// Starts before the transaction's first change.
    pub(crate) fn start(conn: &'conn Connection) -> Result<Self> {
        Session::start(conn, &tables()).map(Self)
    }

    /// The most bytes that the changeset can have by now; what was rolled back still counts.
    pub(crate) fn size_bound(&self) -> u64 {
        self.0.size_bound()
    }

    /// What changed so far; call it before commit.
    pub(crate) fn take(&self) -> Result<Vec<u8>> {
        self.0.changeset()
    }
}

/// Applies a changeset, inside the caller's transaction if there is one. On any conflict, and when it changes a table
/// outside the list, nothing is changed.
#[cfg_attr(
    not(test),
    expect(dead_code, reason = "the oracle of tests: replicas prove each row and write it themselves")
)]
pub(crate) fn apply(conn: &Connection, changeset: &[u8]) -> Result<()> {
    session::apply(conn, changeset, &tables())
}

fn tables() -> Vec<&'static str> {
    EVIDENCE.into_iter().chain(LEDGER).collect()
}
