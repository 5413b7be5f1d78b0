//! Removing copies: drawers of one wing whose words are the same but for form. The oldest stays and keeps the days of
//! the others. A drawer that takes part in a supersession is left: removing it would break a receipt. So is a piece of a
//! longer text: without it the others would not be that text any more.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use serde::{Deserialize, Serialize};
use undercroft_crypto::BlindColumn;

use super::door::{BypassReason, Change, Outcome, Screening};
use super::save::{self, Place, Words};
use super::txn::Txn;
use super::{Opened, Vault};
use crate::drawers::table;
use crate::drawers::{AddedBy, Occurrence};
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
    /// Days of removed copies that the drawers that stay keep, or would.
    pub dates_kept: u64,
    /// Copies that the screen held back; none while no screen is declared.
    pub quarantined: u64,
    /// Days of removed copies that the drawers that stay have no room for. Told on the command line alone.
    #[serde(skip)]
    pub dates_lost: u64,
    /// Drawers with the words of others that stay because they are pieces of longer texts. Told there too.
    #[serde(skip)]
    pub pieces_left: u64,
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
                for group in groups(self, conn, &mut report.pieces_left)? {
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
    for group in groups(vault, txn.conn(), &mut report.pieces_left)? {
        count(&mut report, &group);
        let Some((keeper, copies)) = group.split_first() else { continue };
        let mut stored = keeper.stored.clone();
        stored.meta.occurrences = days_of(keeper, copies).kept;
        for copy in copies {
            save::destroy(vault, txn, copy)?;
        }
        save::write_version(vault, txn, Place::Replaces(keeper), &stored, Words::Kept(keeper))?;
    }
    Ok(report)
}

fn count(report: &mut DedupReport, group: &[Opened]) {
    let Some((keeper, copies)) = group.split_first() else { return };
    let days = days_of(keeper, copies);
    report.duplicate_groups += 1;
    report.removed += copies.len() as u64;
    report.dates_kept += days.new_kept;
    report.dates_lost += days.lost;
}

/// The days of a group.
struct Days {
    /// What the keeper has from now on.
    kept: Vec<Occurrence>,
    /// How many of them it did not have before.
    new_kept: u64,
    /// How many there is no room for.
    lost: u64,
}

/// Puts the days of the copies beside those that the keeper has; beyond the limit the oldest give way.
fn days_of(keeper: &Opened, copies: &[Opened]) -> Days {
    let before = &keeper.stored.meta.occurrences;
    let of_copies = copies.iter().flat_map(|copy| {
        let meta = &copy.stored.meta;
        let own = Occurrence { content_date: meta.content_date.clone(), filed_at: meta.filed_at.clone() };
        std::iter::once(own).chain(meta.occurrences.iter().cloned())
    });
    let mut kept: Vec<Occurrence> = before.iter().cloned().chain(of_copies).collect();
    kept.sort();
    kept.dedup();
    let lost = kept.len().saturating_sub(limits::MAX_OCCURRENCES);
    kept.drain(..lost);
    let known = before.iter().filter(|day| kept.binary_search(day).is_ok()).count();
    Days { new_kept: (kept.len() - known) as u64, lost: lost as u64, kept }
}

/// Groups of at least two copies, oldest first in each, without drawers that are linked, and without pieces, which are
/// counted.
fn groups(vault: &Vault, conn: &rusqlite::Connection, pieces_left: &mut u64) -> Result<Vec<Vec<Opened>>> {
    check_all(vault, conn)?;
    let mut shapes = Shapes::default();
    let mut out = Vec::new();
    for group in table::duplicate_groups(conn)? {
        let mut members = Vec::new();
        for seq in group {
            let row = table::by_seq(conn, seq)?
                .ok_or_else(|| Error::record("drawer row", seq, "it vanished inside a snapshot"))?;
            let opened = vault.open_row(conn, row)?;
            if shapes.is_piece(vault, conn, &opened)? {
                *pieces_left += 1;
            } else if !is_linked(vault, conn, &opened)? {
                members.push(opened);
            }
        }
        if members.len() > 1 {
            out.push(members);
        }
    }
    Ok(out)
}

/// Which drawers belong together: by source, wing and surface, the lines of each that has one. Read once a source.
#[derive(Default)]
struct Shapes(HashMap<Vec<u8>, HashMap<AddedBy, Shape>>);

/// What one surface filed from one source into one wing.
#[derive(Default)]
struct Shape {
    drawers: usize,
    /// How many stand for these lines: more than one are parts of one message.
    at: HashMap<(u32, u32), usize>,
}

impl Shapes {
    /// Whether the drawer is one of several that are a text together: a file that was cut, or a message that was.
    fn is_piece(&mut self, vault: &Vault, conn: &rusqlite::Connection, opened: &Opened) -> Result<bool> {
        let meta = &opened.stored.meta;
        let Some(source) = &opened.row.source else { return Ok(false) };
        let key = [source.as_bytes().as_slice(), opened.row.wing.as_bytes()].concat();
        let shapes = match self.0.entry(key) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(unknown) => {
                let mut shapes: HashMap<AddedBy, Shape> = HashMap::new();
                for row in
                    table::by_source(conn, source)?.into_iter().filter(|row| row.wing == opened.row.wing)
                {
                    let meta = vault.open_row(conn, row)?.stored.meta;
                    let shape = shapes.entry(meta.added_by).or_default();
                    shape.drawers += 1;
                    if let Some(lines) = meta.line_start.zip(meta.line_end) {
                        *shape.at.entry(lines).or_default() += 1;
                    }
                }
                unknown.insert(shapes)
            }
        };
        let Some(shape) = shapes.get(&meta.added_by) else { return Ok(false) };
        Ok(match meta.added_by {
            AddedBy::Miner => shape.drawers > 1,
            AddedBy::ConvoMiner | AddedBy::Sweeper => {
                let lines = meta.line_start.zip(meta.line_end);
                lines.is_some_and(|lines| shape.at.get(&lines).is_some_and(|count| *count > 1))
            }
            _ => false,
        })
    }
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
