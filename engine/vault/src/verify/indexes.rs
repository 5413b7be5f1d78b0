//! The leg over SQL indexes: every entry of each belongs to a row and every row has its entry, in order. An index that
//! leads nowhere would make a lookup miss what is there. Owns sums over what the other legs read; reads no row itself.

use std::hash::{DefaultHasher, Hasher as _};

use rusqlite::types::ValueRef;
use undercroft_crypto::TagDomain;

use super::report::VerifyReport;
use crate::audit::table::AuditRow;
use crate::drawers::table::DrawerRow;
use crate::error::{ErrorClass, Result};
use crate::keyring::Keyring;
use crate::storage::outcomes::OutcomeRow;
use crate::storage::snapshot::Snapshot;

/// An index, the scan that reads it alone (its columns, then the row's number or key), and how many columns it has.
struct Scan {
    name: &'static str,
    sql: &'static str,
    columns: usize,
}

const SCANS: [Scan; 8] = [
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
    Scan {
        name: "outcomes_expires",
        sql: "SELECT expires, key FROM outcomes INDEXED BY outcomes_expires",
        columns: 1,
    },
];

/// For each index the sum, modulo 2^64, of a keyed hash of the entries that the rows demand. The order of rows does
/// not matter to a sum, and without the key nobody can choose entries whose sum is the same.
pub(super) struct IndexSums {
    keyed: DefaultHasher,
    sums: [u64; SCANS.len()],
}

/// The sum over the entries of each index, `None` for one that is not in order or does not read.
pub(super) struct Scanned([Option<u64>; SCANS.len()]);

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

    pub(super) fn add_outcome(&mut self, row: &OutcomeRow) {
        self.add_entry(7, [&row.expires.to_be_bytes()[..], row.key.as_bytes()]);
    }

    fn add(&mut self, index: usize, key: &[&[u8]], number: i64) {
        self.add_entry(index, key.iter().copied().chain([&number.to_be_bytes()[..]]));
    }

    fn add_entry<'a>(&mut self, index: usize, parts: impl IntoIterator<Item = &'a [u8]>) {
        let mut entry = Entry::default();
        parts.into_iter().for_each(|part| entry.push(part));
        self.sums[index] = self.sums[index].wrapping_add(self.hash(&entry));
    }

    fn hash(&self, entry: &Entry) -> u64 {
        let mut hasher = self.keyed.clone();
        hasher.write(&entry.bytes);
        hasher.finish()
    }

    /// Adds the entries that another leg met.
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

    /// Reads each index.
    pub(super) fn scan_all(&self, snapshot: &Snapshot<'_>) -> Result<Scanned> {
        let mut scanned = Scanned([None; SCANS.len()]);
        for (scan, found) in SCANS.iter().zip(&mut scanned.0) {
            *found = match self.scan(snapshot, scan) {
                Err(error) if error.class() == ErrorClass::Integrity => None,
                other => other?,
            };
        }
        Ok(scanned)
    }

    /// Sum over the entries of an index, `None` when they are not in order.
    fn scan(&self, snapshot: &Snapshot<'_>, scan: &Scan) -> Result<Option<u64>> {
        snapshot.with(|conn| {
            let mut statement = conn.prepare(scan.sql)?;
            let mut rows = statement.query([])?;
            let (mut sum, mut entry, mut last) = (0u64, Entry::default(), Entry::default());
            while let Some(row) = rows.next()? {
                entry.bytes.clear();
                for at in 0..=scan.columns {
                    match row.get_ref(at)? {
                        ValueRef::Integer(number) => entry.push(&number.to_be_bytes()),
                        ValueRef::Blob(bytes) => entry.push(bytes),
                        _ => return Ok(None),
                    }
                }
                if last >= entry {
                    return Ok(None);
                }
                sum = sum.wrapping_add(self.hash(&entry));
                std::mem::swap(&mut last, &mut entry);
            }
            Ok(Some(sum))
        })
    }
}

/// The columns of an entry, each after its length. Entries of one index have columns of equal lengths and no negative
/// numbers, so they sort as SQLite sorts them; any other entry is in no sum.
#[derive(Default, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    bytes: Vec<u8>,
}

impl Entry {
    fn push(&mut self, column: &[u8]) {
        self.bytes.extend_from_slice(&(column.len() as u64).to_be_bytes());
        self.bytes.extend_from_slice(column);
    }
}
