//! The leg over ledgers and schema: tagged rows, and no table, index or trigger beyond those of the format.

use rusqlite::Connection;
use undercroft_crypto::ChainState;

use super::indexes::IndexSums;
use super::report::VerifyReport;
use crate::audit;
use crate::error::{Error, ErrorClass, Result};
use crate::limits;
use crate::storage::snapshot::Snapshot;
use crate::storage::{counters, meta, outcomes, schema};
use crate::vault::Vault;

/// What of the ledgers can be trusted.
#[derive(Debug, Default)]
pub(super) struct Trusted {
    pub(super) chain: Option<ChainState>,
    /// Number of drawers ever filed.
    pub(super) filed: Option<i64>,
}

/// Checks ledgers and schema.
pub(super) fn check(
    vault: &Vault,
    snapshot: &Snapshot<'_>,
    sums: &mut IndexSums,
    report: &mut VerifyReport,
) -> Result<Trusted> {
    let walked = check_outcomes(vault, snapshot, sums, report);
    found(report, walked)?;
    snapshot.with(|conn| {
        check_meta(vault, conn, report)?;
        check_schema(vault, conn, report)?;
        for name in counters::names(conn)? {
            if name != counters::DRAWERS {
                VerifyReport::note(&mut report.ledger_drift, format!("counter {name:?}: not of this format"));
            }
        }
        let mac = vault.keyring().mac();
        Ok(Trusted {
            filed: found(report, counters::load(conn, mac, counters::DRAWERS))?,
            chain: found(report, audit::state::load(conn, vault.keyring()))?,
        })
    })
}

fn check_meta(vault: &Vault, conn: &Connection, report: &mut VerifyReport) -> Result<()> {
    let present = meta::keys(conn)?;
    for key in meta::key::ALL {
        if !present.iter().any(|found| found == key) {
            VerifyReport::note(&mut report.ledger_drift, format!("meta {key}: its row is missing"));
        }
    }
    for key in &present {
        let known = meta::key::ALL.iter().chain(&meta::key::OF_CLUSTER);
        if !known.into_iter().any(|known| known == key) {
            VerifyReport::note(&mut report.ledger_drift, format!("meta {key:?}: not of this format"));
        }
        found(report, meta::get(conn, vault.keyring().mac(), key))?;
    }
    Ok(())
}

/// Every remembered outcome is as it was written. That one is missing is not found: its key is unknown again.
fn check_outcomes(
    vault: &Vault,
    snapshot: &Snapshot<'_>,
    sums: &mut IndexSums,
    report: &mut VerifyReport,
) -> Result<()> {
    let (mut last, mut met) = (Vec::new(), 0);
    loop {
        let rows = snapshot.with(|conn| outcomes::after(conn, &last, limits::PAGE_ROWS))?;
        let Some(row) = rows.last() else { break };
        last.clone_from(&row.key);
        met += i64::try_from(rows.len()).unwrap_or(i64::MAX);
        for row in rows {
            if let Some(row) = found(report, row.verified(vault.keyring().mac()))? {
                sums.add_outcome(&row);
            }
        }
    }
    // A key that is no blob, or an empty one, has no place in that order.
    if snapshot.with(outcomes::count)? != met {
        VerifyReport::note(&mut report.ledger_drift, "remembered outcomes: a key is malformed");
    }
    Ok(())
}

fn check_schema(vault: &Vault, conn: &Connection, report: &mut VerifyReport) -> Result<()> {
    let (expected, present) = (expected_schema(vault)?, schema::describe(conn)?);
    let mut drift = |object: &str, what: &str| {
        let name = object.split(':').next().unwrap_or_default();
        VerifyReport::note(&mut report.ledger_drift, format!("{name}: {what}"));
    };
    present.iter().filter(|o| !expected.contains(o)).for_each(|o| drift(o, "not of this format's schema"));
    expected.iter().filter(|o| !present.contains(o)).for_each(|o| drift(o, "missing from the schema"));
    if schema::version(conn)? != schema::SCHEMA_VERSION
        || schema::application_id(conn)? != schema::APPLICATION_ID
    {
        drift("database header", "not marked as this format's");
    }
    Ok(())
}

/// The counter says how many drawers were filed; so does the chain.
pub(super) fn check_filed(counter: Option<i64>, filed: i64, report: &mut VerifyReport) {
    if let Some(counter) = counter
        && counter != filed
    {
        let finding = format!("counter drawers: it says {counter}, the audit chain {filed}");
        VerifyReport::note(&mut report.ledger_drift, finding);
    }
}

/// A verdict becomes a finding; any other failure ends the walk.
fn found<T>(report: &mut VerifyReport, result: Result<T>) -> Result<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(error) if error.class() == ErrorClass::Integrity => {
            VerifyReport::note(&mut report.ledger_drift, error.finding());
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// The schema that this program writes, taken from a database made for the purpose.
fn expected_schema(vault: &Vault) -> Result<Vec<String>> {
    let fresh = rusqlite::Connection::open_in_memory().map_err(Error::from)?;
    schema::create(&fresh, vault.level())?;
    schema::describe(&fresh)
}
