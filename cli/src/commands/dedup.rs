//! `dedup`: drawers that hold the same text.

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
    if report.dates_kept > 0 {
        context
            .out
            .line(&format!("{} date(s) of removed drawers kept on the ones that stay", report.dates_kept))?;
    }
    Ok(())
}
