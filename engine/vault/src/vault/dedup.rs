//! Removing copies: drawers of one wing whose words are the same but for form. The oldest stays and keeps the days of
//! the others. A drawer that takes part in a supersession is left: removing it would break a receipt.

use serde::{Deserialize, Serialize};
use undercroft_crypto::BlindColumn;

use super::door::{BypassReason, Change, Outcome, Screening};
use super::save::{self, Place, Words};
use super::txn::Txn;
use super::{Opened, Vault};
use crate::drawers::Occurrence;
use crate::drawers::table;
use crate::error::{Error, Result};
use crate::limits;

/// What deduplication found, or did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct DedupReport {
    /// Groups of copies.
    pub duplicate_groups: u64,
    /// Copies removed, or that would be.
    pub removed: u64,
    /// Whether anything was removed.
    pub applied: bool,
    /// Days kept from removed copies.
    pub dates_kept: u64,
    /// Copies that the screen held back; none while no screen is declared.
    pub quarantined: u64,
}

impl Vault {
    /// Counts copies, and removes them when `apply` is set. Every drawer is checked first: one whose fingerprint was changed
    /// would be missed, or taken for a copy.
    ///
    /// # Errors
    /// As [`Vault::write`]; an integrity error when a drawer fails its check, and then nothing is removed.
    pub fn dedup(&self, apply: bool) -> Result<DedupReport> {
        if !apply {
            let snapshot = self.reading()?;
            return snapshot.with(|conn| {
                let mut report = DedupReport::default();
                for group in groups(self, conn)? {
                    count(&mut report, &group);
                }
                Ok(report)
            });
        }
        let screening = Screening::Bypass(BypassReason::Maintenance);
        match self.write(vec![Change::Dedup], screening)?.pop() {
            Some(Ok(Outcome::Deduplicated(report))) => Ok(report),
            Some(Err(error)) => Err(error),
            other => Err(Error::invalid("change", format!("internal: unexpected outcome {other:?}"))),
        }
    }
}

/// Removes the copies inside the door's transaction.
pub(super) fn apply(vault: &Vault, txn: &mut Txn<'_>) -> Result<DedupReport> {
    let mut report = DedupReport { applied: true, ..DedupReport::default() };
    for group in groups(vault, txn.conn())? {
        count(&mut report, &group);
        let Some((keeper, copies)) = group.split_first() else { continue };
        let mut stored = keeper.stored.clone();
        let days = days_of(copies);
        stored.meta.occurrences.extend(days);
        stored.meta.occurrences.sort();
        stored.meta.occurrences.dedup();
        let surplus = stored.meta.occurrences.len().saturating_sub(limits::MAX_OCCURRENCES);
        stored.meta.occurrences.drain(..surplus);
        for copy in copies {
            save::destroy(vault, txn, copy)?;
        }
        save::write_version(vault, txn, Place::Replaces(keeper), &stored, Words::Kept(keeper))?;
    }
    Ok(report)
}

fn count(report: &mut DedupReport, group: &[Opened]) {
    let copies = &group[1..];
    report.duplicate_groups += 1;
    report.removed += copies.len() as u64;
    report.dates_kept += days_of(copies).len() as u64;
}

fn days_of(copies: &[Opened]) -> Vec<Occurrence> {
    copies
        .iter()
        .flat_map(|copy| {
            let meta = &copy.stored.meta;
            let own = Occurrence { content_date: meta.content_date.clone(), filed_at: meta.filed_at.clone() };
            std::iter::once(own).chain(meta.occurrences.iter().cloned())
        })
        .collect()
}

/// Groups of at least two copies, oldest first in each, without drawers that are linked.
fn groups(vault: &Vault, conn: &rusqlite::Connection) -> Result<Vec<Vec<Opened>>> {
    check_all(vault, conn)?;
    let mut out = Vec::new();
    for group in table::duplicate_groups(conn)? {
        let mut members = Vec::new();
        for seq in group {
            let row = table::by_seq(conn, seq)?
                .ok_or_else(|| Error::record("drawer row", seq, "it vanished inside a snapshot"))?;
            let opened = vault.open_row(conn, row)?;
            if !is_linked(vault, conn, &opened)? {
                members.push(opened);
            }
        }
        if members.len() > 1 {
            out.push(members);
        }
    }
    Ok(out)
}

fn check_all(vault: &Vault, conn: &rusqlite::Connection) -> Result<()> {
    let mut after = 0;
    loop {
        let rows = table::after(conn, after, limits::PAGE_ROWS)?;
        let Some(last) = rows.last() else { return Ok(()) };
        after = last.seq;
        rows.into_iter().try_for_each(|row| vault.open_row(conn, row).map(drop))?;
    }
}

fn is_linked(vault: &Vault, conn: &rusqlite::Connection, opened: &Opened) -> Result<bool> {
    let own = vault.keyring().blind(BlindColumn::Supersedes, opened.stored.id.as_bytes());
    Ok(opened.row.supersedes.is_some() || table::is_superseded(conn, &own)?)
}
