//! Filing and removing the texts of one source.

use undercroft_crypto::BlindColumn;

use super::Vault;
use super::door::SourceOutcome;
use super::prepare::Prepared;
use super::save;
use super::txn::Txn;
use super::validate;
use crate::drawers::table;
use crate::drawers::{DrawerId, SourceBatch};
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
    for (new, prepared) in batch.drawers.iter().zip(prepared) {
        let saved = match prepared {
            // A failure after this point is the database's or a verdict, and undoes the whole batch.
            Ok(prepared) => Ok(save::save(vault, txn, new, prepared)?),
            Err(error) => Err(error),
        };
        outcome.drawers.push(saved);
    }
    if let Some(total) = batch.total {
        outcome.removed = remove_surplus(vault, txn, batch, total)?;
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
