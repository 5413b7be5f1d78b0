//! The leg over the audit chain: replay, shown labels, and what each drawer's newest record is.

use rayon::prelude::*;
use rustc_hash::FxHashMap;
use undercroft_crypto::{Anchor, ChainState, Tag};

use super::indexes::IndexSums;
use super::report::VerifyReport;
use crate::audit::table::AuditRow;
use crate::audit::{self, Label};
use crate::drawers::DrawerId;
use crate::error::Result;
use crate::limits;
use crate::storage::snapshot::Snapshot;
use crate::vault::Vault;

/// Rows opened at a time: large enough to keep every core busy.
const PAGE: usize = 8 * limits::PAGE_ROWS;

/// The newest records about one drawer.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Newest {
    pub(super) written: Option<(i64, Tag)>,
    pub(super) destroyed: Option<i64>,
    /// The records leg met its row.
    pub(super) met: bool,
}

impl Newest {
    fn is_alive(&self) -> bool {
        self.written.map(|(n, _)| n) > self.destroyed
    }
}

/// What the chain says.
#[derive(Debug, Default)]
pub(super) struct Walked {
    pub(super) newest: NewestById,
    /// Drawers ever filed: writes of an id that was not there.
    pub(super) filed: i64,
}

/// Every drawer that the chain names.
pub(super) type NewestById = FxHashMap<DrawerId, Newest>;

/// Replays the chain and opens every label.
pub(super) fn walk(
    vault: &Vault,
    snapshot: &Snapshot<'_>,
    expected: Option<(&ChainState, &Anchor)>,
    indexes: &mut IndexSums,
    report: &mut VerifyReport,
) -> Result<Walked> {
    let mut walked = Walked::default();
    let mut state = ChainState::genesis();
    let meets = |state: &ChainState| {
        expected.is_some_and(|(_, anchor)| anchor.height == state.height && anchor.head == state.head)
    };
    let mut broken = snapshot.with(audit::table::first)?.is_some_and(|n| n < 1);
    let mut anchor_met = meets(&state);
    let mut rows = fetch(snapshot, 0)?;
    while let Some(last) = rows.last().map(|(n, _)| *n) {
        let (labels, next) = rayon::join(|| open_labels(vault, &rows), || fetch(snapshot, last));
        for ((n, row), label) in rows.iter().zip(labels) {
            broken |= *n != audit::state::as_sql(state.height) + 1;
            if let Ok(row) = row {
                state = vault.keyring().step(&state, &row.label, &row.tag, row.at);
                indexes.add_audit(row);
            }
            broken |= row.is_err();
            anchor_met |= meets(&state);
            note_label(*n, row.as_ref().ok(), label, &mut walked, report);
        }
        rows = next?;
    }
    report.chain_ok = !broken && anchor_met && expected.is_some_and(|(stored, _)| *stored == state);
    Ok(walked)
}

type Page = Vec<(i64, Result<AuditRow>)>;

fn fetch(snapshot: &Snapshot<'_>, after: i64) -> Result<Page> {
    snapshot.with(|conn| audit::table::after_each(conn, after, PAGE))
}

/// The label of each record, or what is wrong with the record.
fn open_labels(vault: &Vault, rows: &Page) -> Vec<Result<String, String>> {
    let open = |row: &Result<AuditRow>| match row {
        Ok(row) => row.open_label(vault.keyring()).map_err(|error| error.finding()),
        Err(error) => Err(error.finding()),
    };
    rows.par_iter().map(|(_, row)| open(row)).collect()
}

fn note_label(
    n: i64,
    row: Option<&AuditRow>,
    label: Result<String, String>,
    walked: &mut Walked,
    report: &mut VerifyReport,
) {
    let text = match label {
        Ok(text) => text,
        Err(finding) => {
            VerifyReport::note(&mut report.label_drift, format!("record {n}: {finding}"));
            return;
        }
    };
    let (Some(row), Ok(label)) = (row, text.parse::<Label>()) else { return };
    match label {
        Label::Written(id) => {
            let record = walked.newest.entry(id).or_default();
            walked.filed += i64::from(!record.is_alive());
            record.written = Some((n, row.tag));
        }
        Label::Destroyed(id) => walked.newest.entry(id).or_default().destroyed = Some(n),
        // Other namespaces name no row.
        Label::Migrated(_) => {}
    }
}

/// Every written drawer must be there or have been destroyed since.
pub(super) fn resolve(newest: &NewestById, report: &mut VerifyReport) {
    let mut missing: Vec<String> = newest
        .iter()
        .filter(|(_, record)| !record.met && record.is_alive())
        .map(|(id, _)| id.to_string())
        .collect();
    missing.sort();
    for id in missing {
        VerifyReport::note(&mut report.orphan_labels, id);
    }
}
