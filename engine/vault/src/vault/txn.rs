//! One write transaction: the chain's next state, the counters, the changes that the index must follow.
//! Everything in it happens or nothing does. Owns order, not meaning.

use rusqlite::Connection;
use undercroft_crypto::{ChainState, Tag};
use undercroft_search::{Analysed, DocumentKey, DocumentMeta, Quantized};

use crate::audit::{self, Label};
use crate::drawers::table;
use crate::error::{Error, Result};
use crate::keyring::Keyring;
use crate::storage::changeset::Recorder;
use crate::storage::counters;

/// What the in-memory index must do once the transaction is committed.
#[expect(clippy::large_enum_variant, reason = "nearly all changes are the large one")]
#[derive(Debug)]
pub(crate) enum IndexChange {
    /// File this document, replacing an older version.
    Put {
        meta: DocumentMeta,
        /// Absent when nothing was loaded that needs it; the index then catches up from the rows.
        analysed: Option<Analysed>,
        vector: Quantized,
    },
    /// Forget this document.
    Remove(DocumentKey),
    /// A document changed that nobody opened: the index catches up from the rows.
    Unread,
}

/// An open transaction on the writing connection.
pub(crate) struct Txn<'a> {
    conn: &'a Connection,
    keyring: &'a Keyring,
    now: i64,
    base: ChainState,
    chain: ChainState,
    drawers: i64,
    drawers_before: i64,
    changes: Vec<IndexChange>,
    recorder: Option<Recorder<'a>>,
    open: bool,
}

/// A committed transaction.
pub(crate) struct Committed {
    pub(crate) base: ChainState,
    pub(crate) chain: ChainState,
    pub(crate) changes: Vec<IndexChange>,
    /// The changeset, when it was asked for.
    pub(crate) changeset: Option<Vec<u8>>,
}

impl<'a> Txn<'a> {
    /// Begins; waits for other processes' transactions up to the busy timeout.
    pub(crate) fn begin(conn: &'a Connection, keyring: &'a Keyring, now: i64, record: bool) -> Result<Self> {
        conn.execute_batch("BEGIN IMMEDIATE")?;
        let mut txn = Self {
            conn,
            keyring,
            now,
            base: ChainState::genesis(),
            chain: ChainState::genesis(),
            drawers: 0,
            drawers_before: 0,
            changes: Vec::new(),
            recorder: None,
            open: true,
        };
        if record {
            txn.recorder = Some(Recorder::start(conn)?);
        }
        txn.chain = audit::state::load(conn, keyring)?;
        txn.base = txn.chain;
        txn.drawers = counters::load(conn, keyring.mac(), counters::DRAWERS)?;
        txn.drawers_before = txn.drawers;
        txn.check_ends()?;
        Ok(txn)
    }

    /// Nothing is appended to a chain whose end is missing, and no number is issued that is in use.
    fn check_ends(&self) -> Result<()> {
        if audit::table::last(self.conn)? != audit::state::as_sql(self.chain.height) {
            return Err(Error::ChainBroken { height: self.chain.height.get() });
        }
        if table::last_seq(self.conn)? > self.drawers {
            return Err(Error::record(
                "counter",
                counters::DRAWERS,
                "it is behind the drawers that were filed",
            ));
        }
        Ok(())
    }

    /// The committed state that this transaction continues.
    pub(crate) fn base(&self) -> &ChainState {
        &self.base
    }

