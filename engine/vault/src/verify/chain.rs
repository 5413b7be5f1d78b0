//! The leg over the audit chain: replay, shown labels, and what each drawer's newest record is.

use rustc_hash::FxHashMap;
use undercroft_crypto::{Anchor, ChainState, Tag};

use super::indexes::IndexSums;
use super::report::VerifyReport;
use crate::audit::table::AuditRow;
use crate::audit::{self, Label};
use crate::drawers::{DrawerId, table};
use crate::error::{Error, Result};
use crate::limits;
use crate::storage::snapshot::Snapshot;
use crate::vault::Vault;

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
    walked.newest.reserve(snapshot.with(table::count)?.try_into().unwrap_or(0));
    let mut replay = Replay {
        state: ChainState::genesis(),
        broken: snapshot.with(audit::table::first)?.is_some_and(|n| n < 1),
        anchor_met: false,
        anchor: expected.map(|(_, anchor)| anchor),
    };
    replay.meet_anchor();
    let (mut label, mut after) = (Vec::new(), Some(0));
    while let Some(from) = after {
        after = snapshot.with(|conn| {
            audit::table::each_after(conn, from, limits::PAGE_ROWS, |n, row| {
                replay.step(vault, n, row.as_ref().ok());
                if let Ok(row) = &row {
                    indexes.add_audit(row);
                }
                note_label(vault, n, &row, &mut label, &mut walked, report);
            })
        })?;
    }
    report.chain_ok =
        !replay.broken && replay.anchor_met && expected.is_some_and(|(stored, _)| *stored == replay.state);
    Ok(walked)
}

/// The chain as far as it was replayed.
struct Replay<'a> {
    state: ChainState,
    broken: bool,
    anchor_met: bool,
    anchor: Option<&'a Anchor>,
}

impl Replay<'_> {
    fn meet_anchor(&mut self) {
        let state = &self.state;
        self.anchor_met |=
            self.anchor.is_some_and(|anchor| anchor.height == state.height && anchor.head == state.head);
    }

    /// Takes the next row; one that does not read breaks the chain.
    fn step(&mut self, vault: &Vault, n: i64, row: Option<&AuditRow<&[u8]>>) {
        self.broken |= n != audit::state::as_sql(self.state.height) + 1;
        match row {
            Some(row) => self.state = vault.keyring().step(&self.state, &row.label, &row.tag, row.at),
            None => self.broken = true,
        }
        self.meet_anchor();
    }
}

fn note_label(
    vault: &Vault,
    n: i64,
    row: &Result<AuditRow<&[u8]>>,
    buffer: &mut Vec<u8>,
    walked: &mut Walked,
    report: &mut VerifyReport,
) {
    let read = row.as_ref().map_err(Error::finding);
    let opened = read.and_then(|row| {
        row.open_label_into(vault.keyring(), buffer).map(|text| (row, text)).map_err(|error| error.finding())
    });
    let (row, text) = match opened {
        Ok(opened) => opened,
        Err(finding) => {
            VerifyReport::note(&mut report.label_drift, format!("record {n}: {finding}"));
            return;
        }
    };
    let Ok(label) = text.parse::<Label>() else { return };
    match label {
        Label::Written(id) => {
            let record = walked.newest.entry(id).or_default();
            walked.filed += i64::from(!record.is_alive());
            record.written = Some((n, row.tag));
        }
        Label::Destroyed(id) => walked.newest.entry(id).or_default().destroyed = Some(n),
        // Other namespaces name no row.
        Label::Migrated(_) | Label::Outcomes => {}
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
