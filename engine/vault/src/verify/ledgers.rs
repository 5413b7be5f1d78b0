//! The leg over ledgers and schema: tagged rows, and no table, index or trigger beyond those of the format.

use undercroft_crypto::ChainState;

use super::report::VerifyReport;
use crate::audit;
use crate::error::{Error, ErrorClass, Result};
use crate::storage::snapshot::Snapshot;
use crate::storage::{counters, meta, schema};
use crate::vault::Vault;

/// Checks ledgers and schema; gives the chain state when it can be trusted.
pub(super) fn check(
    vault: &Vault,
    snapshot: &Snapshot<'_>,
    report: &mut VerifyReport,
) -> Result<Option<ChainState>> {
    let mac = vault.keyring().mac();
    snapshot.with(|conn| {
        for key in meta::keys(conn)? {
            found(report, meta::get(conn, mac, &key).map(|_| ()))?;
        }
        found(report, counters::load(conn, mac, counters::DRAWERS).map(|_| ()))?;
        let expected = expected_schema(vault)?;
        for object in schema::describe(conn)? {
            if !expected.contains(&object) {
                let name = object.split(':').next().unwrap_or_default();
                VerifyReport::note(
                    &mut report.ledger_drift,
                    format!("schema object not of this format: {name}"),
                );
            }
        }
        match audit::state::load(conn, vault.keyring()) {
            Ok(state) => Ok(Some(state)),
            Err(error) => found(report, Err(error)).map(|()| None),
        }
    })
}

/// A verdict becomes a finding; any other failure ends the walk.
fn found(report: &mut VerifyReport, result: Result<()>) -> Result<()> {
    match result {
        Err(error) if error.class() == ErrorClass::Integrity => {
            VerifyReport::note(&mut report.ledger_drift, error.to_string());
            Ok(())
        }
        other => other,
    }
}

/// The schema that this program writes, taken from a database made for the purpose.
fn expected_schema(vault: &Vault) -> Result<Vec<String>> {
    let fresh = rusqlite::Connection::open_in_memory().map_err(Error::from)?;
    schema::create(&fresh, vault.level())?;
    schema::describe(&fresh)
}
