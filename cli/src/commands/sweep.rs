//! `sweep`: the messages of transcripts that are not filed yet.

use std::path::Path;

use serde_json::json;
use undercroft_palace::mining::{self, SweepReport};

use super::mine::{all_skipped, refuse_nothing, skipped_objects, tell_passed_over, tell_skipped};
use crate::args::SweepArgs;
use crate::context::{Context, close};
use crate::error::Outcome;
use crate::i18n::Template;
use crate::progress::Progress;

pub(super) fn run(args: &SweepArgs, context: &mut Context) -> Outcome {
    let vault = context.open()?;
    let progress = Progress::start("Sweeping");
    let mut show = |file: &Path| progress.show(file.display().to_string());
    let report = mining::sweep(&vault, &args.path, &args.wing, &mut show)?;
    close(vault);
    drop(progress);
    refuse_nothing(report.known(), &report.skipped)?;
    if context.out.is_json() {
        return context.out.object(&object(&report));
    }
    tell_skipped(&all_skipped(&report.skipped, &report.passed_over));
    let [files, drawers, present] =
        [report.files, report.filed, report.present].map(|count| count.to_string());
    let line = context
        .say(Template::SweptSummary, &[("files", &files), ("drawers", &drawers), ("present", &present)]);
    context.out.line(&line)?;
    if let Some(left) = left(&report) {
        context.out.line(&format!("({left})"))?;
    }
    tell_passed_over(&report.passed_over, context)
}

/// The report for programs.
pub(super) fn object(report: &SweepReport) -> serde_json::Value {
    json!({
        "files": report.files,
        "drawers": report.filed,
        "present": report.present,
        "edited": report.edited,
        "deleted": report.destroyed,
        "passed_over": report.passed_over.lines,
        "skipped": skipped_objects(&all_skipped(&report.skipped, &report.passed_over)),
    })
}

/// What was swept before and is no longer as it was said, if anything.
pub(super) fn left(report: &SweepReport) -> Option<String> {
    let (edited, deleted) = (report.edited, report.destroyed);
    (edited + deleted > 0).then(|| {
        let all = edited + deleted;
        format!("{all} swept before are left as they are: {edited} changed by hand, {deleted} deleted since")
    })
}