    pub(crate) fn conn(&self) -> &'a Connection {
        self.conn
    }

    pub(crate) fn keyring(&self) -> &'a Keyring {
        self.keyring
    }

    /// Time of this transaction, microseconds since the epoch.
    pub(crate) fn now(&self) -> i64 {
        self.now
    }

    /// Position in the chain that the next record will have.
    pub(crate) fn next_record(&self) -> i64 {
        audit::state::as_sql(self.chain.height) + 1
    }

    /// Number of drawers ever filed, so far.
    pub(crate) fn drawers_filed(&self) -> i64 {
        self.drawers
    }

    /// Issues the next filing number.
    pub(crate) fn issue_seq(&mut self) -> i64 {
        self.drawers += 1;
        self.drawers
    }

    /// Appends a record to the chain.
    pub(crate) fn record(&mut self, label: &Label, tag: &Tag) -> Result<()> {
        self.chain = audit::table::append(self.conn, self.keyring, &self.chain, label, tag, self.now)?;
        Ok(())
    }

    /// Notes what the index has to do after commit.
    pub(crate) fn index(&mut self, change: IndexChange) {
        self.changes.push(change);
    }

    /// Runs one request in a savepoint: if it fails, its neighbours stay.
    pub(crate) fn item<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.conn.execute_batch("SAVEPOINT item")?;
        let (chain, drawers, changes) = (self.chain, self.drawers, self.changes.len());
        let result = work(self);
        if result.is_ok() {
            self.conn.execute_batch("RELEASE item")?;
            return result;
        }
        self.chain = chain;
        self.drawers = drawers;
        self.changes.truncate(changes);
        // SQLite ends the whole transaction by itself on some failures (a full disk); the commit then reports it.
        if !self.conn.is_autocommit() {
            self.conn.execute_batch("ROLLBACK TO item; RELEASE item")?;
        }
        result
    }

    /// Whether SQLite has ended the transaction by itself, so that nothing of it is left.
    pub(crate) fn is_lost(&self) -> bool {
        self.conn.is_autocommit()
    }

    /// Whether anything was appended to the chain.
    pub(crate) fn has_records(&self) -> bool {
        self.chain.height != self.base.height
    }

    /// The most bytes that the changeset can have by now; 0 when none is recorded.
    pub(crate) fn recorded_bound(&self) -> u64 {
        self.recorder.as_ref().map_or(0, Recorder::size_bound)
    }

    /// What was recorded so far; chain and counters are not in it yet.
    pub(crate) fn recorded(&self) -> Result<Vec<u8>> {
        self.recorder.as_ref().map_or(Ok(Vec::new()), Recorder::take)
    }

    /// Stores chain and counters and commits, durably. What did not move is not written.
    pub(crate) fn commit(self) -> Result<Committed> {
        let conn = self.conn;
        let finished = self.finish()?;
        if let Err(error) = conn.execute_batch("COMMIT") {
            roll_back(conn);
            return Err(error.into());
        }
        Ok(finished)
    }

    /// Stores chain and counters and leaves the transaction open on its connection: whoever called commits it, or rolls it
    /// back.
    pub(crate) fn finish(mut self) -> Result<Committed> {
        if self.chain.height != self.base.height {
            audit::state::store(self.conn, self.keyring, &self.chain)?;
        }
        if self.drawers != self.drawers_before {
            counters::store(self.conn, self.keyring.mac(), counters::DRAWERS, self.drawers)?;
        }
        let changeset = self.recorder.as_ref().map(Recorder::take).transpose()?;
        self.recorder = None;
        self.open = false;
        Ok(Committed {
            base: self.base,
            chain: self.chain,
            changes: std::mem::take(&mut self.changes),
            changeset,
        })
    }
}

impl Drop for Txn<'_> {
    fn drop(&mut self) {
        self.recorder = None;
        if self.open {
            roll_back(self.conn);
        }
    }
}

/// Ends whatever transaction is open on the connection.
pub(crate) fn roll_back(conn: &Connection) {
    if !conn.is_autocommit() {
        // Nothing can be done about a failing rollback here; the connection's next BEGIN reports it.
        let _ = conn.execute_batch("ROLLBACK");
    }
}

/// A number of the filing counter as an append index.
pub(crate) fn append_index(filed: i64) -> Result<u32> {
    u32::try_from(filed)
        .map_err(|_| Error::invalid("vault", "it has filed 4,294,967,295 drawers; start another vault"))
}
