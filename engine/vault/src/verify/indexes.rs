//! The leg over SQL indexes: every entry of each belongs to a row and every row has its entry, in order. An index that
//! leads nowhere would make a lookup miss what is there. Owns sums over what the other legs read; reads no row itself.

use std::hash::{DefaultHasher, Hasher as _};

use undercroft_crypto::TagDomain;

use super::report::VerifyReport;
use crate::audit::table::AuditRow;
use crate::drawers::table::DrawerRow;
use crate::error::{ErrorClass, Result};
use crate::keyring::Keyring;
use crate::storage::snapshot::Snapshot;

/// An index, the scan that reads it alone (its columns, then the row's number), and how many columns it has.
struct Scan {
    name: &'static str,
    sql: &'static str,
    columns: usize,
}

const SCANS: [Scan; 7] = [
    Scan { name: "audit_label", sql: "SELECT label, n FROM audit INDEXED BY audit_label", columns: 1 },
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
];

/// For each index the sum, modulo 2^64, of a keyed hash of the entries that the rows demand. The order of rows does
/// not matter to a sum, and without the key nobody can choose entries whose sum is the same.
pub(super) struct IndexSums {
    keyed: DefaultHasher,
    sums: [u64; SCANS.len()],
}

impl IndexSums {
    pub(super) fn new(keyring: &Keyring) -> Self {
        let mut keyed = DefaultHasher::new();
        keyed.write(keyring.tag(TagDomain::Event, &[b"verify/index-sums"]).as_bytes());
        Self { keyed, sums: [0; SCANS.len()] }
    }

    pub(super) fn add_audit(&mut self, row: &AuditRow) {
        self.add(0, &[row.label.as_bytes()], row.n);
    }

    pub(super) fn add_drawer(&mut self, row: &DrawerRow) {
        self.add(1, &[row.rid.as_bytes()], row.seq);
        self.add(2, &[&row.written.to_be_bytes()], row.seq);
        self.add(3, &[row.wing.as_bytes(), row.room.as_bytes()], row.seq);
        if let Some(source) = &row.source {
            self.add(4, &[source.as_bytes()], row.seq);
        }
        self.add(5, &[row.fp.as_bytes()], row.seq);
        if let Some(link) = &row.supersedes {
            self.add(6, &[link.as_bytes()], row.seq);
        }
    }

    fn add(&mut self, index: usize, key: &[&[u8]], number: i64) {
        self.sums[index] = self.sums[index].wrapping_add(self.entry(key, number));
    }

    fn entry(&self, key: &[&[u8]], number: i64) -> u64 {
        let mut hasher = self.keyed.clone();
        for part in key {
            hasher.write_usize(part.len());
            hasher.write(part);
        }
        hasher.write_i64(number);
        hasher.finish()
    }

    /// Reads each index and compares; malformed rows are findings by themselves and show up here again.
    pub(super) fn compare(&self, snapshot: &Snapshot<'_>, report: &mut VerifyReport) -> Result<()> {
        for (scan, sum) in SCANS.iter().zip(self.sums) {
            let same = match self.scan(snapshot, scan) {
                Ok(found) => found == Some(sum),
                Err(error) if error.class() == ErrorClass::Integrity => false,
                Err(error) => return Err(error),
            };
            if !same {
                let finding = format!("index {} contradicts its table; run: undercroft repair", scan.name);
                VerifyReport::note(&mut report.mirror_drift, finding);
            }
        }
        Ok(())
    }

    /// Sum over the entries of an index, `None` when they are not in order.
    fn scan(&self, snapshot: &Snapshot<'_>, scan: &Scan) -> Result<Option<u64>> {
        snapshot.with(|conn| {
            let mut statement = conn.prepare(scan.sql)?;
            let mut rows = statement.query([])?;
            let (mut sum, mut last) = (0u64, None);
            while let Some(row) = rows.next()? {
                let key = (0..scan.columns).map(|at| Ok(bytes_of(row.get_ref(at)?)));
                let entry = (key.collect::<Result<Vec<_>>>()?, row.get::<_, i64>(scan.columns)?);
                let parts: Vec<&[u8]> = entry.0.iter().map(Vec::as_slice).collect();
                sum = sum.wrapping_add(self.entry(&parts, entry.1));
                if last.as_ref().is_some_and(|last| *last >= entry) {
                    return Ok(None);
                }
                last = Some(entry);
            }
            Ok(Some(sum))
        })
    }
}

/// The bytes of a key; positive integers, as all of them are here, sort as their big-endian bytes do.
fn bytes_of(value: rusqlite::types::ValueRef<'_>) -> Vec<u8> {
    match value {
        rusqlite::types::ValueRef::Integer(number) => number.to_be_bytes().to_vec(),
        rusqlite::types::ValueRef::Blob(bytes) | rusqlite::types::ValueRef::Text(bytes) => bytes.to_vec(),
        _ => Vec::new(),
    }
}
