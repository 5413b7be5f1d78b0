//! Filing and removing the texts of one source, and what is known of it.

use std::collections::BTreeSet;

use rusqlite::Connection;
use undercroft_crypto::BlindColumn;

use super::Vault;
use super::door::SourceOutcome;
use super::prepare::Prepared;
use super::read::Opened;
use super::save;
use super::txn::Txn;
use super::validate;
use crate::audit::{self, Label};
use crate::drawers::table;
use crate::drawers::{AddedBy, Drawer, DrawerId, SourceBatch, SourceState};
use crate::error::{Error, Result};

/// Validates and prepares each text of a batch; one that is refused does not stop its neighbours.
pub(super) fn prepare(vault: &Vault, batch: &mut SourceBatch) -> Result<Vec<Result<Prepared>>> {
    let checked: Vec<Result<()>> = batch
        .drawers
        .iter_mut()
        .map(|new| {
            validate::drawer(new)?;
            let origin = new.origin.as_ref().map(|o| o.source.as_str());
            if origin != Some(batch.source.as_str()) {
                return Err(Error::invalid(
                    "source_file",
                    "a text of a batch must come from the batch's source",
                ));
            }
            if new.added_by != batch.added_by {
                return Err(Error::invalid(
                    "added_by",
                    "a text of a batch must be filed by the batch's surface",
                ));
            }
            Ok(())
        })
        .collect();
    let texts: Vec<&str> = batch.drawers.iter().map(|new| new.text.as_str()).collect();
    let prepared = vault.prepare_all(&texts);
    batch.wing = validate::name("wing", &batch.wing)?;
    Ok(checked.into_iter().zip(prepared).map(|(check, prepared)| check.and(prepared)).collect())
}

/// Files the batch; with a total, destroys what the source no longer has.
pub(super) fn file(
    vault: &Vault,
    txn: &mut Txn<'_>,
    batch: &SourceBatch,
    prepared: Vec<Result<Prepared>>,
) -> Result<SourceOutcome> {
    let mut outcome = SourceOutcome::default();
    let source = vault.keyring().blind(BlindColumn::Source, batch.source.as_bytes());
    if let Some(expected) = batch.expects
        && table::source_state(txn.conn(), &source)? != expected
    {
        return Err(Error::SourceChanged(batch.source.clone()));
    }
    for (new, prepared) in batch.drawers.iter().zip(prepared) {
        let saved = match prepared {
            // A failure after this point is the database's or a verdict, and undoes the whole batch.
            Ok(prepared) => match save::save(vault, txn, new, prepared) {
                // Nothing was written yet when another surface's drawer is met.
                Err(error @ Error::OtherSurface { .. }) => Err(error),
                saved => Ok(saved?),
            },
            Err(error) => Err(error),
        };
        outcome.drawers.push(saved);
    }
    if let Some(total) = batch.total {
        outcome.removed = remove_surplus(vault, txn, batch, total)?;
    }
    if batch.expects.is_some() {
        outcome.state = Some(table::source_state(txn.conn(), &source)?);
    }
    Ok(outcome)
}

/// Drawers of this source, wing and surface at positions that the source no longer has.
fn remove_surplus(
    vault: &Vault,
    txn: &mut Txn<'_>,
    batch: &SourceBatch,
    total: u32,
) -> Result<Vec<DrawerId>> {
    let source = vault.keyring().blind(BlindColumn::Source, batch.source.as_bytes());
    let wing = vault.keyring().blind(BlindColumn::Wing, batch.wing.as_bytes());
    let mut removed = Vec::new();
    for row in table::by_source(txn.conn(), &source)? {
        if row.wing != wing {
            continue;
        }
        let old = vault.open_row(txn.conn(), row)?;
        if old.stored.meta.added_by == batch.added_by && old.stored.meta.chunk_index >= total {
            removed.push(old.stored.id);
            save::destroy(vault, txn, &old)?;
        }
    }
    Ok(removed)
}

/// What is filed from a source.
#[derive(Debug, Clone, Default)]
pub struct FiledFrom {
    /// The drawers in every wing and by every surface, in the order of their positions.
    pub drawers: Vec<Drawer>,
    /// To be handed back with a batch that builds on them.
    pub state: SourceState,
}

/// What became of an id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Past {
    /// Nothing was ever filed under it.
    Never,
    /// A drawer is there.
    There,
    /// A drawer was there and was destroyed.
    Gone,
}

impl Vault {
    /// What is filed from `source`.
    ///
    /// # Errors
    /// An integrity error when one of the drawers fails its check.
    pub fn filed_from(&self, source: &str) -> Result<FiledFrom> {
        let blind = self.keyring.blind(BlindColumn::Source, source.as_bytes());
        let snapshot = self.reading()?;
        let (rows, state) = snapshot.with(|conn| {
            let rows = table::by_source(conn, &blind)?.into_iter();
            let opened = rows.map(|row| self.open_row(conn, row)).collect::<Result<Vec<_>>>()?;
            Ok((opened, table::source_state(conn, &blind)?))
        })?;
        let mut drawers: Vec<Drawer> = rows.into_iter().map(Opened::into_drawer).collect();
        drawers.sort_by_key(|drawer| drawer.meta.chunk_index);
        Ok(FiledFrom { drawers, state })
    }

    /// Which surfaces filed from `source` into a wing's room.
    ///
    /// # Errors
    /// An integrity error when one of the drawers fails its check.
    pub fn surfaces_of(&self, source: &str, wing: &str, room: &str) -> Result<BTreeSet<AddedBy>> {
        let blind = |column, name: &str| self.keyring.blind(column, name.as_bytes());
        let (wing, room) = (blind(BlindColumn::Wing, wing), blind(BlindColumn::Room, room));
        let source = blind(BlindColumn::Source, source);
        let snapshot = self.reading()?;
        snapshot.with(|conn| {
            let rows = table::by_source(conn, &source)?.into_iter();
            let own = rows.filter(|row| row.wing == wing && row.room == room);
            own.map(|row| Ok(self.open_row(conn, row)?.stored.meta.added_by)).collect()
        })
    }

    /// What became of each of `ids`, by the audit chain.
    ///
    /// # Errors
    /// An integrity error when a drawer that the chain records is not there.
    pub fn pasts(&self, ids: &[DrawerId]) -> Result<Vec<Past>> {
        let snapshot = self.reading()?;
        snapshot.with(|conn| ids.iter().map(|id| self.past(conn, *id)).collect())
    }

    fn past(&self, conn: &Connection, id: DrawerId) -> Result<Past> {
        if audit::table::newest(conn, &self.keyring.label(&Label::Written(id)))?.is_none() {
            return Ok(Past::Never);
        }
        if table::by_rid(conn, &self.keyring.record_id(&id))?.is_some() {
            return Ok(Past::There);
        }
        match self.why_absent(conn, id)? {
            Error::NoDrawer(_) => Ok(Past::Gone),
            verdict => Err(verdict),
        }
    }
}

/// Destroys every drawer of a source.
pub(super) fn delete(vault: &Vault, txn: &mut Txn<'_>, source: &str) -> Result<Vec<DrawerId>> {
    let blind = vault.keyring().blind(BlindColumn::Source, source.as_bytes());
    let mut removed = Vec::new();
    for row in table::by_source(txn.conn(), &blind)? {
        let old = vault.open_row(txn.conn(), row)?;
        removed.push(old.stored.id);
        save::destroy(vault, txn, &old)?;
    }
    Ok(removed)
}
