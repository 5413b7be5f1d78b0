//! `sweep`: the messages of transcripts that are not filed yet.

use std::path::Path;

use serde_json::json;
use undercroft_palace::mining;

use super::mine::{refuse_nothing, skipped_objects, tell_replaced, tell_skipped};
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
    refuse_nothing(report.filed + report.present, &report.skipped)?;
    if context.out.is_json() {
        return context.out.object(&json!({
            "files": report.files,
            "drawers": report.filed,
            "replaced": report.replaced,
            "present": report.present,
            "skipped": skipped_objects(&report.skipped),
        }));
    }
    tell_skipped(&report.skipped);
    let [files, drawers, present] =
        [report.files, report.filed, report.present].map(|count| count.to_string());
    let line = context
        .say(Template::SweptSummary, &[("files", &files), ("drawers", &drawers), ("present", &present)]);
    context.out.line(&line)?;
    tell_replaced(report.replaced, context)
}
