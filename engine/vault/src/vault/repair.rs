//! Repair: what can be derived is derived again. Vectors and fingerprints that are not what the words give are
//! rewritten in one transaction; SQL indexes and the full-text table are rebuilt in it; the file is compacted. Words and
//! metadata are never changed, what somebody added to the schema and holds nothing of its own is removed, and a record that fails its check stops the repair before anything is written.

use serde::Serialize;
use undercroft_crypto::{Level, TagDomain};

use super::embedder::{self, Recorded};
use super::save::{self, Place, Words};
use super::txn::Txn;
use super::{Vault, prepare::Prepared};
use crate::audit::{Label, REPAIR};
use crate::drawers::{full_text, table};
use crate::error::Result;
use crate::index;
use crate::limits;
use crate::storage::{schema, sqlite};
use crate::verify::VerifyReport;

/// What a repair did.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct RepairReport {
    /// Fingerprints that were missing or of another rule.
    pub fingerprints_backfilled: u64,
    /// Drawers whose vector was made again and differs.
    pub reembedded: u64,
    /// Triggers, views and indexes that this program did not make, removed.
    pub foreign_removed: Vec<String>,
    /// Tables that this program did not make: what they hold is somebody's, so they stay and are told.
    pub foreign_tables: Vec<String>,
    /// Records that were checked.
    pub records_checked: u64,
    /// The verification afterwards.
    pub verify: VerifyReport,
    /// Whether that verification found nothing.
    pub ok: bool,
}

#[derive(Default)]
struct Done {
    fingerprints: u64,
    vectors: u64,
}

impl Vault {
    /// Rebuilds everything derived. `progress` is called with the number of drawers looked at so far.
    ///
    /// # Errors
    /// As [`Vault::write`]; an integrity error when a record fails its check: nothing was changed then.
    pub fn repair(&self, progress: &mut dyn FnMut(u64)) -> Result<RepairReport> {
        let conn = self.writing()?.lock()?;
        let mut txn = self.begin_unproved(&conn, false)?;
        let foreign = schema::remove_foreign(&conn, self.level())?;
        schema::rederive(&conn, self.level())?;
        self.prove(&conn, txn.base())?;
        let done = self.rederive(&mut txn, progress)?;
        let given = Recorded::given(&self.options)?;
        embedder::record(&conn, &self.keyring, &given)?;
        let summary = [done.fingerprints.to_le_bytes(), done.vectors.to_le_bytes()].concat();
        let tag = self.keyring.tag(TagDomain::Event, &[b"migrate/repair", &summary]);
        txn.record(&Label::Migrated(REPAIR), &tag)?;
        self.check_in_place()?;
        let committed = txn.commit()?;
        *self.embedder.lock() = given.clone();
        self.index.unload();
        self.after_commit(&conn, committed);
        index::remove_image(&self.dir)?;
        self.write_embedder(&given.name, given.dimension)?;
        conn.execute_batch("VACUUM")?;
        sqlite::truncate_wal(&conn)?;
        drop(conn);
        let verify = self.verify(&mut |_| {})?;
        Ok(RepairReport {
            fingerprints_backfilled: done.fingerprints,
            reembedded: done.vectors,
            foreign_removed: foreign.removed,
            foreign_tables: foreign.tables,
            records_checked: verify.records_checked,
            ok: verify.ok,
            verify,
        })
    }

    fn rederive(&self, txn: &mut Txn<'_>, progress: &mut dyn FnMut(u64)) -> Result<Done> {
        let mut done = Done::default();
        let (mut after, mut seen) = (0, 0);
        loop {
            let rows = table::after(txn.conn(), after, limits::PAGE_ROWS)?;
            let Some(last) = rows.last() else { return Ok(done) };
            after = last.seq;
            seen += rows.len() as u64;
            let opened =
                rows.into_iter().map(|row| self.open_row(txn.conn(), row)).collect::<Result<Vec<_>>>()?;
            let texts: Vec<&str> = opened.iter().map(|drawer| drawer.text.as_str()).collect();
            for (drawer, prepared) in opened.iter().zip(self.prepare_all(&texts)) {
                let prepared: Prepared = prepared?;
                let new_vector = prepared.vector != drawer.vector(&self.keyring)?;
                let new_print = prepared.fp != drawer.row.fp;
                done.vectors += u64::from(new_vector);
                done.fingerprints += u64::from(new_print);
                if self.level() == Level::HmacOnly {
                    // The table is empty at first; a version that is written below replaces this entry.
                    full_text::put(txn.conn(), drawer.row.seq, &drawer.text)?;
                }
                if new_vector || new_print {
                    let words = Words::New { text: &drawer.text, prepared };
                    save::write_version(self, txn, Place::Replaces(drawer), &drawer.stored, words)?;
                }
            }
            progress(seen);
        }
    }
}
