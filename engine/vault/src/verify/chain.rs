//! The leg over the audit chain: replay, shown labels, and what each drawer's newest record is.

use rayon::prelude::*;
use rustc_hash::FxHashMap;
use undercroft_crypto::{Anchor, ChainState, Tag};

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

/// Every drawer that the chain names.
pub(super) type NewestById = FxHashMap<DrawerId, Newest>;

/// Replays the chain and opens every label.
pub(super) fn walk(
    vault: &Vault,
    snapshot: &Snapshot<'_>,
    expected: Option<(&ChainState, &Anchor)>,
    report: &mut VerifyReport,
) -> Result<NewestById> {
    let mut newest = NewestById::default();
    let mut state = ChainState::genesis();
    let mut broken = false;
    let mut anchor_met =
        expected.is_none_or(|(_, anchor)| anchor.height == state.height && anchor.head == state.head);
    let mut rows = fetch(snapshot, 0)?;
    while let Some(last) = rows.last().map(|row| row.n) {
        let (labels, next) = rayon::join(|| open_labels(vault, &rows), || fetch(snapshot, last));
        for (row, label) in rows.iter().zip(labels) {
            broken |= row.n != audit::state::as_sql(state.height) + 1;
            state = vault.keyring().step(&state, &row.label, &row.tag, row.at);
            if let Some((_, anchor)) = expected {
                anchor_met |= anchor.height == state.height && anchor.head == state.head;
            }
            note_label(row, label, &mut newest, report);
        }
        rows = next?;
    }
    report.chain_ok = !broken && anchor_met && expected.is_some_and(|(stored, _)| *stored == state);
    Ok(newest)
}

fn fetch(snapshot: &Snapshot<'_>, after: i64) -> Result<Vec<AuditRow>> {
    snapshot.with(|conn| audit::table::after(conn, after, PAGE))
}

fn open_labels(vault: &Vault, rows: &[AuditRow]) -> Vec<Result<String>> {
    rows.par_iter().map(|row| row.open_label(vault.keyring())).collect()
}

fn note_label(row: &AuditRow, label: Result<String>, newest: &mut NewestById, report: &mut VerifyReport) {
    let label = match label {
        Ok(text) => text.parse::<Label>(),
        Err(error) => {
            VerifyReport::note(&mut report.label_drift, format!("record {}: {error}", row.n));
            return;
        }
    };
    match label {
        Ok(Label::Written(id)) => newest.entry(id).or_default().written = Some((row.n, row.tag)),
        Ok(Label::Destroyed(id)) => newest.entry(id).or_default().destroyed = Some(row.n),
        // Other namespaces name no row.
        Ok(Label::Migrated(_)) | Err(_) => {}
    }
}

/// Every written drawer must be there or have been destroyed since.
pub(super) fn resolve(newest: &NewestById, report: &mut VerifyReport) {
    let mut missing: Vec<String> = newest
        .iter()
        .filter(|(_, record)| {
            let written = record.written.map(|(n, _)| n);
            !record.met && written > record.destroyed
        })
        .map(|(id, _)| id.to_string())
        .collect();
    missing.sort();
    for id in missing {
        VerifyReport::note(&mut report.orphan_labels, id);
    }
}
