//! The leg over SQL indexes: every entry of each belongs to a row and every row has its entry, in order. An index that
//! leads nowhere would make a lookup miss what is there. Owns sums over what the other legs read; reads no row itself.

use super::report::VerifyReport;
use crate::audit::{self, table::AuditRow};
use crate::drawers::table::DrawerRow;
use crate::error::{ErrorClass, Result};
use crate::keyring::Keyring;
use crate::storage::index_sum::EntryHash;
use crate::storage::outcomes::OutcomeRow;
use crate::storage::snapshot::Snapshot;

/// An index, the scan that reads it alone (its columns, then the row's number or key), and how many columns it has.
struct Scan {
    name: &'static str,
    sql: &'static str,
    columns: usize,
}

const SCANS: [Scan; 8] = [
    Scan { name: "audit_label", sql: audit::table::LABEL_INDEX, columns: 1 },
    Scan { name: "drawers_rid", sql: "SELECT rid, seq FROM drawers INDEXED BY drawers_rid", columns: 1 },
    Scan {
        name: "drawers_written",
        sql: "SELECT written, seq FROM drawers INDEXED BY drawers_written",
        columns: 1,
    },
    Scan {
        name: "drawers_place",
        sql: "SELECT wing, room, seq FROM drawers INDEXED BY drawers_place",
        columns: 2,
    },
    Scan {
        name: "drawers_source",
        sql: "SELECT source, seq FROM drawers INDEXED BY drawers_source WHERE source IS NOT NULL",
        columns: 1,
    },
    Scan { name: "drawers_fp", sql: "SELECT fp, seq FROM drawers INDEXED BY drawers_fp", columns: 1 },
    Scan {
        name: "drawers_supersedes",
        sql: "SELECT supersedes, seq FROM drawers INDEXED BY drawers_supersedes WHERE supersedes IS NOT NULL",
        columns: 1,
    },
    Scan {
        name: "outcomes_expires",
        sql: "SELECT expires, key FROM outcomes INDEXED BY outcomes_expires",
        columns: 1,
    },
];

/// The indexes over evidence, which change with the chain only.
pub(super) const OF_EVIDENCE: std::ops::Range<usize> = 0..OUTCOMES;
/// The index over outcomes.
pub(super) const OUTCOMES: usize = SCANS.len() - 1;

/// For each index the sum of the hashes of the entries that the rows demand.
pub(super) struct IndexSums {
    hash: EntryHash,
    sums: [u64; SCANS.len()],
}

/// The sum over the entries of each index that was read, `None` for one that is not in order or does not read.
#[derive(Debug, Default)]
pub(super) struct Scanned([Option<u64>; SCANS.len()]);

impl Scanned {
    /// Takes over what another thread read.
    pub(super) fn take(&mut self, other: Self) {
        for (own, more) in self.0.iter_mut().zip(other.0) {
            *own = own.or(more);
        }
    }
}

impl IndexSums {
    pub(super) fn new(keyring: &Keyring) -> Self {
        Self { hash: EntryHash::new(keyring), sums: [0; SCANS.len()] }
    }

    pub(super) fn add_audit<B>(&mut self, row: &AuditRow<B>) {
        self.add(0, &[row.label.as_bytes(), &row.n.to_be_bytes()]);
    }

    pub(super) fn add_drawer<B>(&mut self, row: &DrawerRow<B>) {
        let seq = &row.seq.to_be_bytes();
        self.add(1, &[row.rid.as_bytes(), seq]);
        self.add(2, &[&row.written.to_be_bytes(), seq]);
        self.add(3, &[row.wing.as_bytes(), row.room.as_bytes(), seq]);
        if let Some(source) = &row.source {
            self.add(4, &[source.as_bytes(), seq]);
        }
        self.add(5, &[row.fp.as_bytes(), seq]);
        if let Some(link) = &row.supersedes {
            self.add(6, &[link.as_bytes(), seq]);
        }
    }

    pub(super) fn add_outcome(&mut self, row: &OutcomeRow) {
        self.add(OUTCOMES, &[&row.expires.to_be_bytes(), row.key.as_bytes()]);
    }

    fn add(&mut self, index: usize, columns: &[&[u8]]) {
        // Every column that a row can have fits; one that did not would be in no sum of the scan either.
        if let Some(hash) = self.hash.of(columns) {
            self.sums[index] = self.sums[index].wrapping_add(hash);
        }
    }

    /// Adds the entries that another thread met.
    pub(super) fn add_all(&mut self, other: &Self) {
        for (sum, more) in self.sums.iter_mut().zip(other.sums) {
            *sum = sum.wrapping_add(more);
        }
    }

    /// Compares with what the indexes hold; malformed rows are findings by themselves and show up here again.
    pub(super) fn compare(&self, scanned: &Scanned, report: &mut VerifyReport) {
        for ((scan, sum), found) in SCANS.iter().zip(self.sums).zip(scanned.0) {
            if found != Some(sum) {
                let finding = format!("index {} contradicts its table; run: undercroft repair", scan.name);
                VerifyReport::note(&mut report.mirror_drift, finding);
            }
        }
    }

    /// Reads one index.
    pub(super) fn scan_into(
        &self,
        snapshot: &Snapshot<'_>,
        index: usize,
        scanned: &mut Scanned,
    ) -> Result<()> {
        let scan = &SCANS[index];
        scanned.0[index] = match snapshot.with(|conn| self.hash.scan(conn, scan.sql, scan.columns)) {
            Err(error) if error.class() == ErrorClass::Integrity => None,
            other => other?,
        };
        Ok(())
    }
}
