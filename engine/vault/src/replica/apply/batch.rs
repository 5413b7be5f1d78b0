//! Many entries in one transaction. What becomes of one is decided as if it came alone; what the disk refuses is nobody's
//! verdict and leaves the copy as it was.

use rusqlite::Connection;
use undercroft_crypto::{ChainState, ErrorClass, Segment};

use super::super::changes;
use super::super::log_id::LogId;
use super::super::ownership;
use super::super::state::State;
use super::super::verdict::{NoOp, Outcome, Refusal, Suspect};
use super::{gate, prove, rows};
use crate::audit;
use crate::drawers::table;
use crate::error::{Error, Result};
use crate::storage::counters;
use crate::vault::{Committed, IndexChange, Vault, roll_back};

/// A segment and its place in the log.
#[derive(Debug, Clone, Copy)]
pub struct Entry<'a> {
    /// Where it stands.
    pub log_id: LogId,
    /// What it holds.
    pub segment: &'a Segment,
}

/// Why an entry was not applied: the environment, or a verdict.
pub(super) enum Stop {
    Error(Error),
    Refused(Refusal),
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Self::Error(error)
    }
}

impl From<Suspect> for Stop {
    fn from(suspect: Suspect) -> Self {
        Self::Refused(Refusal::Suspect(suspect))
    }
}

impl From<NoOp> for Stop {
    fn from(reason: NoOp) -> Self {
        Self::Refused(Refusal::NoOp(reason))
    }
}

/// Applies entries in the order of the log, in one transaction, and tells what became of each. It ends behind the first
/// that makes the copy suspect: of that one nothing was written, and those behind it were not looked at.
///
/// A copy that was checkpointed, crashed or was opened again between two calls finds by their log ids which entries it
/// holds already. An index in memory follows.
///
/// # Errors
/// What the environment refuses, as a full disk ([`ErrorClass::Unavailable`]): nothing of any entry was written then, and
/// the call may be repeated. [`Error::Parked`] while a transaction of this copy waits for its replicas.
pub fn apply(vault: &Vault, entries: &[Entry<'_>]) -> Result<Vec<Outcome>> {
    let conn = vault.replicating()?.lock()?;
    let mut outcomes = Vec::with_capacity(entries.len());
    let mut batch = match Batch::begin(vault, &conn) {
        Ok(batch) => batch,
        Err(error) if error.class() == ErrorClass::Integrity => {
            return Ok(vec![Outcome::Suspect(Suspect::Rows(error.finding()))]);
        }
        Err(error) => return Err(error),
    };
    for entry in entries {
        let outcome = batch.take(entry)?;
        let suspect = matches!(outcome, Outcome::Suspect(_));
        outcomes.push(outcome);
        if suspect {
            break;
        }
    }
    batch.commit()?;
    Ok(outcomes)
}

/// An open transaction, and where the copy stands in it.
pub(super) struct Batch<'a> {
    pub(super) vault: &'a Vault,
    pub(super) conn: &'a Connection,
    pub(super) state: State,
    /// Drawers ever filed.
    pub(super) filed: i64,
    base: ChainState,
    held: LogId,
    changes: Vec<IndexChange>,
}

impl<'a> Batch<'a> {
    fn begin(vault: &'a Vault, conn: &'a Connection) -> Result<Self> {
        vault.check_deferred()?;
        conn.prepare_cached("BEGIN IMMEDIATE")?.execute([])?;
        Self::load(vault, conn).inspect_err(|_| roll_back(conn))
    }

    fn load(vault: &'a Vault, conn: &'a Connection) -> Result<Self> {
        let state = State::load(conn, vault.keyring())?;
        vault.check_extends(conn, &vault.seen(), &state.chain)?;
        let filed = counters::load(conn, vault.keyring().mac(), counters::DRAWERS)?;
        // Nothing is appended to a chain whose end is missing.
        if audit::table::last(conn)? != audit::state::as_sql(state.chain.height) {
            return Err(Error::ChainBroken { height: state.chain.height.get() });
        }
        if table::last_seq(conn)? > filed {
            return Err(Error::record(
                "counter",
                counters::DRAWERS,
                "it is behind the drawers that were filed",
            ));
        }
        let (base, held) = (state.chain, state.applied);
        Ok(Self { vault, conn, state, filed, base, held, changes: Vec::new() })
    }

    fn take(&mut self, entry: &Entry<'_>) -> Result<Outcome> {
        let outcome = match self.follow(entry) {
            Ok(()) => Outcome::Applied(State { applied: entry.log_id, ..self.state }),
            Err(Stop::Refused(refusal)) => refusal.into(),
            // Rows that were read on the way fail their check, or a key is in use that nobody issued.
            Err(Stop::Error(error)) if error.class() == ErrorClass::Integrity => {
                Outcome::Suspect(Suspect::Rows(error.finding()))
            }
            Err(Stop::Error(error)) => return Err(error),
        };
        if !matches!(outcome, Outcome::Suspect(_) | Outcome::NoOp(NoOp::HeldAlready)) {
            self.state.applied = entry.log_id;
        }
        Ok(outcome)
    }

    fn follow(&mut self, entry: &Entry<'_>) -> Result<(), Stop> {
        let header = entry.segment.header();
        gate::check(self, entry.log_id, header)?;
        let keyring = self.vault.keyring();
        let body = entry
            .segment
            .open(keyring.keys().segment())
            .map_err(|error| Suspect::Malformed(error.to_string()))?;
        let changes = changes::read(&body).map_err(|defect| Suspect::Malformed(defect.to_owned()))?;
        let before = rows::before(self.conn, &changes)?;
        let versions = rows::versions(&changes, &before)?;
        let proved = prove::prove(self, header, &versions)?;
        self.write(&versions, &proved)?;
        self.state.chain = header.after;
        self.filed = proved.filed;
        self.changes.extend(proved.index);
        Ok(())
    }

    /// Writes in a savepoint: what the database refuses half way leaves nothing.
    fn write(&self, versions: &[rows::Version<'_>], proved: &prove::Proved) -> Result<()> {
        self.conn.prepare_cached("SAVEPOINT entry")?.execute([])?;
        let written =
            rows::write(self.conn, versions).and_then(|()| prove::follow_words(self.conn, &proved.words));
        if written.is_err() && !self.conn.is_autocommit() {
            self.conn.prepare_cached("ROLLBACK TO entry")?.execute([])?;
        }
        if !self.conn.is_autocommit() {
            self.conn.prepare_cached("RELEASE entry")?.execute([])?;
        }
        written
    }

    fn commit(mut self) -> Result<()> {
        if self.state.applied == self.held {
            return Ok(());
        }
        ownership::store_applied(self.conn, self.vault.keyring().mac(), self.state.applied)?;
        self.vault.check_in_place()?;
        self.conn.prepare_cached("COMMIT")?.execute([])?;
        let changes = std::mem::take(&mut self.changes);
        let committed = Committed { base: self.base, chain: self.state.chain, changes, changeset: None };
        self.vault.after_commit(self.conn, committed);
        Ok(())
    }
}

impl Drop for Batch<'_> {
    fn drop(&mut self) {
        roll_back(self.conn);
    }
}
