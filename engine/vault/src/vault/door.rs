//! The one write door. Every change to a vault, from every surface, is a [`Change`] that passes [`Vault::write`]:
//! validated, screened, embedded, sealed, tagged and chained in one transaction, each in a savepoint of its own.

use std::time::Duration;

use rayon::prelude::*;
use rusqlite::Connection;
use serde::{Deserialize, Serialize};

use super::handle::Access;
use super::once::{Answers, Done, Idempotency, WriteRequest, once};
use super::prepare::Prepared;
use super::txn::{Committed, Txn};
use super::{Vault, dedup, embedder, save, source, validate};
use crate::drawers::{DrawerId, NewDrawer, SourceBatch, SourceState};
use crate::error::{Error, Result};
use crate::limits;
use crate::storage::{outcomes, sqlite};

/// The screening decision that every write states. There is no default: a caller that does not screen says why.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Screening {
    /// The write is not screened, for this reason.
    Bypass(BypassReason),
}

/// Why a write is not screened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BypassReason {
    /// The operator has declared no screen for this installation.
    NotDeclared,
    /// The engine rewrites words that were accepted before.
    Maintenance,
}

/// One change to a vault.
#[derive(Debug, Clone)]
pub enum Change {
    /// Keep one text.
    Save(NewDrawer),
    /// Keep part of a source's texts.
    Source(SourceBatch),
    /// Replace the words of a drawer; its id and provenance stay.
    Update {
        /// Which drawer.
        id: DrawerId,
        /// The new words.
        text: String,
    },
    /// Destroy a drawer.
    Delete(DrawerId),
    /// Destroy every drawer of a source.
    DeleteSource(String),
    /// Remove copies within wings, keeping the oldest and the days of the others.
    Dedup,
}

/// What a change did.
#[derive(Debug)]
pub enum Outcome {
    /// Of [`Change::Save`].
    Saved(Saved),
    /// Of [`Change::Source`].
    Source(SourceOutcome),
    /// Of [`Change::Update`].
    Updated(DrawerId),
    /// Of [`Change::Delete`] and [`Change::DeleteSource`].
    Deleted(Vec<DrawerId>),
    /// Of [`Change::Dedup`].
    Deduplicated(dedup::DedupReport),
}

/// What each change of a transaction did, in order.
pub type Outcomes = Vec<Result<Outcome>>;

/// Where a text landed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Saved {
    /// The drawer's id.
    pub id: DrawerId,
    /// A drawer was made; otherwise one of the same id was there.
    pub created: bool,
    /// It was there with exactly these words and this metadata, and nothing was written.
    pub unchanged: bool,
    /// It was there with other words, which somebody had put in the place of the source's.
    #[serde(default)]
    pub edited: bool,
}

/// What became of a part of a source.
#[derive(Debug, Default)]
pub struct SourceOutcome {
    /// What each text became, in order; a failed one left its neighbours alone.
    pub drawers: Vec<Result<Saved>>,
    /// Drawers destroyed because the source no longer has them.
    pub removed: Vec<DrawerId>,
    /// What is filed from the source now, when the batch said what it expects.
    pub state: Option<SourceState>,
}

/// A change that was validated and embedded, ready for the transaction.
pub(crate) enum Ready {
    Save(Box<NewDrawer>, Box<Prepared>),
    Source(SourceBatch, Vec<Result<Prepared>>),
    Update(DrawerId, String, Box<Prepared>),
    Delete(DrawerId),
    DeleteSource(String),
    Dedup,
}

impl Vault {
    /// Carries out `changes` in one durable transaction, each with its own result.
    ///
    /// # Errors
    /// When the vault is read-only, its state fails a check, or the transaction as a whole could not be committed;
    /// then nothing of it happened.
    pub fn write(&self, changes: Vec<Change>, screening: Screening) -> Result<Outcomes> {
        let done = self.write_requests(changes.into_iter().map(Into::into).collect(), screening)?;
        Ok(done.into_iter().map(|one| one.map(|done| done.outcome)).collect())
    }

    /// The same for changes that may carry an idempotency key. A key that is known is answered with what was done under
    /// it, without doing it again; so is one that another request of the same transaction brought.
    ///
    /// # Errors
    /// As [`Vault::write`]; one request's own may be [`Error::IdempotencyConflict`].
    pub fn write_requests(&self, requests: Vec<WriteRequest>, screening: Screening) -> Result<Answers> {
        Ok(self.write_recorded(requests, screening, false)?.0)
    }

