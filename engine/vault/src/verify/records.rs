//! The leg over drawers: tag, seals, mirror columns, newest version, supersession receipts.

use rusqlite::Connection;
use undercroft_crypto::{BlindColumn, Level};

use super::chain::NewestById;
use super::indexes::IndexSums;
use super::memo::Memo;
use super::report::VerifyReport;
use crate::drawers::table::{self, DrawerRow};
use crate::drawers::{DrawerId, LinkVerdict, Receipt, StoredMeta};
use crate::error::{ErrorClass, Result};
use crate::limits;
use crate::storage::snapshot::Snapshot;
use crate::vault::{Buffers, Vault, open_in, open_unchained};

/// Ranges that the rows are cut into, at most.
const RANGES: i128 = 1_024;

/// Rows with `after < seq <= to`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Range {
    after: i64,
    to: i64,
}

/// A supersession: the newer drawer, the older, and what the newer holds as a receipt.
pub(super) type Link = (DrawerId, DrawerId, Option<Receipt>);

/// What the rows of one range are.
pub(super) struct Walked {
    /// Where the range begins.
    pub(super) after: i64,
    pub(super) count: u64,
    pub(super) met: Vec<Met>,
    pub(super) links: Vec<Link>,
    pub(super) report: VerifyReport,
}

/// A version that was met, to be compared with what the chain records.
pub(super) struct Met {
    id: DrawerId,
    written: i64,
    tag: undercroft_crypto::Tag,
}

/// What a thread keeps from row to row.
#[derive(Debug, Default)]
pub(super) struct Desk {
    buffers: Buffers,
    places: Places,
}

/// The blind forms of names that stand in many rows.
#[derive(Debug)]
struct Places {
    wings: Memo,
    rooms: Memo,
    sources: Memo,
}

impl Default for Places {
    fn default() -> Self {
        let [wings, rooms, sources] =
            [BlindColumn::Wing, BlindColumn::Room, BlindColumn::Source].map(Memo::new);
        Self { wings, rooms, sources }
    }
}

/// No row has a number that is never issued.
pub(super) fn check_numbers(snapshot: &Snapshot<'_>, report: &mut VerifyReport) -> Result<()> {
    if let Some(seq) = snapshot.with(table::first_seq)?.filter(|seq| *seq < 1) {
        VerifyReport::note(&mut report.bad_records, format!("drawer row {seq}: no such number is issued"));
    }
    Ok(())
}

/// Every number that a row can have, in ranges that one thread reads in a few milliseconds while the numbers are close.
pub(super) fn ranges(snapshot: &Snapshot<'_>) -> Result<Vec<Range>> {
    let (first, last) =
        snapshot.with(|conn| Ok((table::first_seq(conn)?.unwrap_or(0), table::last_seq(conn)?)))?;
    Ok(cut(first, last))
}

fn cut(first: i64, last: i64) -> Vec<Range> {
    let (first, last) = (i128::from(first), i128::from(last));
    let width = ((last - first) / RANGES).max(limits::PAGE_ROWS as i128);
    let inner = (1..).map(|n| first + n * width).take_while(|at| *at < last);
    // Each lies between two numbers that are i64.
    let inner = inner.map(|at| i64::try_from(at).unwrap_or(i64::MAX));
    let ends: Vec<i64> = inner.chain([i64::MAX]).collect();
    let starts = [i64::MIN].into_iter().chain(ends.iter().copied());
    starts.zip(&ends).map(|(after, to)| Range { after, to: *to }).collect()
}

/// Checks the rows of a range. What a record's embedding says is covered by its tag and not opened.
pub(super) fn walk(
    vault: &Vault,
    snapshot: &Snapshot<'_>,
    range: Range,
    indexes: &mut IndexSums,
    desk: &mut Desk,
) -> Result<Walked> {
    let mut walked = Walked {
        after: range.after,
        count: 0,
        met: Vec::new(),
        links: Vec::new(),
        report: VerifyReport::default(),
    };
    let mut after = Some(range.after);
    while let Some(from) = after {
        after = snapshot.with(|conn| {
            table::each_between(conn, from, range.to, limits::PAGE_ROWS, |seq, row| {
                walked.count += 1;
                if let Ok(row) = &row {
                    indexes.add_drawer(row);
                }
                if let Err(error) = row.and_then(|row| check(vault, &row, desk, &mut walked)) {
                    let finding = format!("row {seq}: {}", error.finding());
                    VerifyReport::note(&mut walked.report.bad_records, finding);
                }
            })
        })?;
    }
    Ok(walked)
}

