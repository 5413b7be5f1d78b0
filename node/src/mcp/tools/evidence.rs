//! The state of the vault and the proofs that it can give.

use serde_json::json;
use undercroft_vault::limits::MAX_HISTORY;
use undercroft_vault::{HistoryRecord, SupersessionCounts, VerifyReport};

use super::call::{Call, Run};
use super::tool::{Class, Tool};
use crate::mcp::arguments::{Argument, Holds, Otherwise};
use crate::mcp::failure::Failure;
use crate::mcp::fence;
use crate::mcp::limits::MAX_OFFSET;
use crate::mcp::reply::Reply;
use crate::reply::VaultStats;

/// Labels of what the operator did: not the agent's history.
const OPERATORS: [&str; 9] = [
    "admission/",
    "trust/",
    "retention/",
    "retention-clear/",
    "del/",
    "egress/",
    "read/",
    "rotate/",
    "migrate/",
];

pub(super) const TOOLS: &[Tool] = &[
    Tool {
        name: "undercroft_status",
        title: "Show the vault's state",
        description: "Counts, size and the height of the audit chain.",
        class: Class::Read,
        arguments: &[],
        unbuilt: &[],
        is_long: false,
        run: Run::Reads(status),
    },
    Tool {
        name: "undercroft_verify",
        title: "Verify the vault",
        description: "Check every record and the whole audit chain. Takes as long as reading everything.",
        class: Class::Read,
        arguments: &[],
        unbuilt: &[],
        is_long: true,
        run: Run::Reads(verify),
    },
    Tool {
        name: "undercroft_history",
        title: "Show the audit chain",
        description: "Which drawers were written when, newest first.",
        class: Class::Read,
        arguments: &[
            Argument::text("subject", "Only records of this drawer id"),
            Argument::new("limit", Holds::Count { least: 1, most: MAX_HISTORY as u64 }, "Most records")
                .or(Otherwise::Count(20)),
            Argument::new("offset", Holds::Count { least: 0, most: MAX_OFFSET }, "Records to skip")
                .or(Otherwise::Count(0)),
        ],
        unbuilt: &[],
        is_long: false,
        run: Run::Reads(history),
    },
    Tool {
        name: "undercroft_supersessions",
        title: "Show which drawer updates which",
        description: "List every link from a newer drawer to the one it supersedes, and whether its receipt holds.",
        class: Class::Read,
        arguments: &[],
        unbuilt: &[],
        is_long: false,
        run: Run::Reads(supersessions),
    },
];

/// The same fields as over HTTP.
fn status(call: &Call<'_>) -> Result<Reply, Failure> {
    Reply::object(&VaultStats::of(call.vault.stats()?, call.audit_ceiling))
}

fn verify(call: &Call<'_>) -> Result<Reply, Failure> {
    let report = call.vault.verify(&mut |_| {})?;
    Ok(Reply::new(legs(&report), &report)?.marked_as_error(!report.ok))
}

/// Every leg as a line, its findings below it, the verdict last.
fn legs(report: &VerifyReport) -> String {
    let mut lines = vec![format!("records checked: {}", report.records_checked)];
    counted(&mut lines, "hmac failures", "TAMPERED", &report.bad_records);
    lines.push(format!("audit chain: {}", if report.chain_ok { "ok" } else { "BROKEN" }));
    counted(&mut lines, "orphan labels", "ORPHANED", &report.orphan_labels);
    counted(&mut lines, "mirror drift", "MIRROR", &report.mirror_drift);
    counted(&mut lines, "version replay", "REPLAYED", &report.version_replay);
    counted(&mut lines, "label drift", "LABEL", &report.label_drift);
    counted(&mut lines, "ledger drift", "LEDGER", &report.ledger_drift);
    if report.supersessions != SupersessionCounts::default() {
        lines.push(format!("supersessions: {}", summary(&report.supersessions)));
        lines.extend(report.bad_supersessions.iter().map(|finding| format!("  TAMPERED LINK: {finding}")));
    }
    lines.push(format!("result: {}", if report.ok { "VERIFY OK" } else { "VERIFY FAILED" }));
    lines.join("\n")
}

fn counted(lines: &mut Vec<String>, leg: &str, word: &str, findings: &[String]) {
    lines.push(format!("{leg}: {}", findings.len()));
    lines.extend(findings.iter().map(|finding| format!("  {word}: {finding}")));
}

fn summary(counts: &SupersessionCounts) -> String {
    format!(
        "{} verified · {} source-changed · {} dangling · {} unreceipted · {} tampered",
        counts.verified, counts.source_changed, counts.dangling, counts.unreceipted, counts.tampered
    )
}

fn history(call: &Call<'_>) -> Result<Reply, Failure> {
    let given = &call.arguments;
    let (limit, offset) = (given.count("limit").unwrap_or(1), given.count("offset").unwrap_or(0));
    let pending = fence::pending(call.vault)?;
    let is_shown = |record: &HistoryRecord| {
        let label = record.record_id.as_str();
        let last = label.rsplit('/').next().unwrap_or(label);
        !OPERATORS.iter().any(|prefix| label.starts_with(prefix)) && !pending.contains(last)
    };
    let records = page(call, given.text("subject"), limit, offset, &is_shown)?;
    Reply::list(&records, "records", &records)
}

/// A page of the records that are shown: those that are not count neither for the limit nor for the offset.
fn page(
    call: &Call<'_>,
    subject: Option<&str>,
    limit: usize,
    offset: usize,
    is_shown: &dyn Fn(&HistoryRecord) -> bool,
) -> Result<Vec<HistoryRecord>, Failure> {
    let (mut found, mut skipped, mut read) = (Vec::new(), 0, 0);
    let mut oldest = u64::MAX;
    while found.len() < limit {
        let batch = call.vault.history(subject, MAX_HISTORY, read)?;
        read += batch.len();
        let is_last = batch.len() < MAX_HISTORY;
        for record in batch {
            // Records that were appended meanwhile push those that were read already onto the next page.
            if record.seq >= oldest {
                continue;
            }
            oldest = record.seq;
            if !is_shown(&record) {
                continue;
            }
            if skipped < offset {
                skipped += 1;
            } else if found.len() < limit {
                found.push(record);
            }
        }
        if is_last {
            break;
        }
    }
    Ok(found)
}

fn supersessions(call: &Call<'_>) -> Result<Reply, Failure> {
    let found = call.vault.supersessions()?;
    let lines = found
        .supersessions
        .iter()
        .map(|link| format!("[{}] {} updates {}\n", verdict(link), link.drawer_id, link.supersedes));
    let text = lines.collect::<String>() + &format!("supersessions: {}", summary(&found.summary));
    let is_ok = found.ok;
    Ok(Reply::new(text, &json!(found))?.marked_as_error(!is_ok))
}

fn verdict(link: &undercroft_vault::SupersessionLink) -> &'static str {
    use undercroft_vault::LinkVerdict as Verdict;
    match link.verdict {
        Verdict::Verified => "verified",
        Verdict::SourceChanged => "source-changed",
        Verdict::Dangling => "dangling",
        Verdict::Unreceipted => "unreceipted",
        Verdict::Tampered => "TAMPERED",
    }
}
