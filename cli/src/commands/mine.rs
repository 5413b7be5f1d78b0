//! `mine`: files or conversations into drawers.

use std::path::Path;

use serde_json::json;
use undercroft_palace::mining::{self, MineReport, PassedOver, Skipped};

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
    let skipped = all_skipped(&report.skipped, &report.passed_over);
    if context.out.is_json() {
        return context.out.object(&json!({
            "vault": name,
            "wing": args.wing.trim(),
            "files": report.files,
            "drawers": report.drawers,
            "unchanged": report.unchanged,
            "replaced": report.replaced,
            "edited": report.edited,
            "removed": report.removed,
            "passed_over": report.passed_over.lines,
            "skipped": skipped_objects(&skipped),
        }));
    }
    tell_skipped(&skipped);
    print(&report, &name, args.wing.trim(), context)
}

fn print(report: &MineReport, vault: &str, wing: &str, context: &mut Context) -> Outcome {
    let (files, drawers) = (report.files.to_string(), report.drawers.to_string());
    let line = context.say(
        Template::MinedSummary,
        &[("files", &files), ("vault", vault), ("wing", wing), ("drawers", &drawers)],
    );
    context.out.line(&line)?;
    if report.replaced > 0 {
        // Words that gave way to others at their place are never gone in silence.
        let by_hand = match report.edited {
            0 => String::new(),
            edited => format!("; {edited} had been changed by hand"),
        };
        let replaced = report.replaced;
        context
            .out
            .line(&format!("({replaced} of them replaced what stood at their place before{by_hand})"))?;
    }
    if report.unchanged > 0 {
        context.out.line(&format!("({} of them were there already, unchanged)", report.unchanged))?;
    }
    if report.removed > 0 {
        context.out.line(&format!("({} drawer(s) removed that their file no longer has)", report.removed))?;
    }
    tell_passed_over(&report.passed_over, context)
}

/// Lines that hold no message are no failure; that there were some is told all the same.
pub(super) fn tell_passed_over(passed_over: &PassedOver, context: &mut Context) -> Outcome {
    if passed_over.lines == 0 {
        return Ok(());
    }
    context.out.line(&format!(
        "({} line(s) passed over: what the program keeps for itself, and repeats)",
        passed_over.lines
    ))
}

/// What was left out, and the messages that were passed over for how they begin.
pub(super) fn all_skipped(skipped: &[Skipped], passed_over: &PassedOver) -> Vec<Skipped> {
    skipped.iter().chain(&passed_over.named).cloned().collect()
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