fn check(vault: &Vault, row: &DrawerRow<&[u8]>, desk: &mut Desk, walked: &mut Walked) -> Result<()> {
    let Desk { buffers, places } = desk;
    let (stored, text) = open_in(vault.keyring(), row, buffers)?;
    if let Some(column) = mirror(vault, row, &stored, text, places) {
        let finding = format!("{}: column {column}", stored.id);
        VerifyReport::note(&mut walked.report.mirror_drift, finding);
    }
    if let Some(older) = stored.meta.supersedes {
        walked.links.push((stored.id, older, stored.receipt));
    }
    walked.met.push(Met { id: stored.id, written: row.written, tag: row.tag });
    Ok(())
}

/// The blind columns say the same as the covered metadata; gives the first that does not.
fn mirror(
    vault: &Vault,
    row: &DrawerRow<&[u8]>,
    stored: &StoredMeta,
    text: &str,
    places: &mut Places,
) -> Option<&'static str> {
    let (keyring, meta) = (vault.keyring(), &stored.meta);
    let source = meta.source_file.as_ref().map(|name| places.sources.blind(keyring, name));
    let link = meta.supersedes.as_ref().map(|id| keyring.blind(BlindColumn::Supersedes, id.as_bytes()));
    let checks = [
        (row.wing == places.wings.blind(keyring, &meta.wing), "wing"),
        (row.room == places.rooms.blind(keyring, &meta.room), "room"),
        (row.source == source, "source"),
        (row.supersedes == link, "supersedes"),
        (row.fp == vault.fingerprint(text), "fingerprint"),
    ];
    checks.into_iter().find(|(same, _)| !same).map(|(_, column)| column)
}

/// Compares the versions met with the newest that the chain records.
pub(super) fn compare(met: &[Met], newest: &mut NewestById, report: &mut VerifyReport) {
    for Met { id, written, tag } in met {
        match newest.get_mut(id) {
            None => VerifyReport::note(&mut report.orphan_labels, format!("{id}: no audit record names it")),
            Some(known) => {
                known.met = true;
                if known.written != Some((*written, *tag)) || known.destroyed > Some(*written) {
                    VerifyReport::note(&mut report.version_replay, id.to_string());
                }
            }
        }
    }
}

pub(super) fn judge_links(
    vault: &Vault,
    snapshot: &Snapshot<'_>,
    links: &[Link],
    report: &mut VerifyReport,
) -> Result<()> {
    for (newer, older, receipt) in links {
        let target = snapshot.with(|conn| table::by_rid(conn, &vault.keyring().record_id(older)))?;
        // A target that does not open is a bad record by itself; the link then points at nothing readable.
        let text = target.and_then(|row| open_unchained(vault.keyring(), row).ok()).map(|opened| opened.text);
        let verdict = match receipt {
            None => LinkVerdict::Unreceipted,
            Some(receipt) => {
                receipt.judge(vault.keyring().mac(), newer, older, text.as_deref().map(str::as_bytes))
            }
        };
        report.supersessions.count(verdict);
        if verdict == LinkVerdict::Tampered {
            VerifyReport::note(&mut report.bad_supersessions, newer.to_string());
        }
    }
    Ok(())
}

/// The full-text table of an `hmac-only` vault has one row a drawer, and its pages are whole.
pub(super) fn full_text(vault: &Vault, snapshot: &Snapshot<'_>, report: &mut VerifyReport) -> Result<()> {
    if vault.level() != Level::HmacOnly {
        return Ok(());
    }
    let finding = match snapshot.with(|conn| Ok((rows_out_of_step(conn)?, damaged_pages(conn)?))) {
        Ok((0, None)) => return Ok(()),
        Ok((0, Some(damage))) => format!("full-text table: {damage}"),
        Ok((off, _)) => format!("full-text table: {off} row(s) out of step with the drawers"),
        Err(error) if error.class() == ErrorClass::Integrity => format!("full-text table: {error}"),
        Err(error) => return Err(error),
    };
    VerifyReport::note(&mut report.mirror_drift, format!("{finding}; run: undercroft repair"));
    Ok(())
}

fn rows_out_of_step(conn: &Connection) -> Result<i64> {
    let sql = "SELECT (SELECT count(*) FROM drawers WHERE seq NOT IN (SELECT rowid FROM drawers_fts))
                    + (SELECT count(*) FROM drawers_fts WHERE rowid NOT IN (SELECT seq FROM drawers))";
    Ok(conn.query_row(sql, [], |row| row.get(0))?)
}

/// What the table's own check finds first. It compares no words: nothing is answered from this table.
fn damaged_pages(conn: &Connection) -> Result<Option<String>> {
    let said: String = conn.query_row("PRAGMA integrity_check(drawers_fts)", [], |row| row.get(0))?;
    Ok((said != "ok").then_some(said))
}
