//! Whether the rows that an index is built from are the newest that the audit chain records, each of them, and none is
//! missing: a search over fewer rows would answer "nothing found" about words that are kept.

use rustc_hash::FxHashMap;
use undercroft_crypto::{Blind, Tag};

use crate::audit::{self, Label};
use crate::drawers::DrawerId;
use crate::error::{Error, Result};
use crate::keyring::Keyring;
use crate::limits;
use crate::storage::snapshot::Snapshot;

/// The version of a drawer that a row holds.
pub(super) struct Version {
    pub(super) id: DrawerId,
    pub(super) written: i64,
    pub(super) tag: Tag,
    /// Blind label of the record that wrote it.
    pub(super) label: Blind,
}

/// The newest record of every label.
#[derive(Default)]
pub(super) struct Recorded(FxHashMap<Blind, Record>);

struct Record {
    n: i64,
    tag: Tag,
    met: bool,
}

impl Recorded {
    /// Reads the chain that the snapshot shows; it was proved, or is before anything that follows from this is used.
    pub(super) fn load(snapshot: &Snapshot<'_>) -> Result<Self> {
        let (mut newest, mut after) = (FxHashMap::default(), Some(0));
        while let Some(from) = after {
            let mut failed = None;
            after = snapshot.with(|conn| {
                audit::table::each_after(conn, from, limits::PAGE_ROWS, |n, row| match row {
                    // Rows come oldest first: the last one stays.
                    Ok(row) => drop(newest.insert(row.label, Record { n, tag: row.tag, met: false })),
                    Err(error) => failed = Some(error),
                })
            })?;
            if let Some(error) = failed {
                return Err(error);
            }
        }
        Ok(Self(newest))
    }

    /// Takes note of a row.
    pub(super) fn meet(&mut self, version: &Version) -> Result<()> {
        match self.0.get_mut(&version.label) {
            Some(record) if (record.n, record.tag) == (version.written, version.tag) => {
                record.met = true;
                Ok(())
            }
            Some(_) => Err(Error::record("drawer", version.id, "an older version of the row was put back")),
            None => Err(Error::record("drawer", version.id, "no audit record names it")),
        }
    }

    /// Every row was met: what the chain records beyond them was destroyed.
    pub(super) fn settle(&self, keyring: &Keyring, snapshot: &Snapshot<'_>) -> Result<()> {
        for record in self.0.values().filter(|record| !record.met) {
            let rows = snapshot.with(|conn| audit::table::after(conn, record.n - 1, 1))?;
            let Some(row) = rows.first() else { continue };
            match row.open_label(keyring)?.parse() {
                Ok(Label::Written(id)) if !self.destroyed_after(keyring, id, record.n) => {
                    return Err(Error::record(
                        "drawer",
                        id,
                        "the audit chain records it, but its row is missing",
                    ));
                }
                Ok(Label::Destroyed(id)) if self.stands_before(keyring, id, record.n) => {
                    return Err(Error::record("drawer", id, "the row of a destroyed drawer was put back"));
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn destroyed_after(&self, keyring: &Keyring, id: DrawerId, n: i64) -> bool {
        self.0.get(&keyring.label(&Label::Destroyed(id))).is_some_and(|destroyed| destroyed.n > n)
    }

    fn stands_before(&self, keyring: &Keyring, id: DrawerId, n: i64) -> bool {
        self.0.get(&keyring.label(&Label::Written(id))).is_some_and(|written| written.met && written.n < n)
    }
}