    /// The same, handing back the transaction's changeset, taken before commit, when `record` is set.
    pub(crate) fn write_recorded(
        &self,
        requests: Vec<WriteRequest>,
        screening: Screening,
        record: bool,
    ) -> Result<(Answers, Option<Vec<u8>>)> {
        let Screening::Bypass(_reason) = screening;
        let writer = self.writing()?;
        let (changes, keys): (Vec<_>, Vec<_>) =
            requests.into_iter().map(|request| (request.change, request.idempotency)).unzip();
        let ready: Vec<Result<Ready>> = self.make_ready(changes);
        let conn = writer.lock()?;
        let mut txn = self.begin(&conn, record)?;
        self.check_same_embedder(&txn)?;
        outcomes::forget_expired(&conn, txn.now(), limits::FORGOTTEN_OUTCOMES)?;
        let mut all = Vec::with_capacity(ready.len());
        for (item, key) in ready.into_iter().zip(keys) {
            let done = txn.item(|txn| self.carry_out_once(txn, item, key.as_ref()));
            if txn.is_lost() {
                return Err(done.err().unwrap_or(Error::SnapshotExpired));
            }
            all.push(done);
        }
        self.check_in_place()?;
        let mut committed = txn.commit()?;
        let changeset = committed.changeset.take();
        self.after_commit(&conn, committed);
        Ok((all, changeset))
    }

    /// Begins a transaction that continues what this handle has seen, in which labels can be looked up.
    pub(crate) fn begin<'a>(&'a self, conn: &'a Connection, record: bool) -> Result<Txn<'a>> {
        let txn = self.begin_unproved(conn, record)?;
        self.prove(conn, txn.base())?;
        Ok(txn)
    }

    /// As [`Vault::begin`], before the indexes were compared: for a repair, which makes them anew.
    pub(crate) fn begin_unproved<'a>(&'a self, conn: &'a Connection, record: bool) -> Result<Txn<'a>> {
        self.check_deferred()?;
        let seen = *self.seen.lock();
        let txn = Txn::begin(conn, &self.keyring, self.now(), record)?;
        self.check_extends(conn, &seen, txn.base())?;
        Ok(txn)
    }

    /// What failed after the last commit is told before the next one begins.
    pub(crate) fn check_deferred(&self) -> Result<()> {
        self.deferred.lock().take().map_or(Ok(()), Err)
    }

    /// Publishes to the index, bounds the write-ahead log, anchors when due. What was committed is committed, whatever
    /// fails here: the failure is kept, and refuses the next write before it begins.
    pub(crate) fn after_commit(&self, conn: &Connection, committed: Committed) {
        let chain = committed.chain;
        self.saw(&chain);
        self.index.publish(committed);
        let kept = self.bound_log(conn).and_then(|()| match self.access {
            Access::Local => self.anchor_if_due(&chain),
            // What was committed is not durable here before a checkpoint.
            Access::Shard => Ok(()),
        });
        *self.deferred.lock() = kept.err();
    }

    fn bound_log(&self, conn: &Connection) -> Result<()> {
        let bytes = sqlite::wal_bytes(&self.dir);
        if bytes <= limits::WAL_BOUND_BYTES {
            return Ok(());
        }
        let spared =
            if bytes > limits::WAL_HARD_BOUND_BYTES { Duration::ZERO } else { limits::SNAPSHOT_GRACE };
        self.readers.expire(spared);
        sqlite::truncate_wal(conn).map(|_| ())
    }

    /// Validates and embeds, on every core when there is much to do.
    pub(crate) fn make_ready(&self, changes: Vec<Change>) -> Vec<Result<Ready>> {
        if changes.len() < 4 {
            return changes.into_iter().map(|change| self.ready(change)).collect();
        }
        changes.into_par_iter().map(|change| self.ready(change)).collect()
    }

    fn ready(&self, change: Change) -> Result<Ready> {
        match change {
            Change::Save(mut new) => {
                validate::drawer(&mut new)?;
                let prepared = self.prepare(&new.text)?;
                Ok(Ready::Save(Box::new(new), Box::new(prepared)))
            }
            Change::Source(mut batch) => {
                let prepared = source::prepare(self, &mut batch)?;
                Ok(Ready::Source(batch, prepared))
            }
            Change::Update { id, text } => {
                validate::text(&text)?;
                let prepared = self.prepare(&text)?;
                Ok(Ready::Update(id, text, Box::new(prepared)))
            }
            Change::Delete(id) => Ok(Ready::Delete(id)),
            Change::DeleteSource(source) => Ok(Ready::DeleteSource(source)),
            Change::Dedup => Ok(Ready::Dedup),
        }
    }

