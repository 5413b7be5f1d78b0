//! `dedup`: drawers that hold the same text.

use undercroft_vault::DedupReport;
use undercroft_vault::limits::MAX_OCCURRENCES;

use crate::args::DedupArgs;
use crate::context::{Context, close};
use crate::error::Outcome;

pub(super) fn run(args: &DedupArgs, context: &mut Context) -> Outcome {
    let vault = if args.apply { context.open()? } else { context.open_to_read()? };
    let report = vault.dedup(args.apply)?;
    close(vault);
    if context.out.is_json() {
        return context.out.object(&report);
    }
    let done = if report.applied { "removed" } else { "found (use --apply to remove)" };
    context.out.line(&format!(
        "{} duplicate group(s), {} extra drawer(s) {done}",
        report.duplicate_groups, report.removed
    ))?;
    for line in notes(&report) {
        context.out.line(&line)?;
    }
    Ok(())
}

/// What else was done, or would be.
fn notes(report: &DedupReport) -> Vec<String> {
    let (are, is_kept) =
        if report.applied { ("removed drawers", "kept") } else { ("these drawers", "would be kept") };
    let mut notes = Vec::new();
    if report.dates_kept > 0 {
        notes.push(format!("{} date(s) of {are} {is_kept} on the ones that stay", report.dates_kept));
    }
    if report.dates_lost > 0 {
        notes.push(format!(
            "{} date(s) not {}: a drawer has room for {MAX_OCCURRENCES}, and the oldest give way",
            report.dates_lost,
            is_kept.trim_start_matches("would be "),
        ));
    }
    if report.pieces_left > 0 {
        notes.push(format!("{} drawer(s) left that are pieces of longer texts", report.pieces_left));
    }
    notes
}
