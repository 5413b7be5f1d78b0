//! The leg over drawers: tag, seals, mirror columns, newest version, supersession receipts.

use rayon::prelude::*;
use undercroft_crypto::{BlindColumn, Level};

use super::chain::NewestById;
use super::indexes::IndexSums;
use super::report::VerifyReport;
use crate::drawers::table::{self, DrawerRow};
use crate::drawers::{DrawerId, LinkVerdict, Receipt};
use crate::error::{ErrorClass, Result};
use crate::limits;
use crate::storage::snapshot::Snapshot;
use crate::vault::{Opened, Vault, open_unchained};

/// Rows opened at a time.
const PAGE: usize = 4 * limits::PAGE_ROWS;

/// What is kept of a record that opened.
struct Checked {
    met: Met,
    drift: Option<&'static str>,
    link: Option<(DrawerId, Option<Receipt>)>,
}

/// A version that was met, to be compared with what the chain records.
pub(super) struct Met {
    id: DrawerId,
    written: i64,
    tag: undercroft_crypto::Tag,
}

/// Walks every drawer, and gives the versions met. What a record's embedding says is covered by its tag and not opened.
pub(super) fn walk(
    vault: &Vault,
    snapshot: &Snapshot<'_>,
    indexes: &mut IndexSums,
    report: &mut VerifyReport,
    progress: &mut dyn FnMut(u64),
) -> Result<Vec<Met>> {
    let (mut met, mut links) = (Vec::new(), Vec::new());
    if let Some(seq) = snapshot.with(table::first_seq)?.filter(|seq| *seq < 1) {
        VerifyReport::note(&mut report.bad_records, format!("drawer row {seq}: no such number is issued"));
    }
    let mut page = fetch(snapshot, i64::MIN)?;
    while let Some(last) = page.last().map(|(seq, _)| *seq) {
        let count = page.len() as u64;
        page.iter().filter_map(|(_, row)| row.as_ref().ok()).for_each(|row| indexes.add_drawer(row));
        let (checked, next) = rayon::join(|| check_page(vault, page), || fetch(snapshot, last));
        for (seq, result) in checked {
            match result {
                Ok(record) => note(record, &mut met, &mut links, report),
                Err(error) => {
                    VerifyReport::note(&mut report.bad_records, format!("row {seq}: {}", error.finding()));
                }
            }
        }
        report.records_checked += count;
        progress(report.records_checked);
        page = next?;
    }
    judge_links(vault, snapshot, &links, report)?;
    full_text(vault, snapshot, report)?;
    Ok(met)
}

type Page = Vec<(i64, Result<DrawerRow>)>;

fn fetch(snapshot: &Snapshot<'_>, after: i64) -> Result<Page> {
    snapshot.with(|conn| table::after_each(conn, after, PAGE))
}

fn check_page(vault: &Vault, page: Page) -> Vec<(i64, Result<Checked>)> {
    page.into_par_iter().map(|(seq, row)| (seq, row.and_then(|row| check(vault, row)))).collect()
}

fn check(vault: &Vault, row: DrawerRow) -> Result<Checked> {
    let opened = open_unchained(vault.keyring(), row)?;
    let drift = mirror(vault, &opened);
    let meta = opened.stored.meta;
    Ok(Checked {
        met: Met { id: opened.stored.id, written: opened.row.written, tag: opened.row.tag },
        drift,
        link: meta.supersedes.map(|older| (older, opened.stored.receipt)),
    })
}

/// The blind columns say the same as the covered metadata.
fn mirror(vault: &Vault, opened: &Opened) -> Option<&'static str> {
    let (row, meta) = (&opened.row, &opened.stored.meta);
    let blind = |column, value: &[u8]| vault.keyring().blind(column, value);
    let source = meta.source_file.as_ref().map(|name| blind(BlindColumn::Source, name.as_bytes()));
    let link = meta.supersedes.as_ref().map(|id| blind(BlindColumn::Supersedes, id.as_bytes()));
    let checks = [
        (row.wing == blind(BlindColumn::Wing, meta.wing.as_bytes()), "wing"),
        (row.room == blind(BlindColumn::Room, meta.room.as_bytes()), "room"),
        (row.source == source, "source"),
        (row.supersedes == link, "supersedes"),
        (row.fp == vault.fingerprint(&opened.text), "fingerprint"),
    ];
    checks.into_iter().find(|(same, _)| !same).map(|(_, column)| column)
}

fn note(
    record: Checked,
    met: &mut Vec<Met>,
    links: &mut Vec<(DrawerId, DrawerId, Option<Receipt>)>,
    report: &mut VerifyReport,
) {
    let id = record.met.id;
    if let Some(column) = record.drift {
        VerifyReport::note(&mut report.mirror_drift, format!("{id}: column {column}"));
    }
    if let Some((older, receipt)) = record.link {
        links.push((id, older, receipt));
    }
    met.push(record.met);
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

fn judge_links(
    vault: &Vault,
    snapshot: &Snapshot<'_>,
    links: &[(DrawerId, DrawerId, Option<Receipt>)],
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

/// The full-text table of an `hmac-only` vault has one row a drawer.
fn full_text(vault: &Vault, snapshot: &Snapshot<'_>, report: &mut VerifyReport) -> Result<()> {
    if vault.level() != Level::HmacOnly {
        return Ok(());
    }
    let off: Result<i64> = snapshot.with(|conn| {
        let sql = "SELECT (SELECT count(*) FROM drawers WHERE seq NOT IN (SELECT rowid FROM drawers_fts))
                        + (SELECT count(*) FROM drawers_fts WHERE rowid NOT IN (SELECT seq FROM drawers))";
        Ok(conn.query_row(sql, [], |row| row.get(0))?)
    });
    let finding = match off {
        Ok(0) => return Ok(()),
        Ok(off) => format!("full-text table: {off} row(s) out of step with the drawers"),
        Err(error) if error.class() == ErrorClass::Integrity => format!("full-text table: {error}"),
        Err(error) => return Err(error),
    };
    VerifyReport::note(&mut report.mirror_drift, format!("{finding}; run: undercroft repair"));
    Ok(())
}