    /// Does what was asked, or finds that it was done. To be called inside a savepoint.
    pub(crate) fn carry_out_once(
        &self,
        txn: &mut Txn<'_>,
        item: Result<Ready>,
        key: Option<&Idempotency>,
    ) -> Result<Done> {
        match key {
            // Even what could not be made ready this time may have been done before.
            Some(key) => once(txn, key, |txn| self.carry_out(txn, item?)),
            None => self.carry_out(txn, item?).map(Done::now),
        }
    }

    fn carry_out(&self, txn: &mut Txn<'_>, item: Ready) -> Result<Outcome> {
        match item {
            Ready::Save(new, prepared) => save::save(self, txn, &new, *prepared).map(Outcome::Saved),
            Ready::Source(batch, prepared) => source::file(self, txn, &batch, prepared).map(Outcome::Source),
            Ready::Update(id, text, prepared) => {
                save::update(self, txn, id, &text, *prepared).map(|()| Outcome::Updated(id))
            }
            Ready::Delete(id) => save::delete(self, txn, id).map(|()| Outcome::Deleted(vec![id])),
            Ready::DeleteSource(name) => source::delete(self, txn, &name).map(Outcome::Deleted),
            Ready::Dedup => dedup::apply(self, txn).map(Outcome::Deduplicated),
        }
    }

    /// Another process may have changed the embedder since this handle was opened.
    pub(crate) fn check_same_embedder(&self, txn: &Txn<'_>) -> Result<()> {
        let recorded = embedder::recorded(txn.conn(), &self.keyring)?;
        if recorded == *self.embedder.lock() { Ok(()) } else { Err(recorded.mismatch(&self.options)) }
    }
}

/// Convenience for surfaces that make one change at a time.
impl Vault {
    fn write_one(&self, change: Change, screening: Screening) -> Result<Outcome> {
        self.write(vec![change], screening)?.pop().unwrap_or(Err(Error::SnapshotExpired))
    }

    /// Keeps one text.
    ///
    /// # Errors
    /// As [`Vault::write`], or what is wrong with the text.
    pub fn save(&self, new: NewDrawer, screening: Screening) -> Result<Saved> {
        match self.write_one(Change::Save(new), screening)? {
            Outcome::Saved(saved) => Ok(saved),
            other => Err(unexpected(&other)),
        }
    }

    /// Keeps many texts in one transaction, each with its own result.
    ///
    /// # Errors
    /// As [`Vault::write`].
    pub fn save_many(&self, all: Vec<NewDrawer>, screening: Screening) -> Result<Vec<Result<Saved>>> {
        let outcomes = self.write(all.into_iter().map(Change::Save).collect(), screening)?;
        Ok(outcomes
            .into_iter()
            .map(|outcome| match outcome? {
                Outcome::Saved(saved) => Ok(saved),
                other => Err(unexpected(&other)),
            })
            .collect())
    }

    /// Keeps part of a source's texts.
    ///
    /// # Errors
    /// As [`Vault::write`], or what is wrong with the source itself.
    pub fn file_source(&self, batch: SourceBatch, screening: Screening) -> Result<SourceOutcome> {
        match self.write_one(Change::Source(batch), screening)? {
            Outcome::Source(outcome) => Ok(outcome),
            other => Err(unexpected(&other)),
        }
    }

    /// Replaces the words of a drawer.
    ///
    /// # Errors
    /// [`Error::NoDrawer`], or as [`Vault::write`].
    pub fn update(&self, id: DrawerId, text: &str, screening: Screening) -> Result<()> {
        self.write_one(Change::Update { id, text: text.to_owned() }, screening).map(|_| ())
    }

    /// Destroys a drawer.
    ///
    /// # Errors
    /// [`Error::NoDrawer`], or as [`Vault::write`].
    pub fn delete(&self, id: DrawerId) -> Result<()> {
        self.write_one(Change::Delete(id), Screening::Bypass(BypassReason::Maintenance)).map(|_| ())
    }

    /// Destroys every drawer of a source and names them.
    ///
    /// # Errors
    /// As [`Vault::write`].
    pub fn delete_source(&self, source: &str) -> Result<Vec<DrawerId>> {
        let screening = Screening::Bypass(BypassReason::Maintenance);
        match self.write_one(Change::DeleteSource(source.to_owned()), screening)? {
            Outcome::Deleted(ids) => Ok(ids),
            other => Err(unexpected(&other)),
        }
    }
}

/// A change answers with the outcome of its own kind; anything else is a fault of this file.
fn unexpected(outcome: &Outcome) -> Error {
    Error::invalid("change", format!("internal: unexpected outcome {outcome:?}"))
}
