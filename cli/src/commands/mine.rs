//! `mine`: files or conversations into drawers.

use std::path::Path;

use serde_json::json;
use undercroft_palace::mining::{self, MineReport, Skipped};

use crate::args::MineArgs;
use crate::context::{Context, close};
use crate::error::{Failure, Outcome};
use crate::i18n::Template;
use crate::progress::Progress;

pub(super) fn run(args: &MineArgs, context: &mut Context) -> Outcome {
    let mine = match args.mode.as_str() {
        "files" => mining::mine_files,
        "convos" => mining::mine_convos,
        other => return Err(Failure::invalid(format!("unknown mine mode '{other}'; use files or convos"))),
    };
    let vault = context.open()?;
    let name = vault.name();
    let progress = Progress::start("Mining");
    let report =
        mine(&vault, &args.path, &args.wing, &mut |file: &Path| progress.show(file.display().to_string()))?;
    close(vault);
    drop(progress);
    refuse_nothing(report.drawers + report.removed, &report.skipped)?;
    if context.out.is_json() {
        return context.out.object(&json!({
            "vault": name,
            "wing": args.wing.trim(),
            "files": report.files,
            "drawers": report.drawers,
            "unchanged": report.unchanged,
            "replaced": report.replaced,
            "removed": report.removed,
            "skipped": skipped_objects(&report.skipped),
        }));
    }
    tell_skipped(&report.skipped);
    print(&report, &name, args.wing.trim(), context)
}

fn print(report: &MineReport, vault: &str, wing: &str, context: &mut Context) -> Outcome {
    let (files, drawers) = (report.files.to_string(), report.drawers.to_string());
    let line = context.say(
        Template::MinedSummary,
        &[("files", &files), ("vault", vault), ("wing", wing), ("drawers", &drawers)],
    );
    context.out.line(&line)?;
    tell_replaced(report.replaced, context)?;
    if report.unchanged > 0 {
        context.out.line(&format!("({} of them were there already, unchanged)", report.unchanged))?;
    }
    if report.removed > 0 {
        context.out.line(&format!("({} drawer(s) removed that their file no longer has)", report.removed))?;
    }
    Ok(())
}

/// Words that gave way to others at their place are never gone in silence.
pub(super) fn tell_replaced(replaced: usize, context: &mut Context) -> Outcome {
    if replaced == 0 {
        return Ok(());
    }
    context.out.line(&format!("({replaced} of them replaced what stood at their place before)"))
}

/// A run that could use none of what it was shown, and changed nothing, has not done what it was asked for.
pub(super) fn refuse_nothing(done: usize, skipped: &[Skipped]) -> Outcome {
    if done > 0 || skipped.is_empty() {
        return Ok(());
    }
    tell_skipped(skipped);
    Err(Failure::invalid("nothing in these files could be used, for the reasons above; nothing was filed"))
}

/// Nothing is dropped in silence: each file or line that was left out is named on standard error.
pub(super) fn tell_skipped(skipped: &[Skipped]) {
    for one in skipped {
        crate::print::aside(&format!("Skipped: {}: {}", one.path.display(), one.reason));
    }
}

pub(super) fn skipped_objects(skipped: &[Skipped]) -> Vec<serde_json::Value> {
    skipped
        .iter()
        .map(|one| json!({ "path": one.path.display().to_string(), "reason": one.reason }))
        .collect()
}
