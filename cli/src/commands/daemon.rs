//! `daemon run`: sweep transcripts, wait, and sweep again.
//!
//! The vault is open during a pass and closed between two, so that others may have it alone, and so that ending the
//! process while it waits loses nothing.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use undercroft_palace::env::Environment;
use undercroft_palace::mining::{self, SweepReport};
use undercroft_palace::{Access, CreateKeys, ErrorClass, Palace, registry};
use undercroft_text::check_name;

use super::sweep;
use crate::args::DaemonCommand;
use crate::context::{Context, close};
use crate::error::{Failure, Outcome};
use crate::print::quoted;

/// Below a person's home.
const TRANSCRIPTS: &str = ".claude/projects";

pub(super) fn run(command: &DaemonCommand, context: &mut Context) -> Outcome {
    let DaemonCommand::Run(args) = command;
    // Wrong names are told now and not when the first transcript appears.
    check_name("wing", &args.wing).map_err(undercroft_vault::Error::from)?;
    registry::existing(&context.home, context.vault_name())?;
    let watched = args.watch.clone().unwrap_or_else(|| transcripts(&context.environment));
    let palace = context.palace(CreateKeys::Never)?;
    loop {
        let done = pass(&palace, &watched, &args.wing, context);
        let flushed = context.out.flush();
        match done {
            Err(failure) if !args.once && passes(&failure) => {
                crate::print::aside(&format!(
                    "[daemon] this pass ended early, the next one goes on: {failure}"
                ));
            }
            other => other?,
        }
        flushed?;
        if args.once {
            return Ok(());
        }
        wait(Duration::from_secs(args.interval));
    }
}

/// Where the transcripts of the agent's program are.
fn transcripts(environment: &Environment) -> PathBuf {
    let home = environment.non_empty("HOME").or_else(|| environment.non_empty("USERPROFILE"));
    home.map_or_else(PathBuf::new, PathBuf::from).join(TRANSCRIPTS)
}

/// One sweep. No transcripts, or no folder for them yet, is nothing to do.
fn pass(palace: &Palace, watched: &Path, wing: &str, context: &mut Context) -> Outcome {
    let report =
        if watched.exists() { swept(palace, watched, wing, context)? } else { SweepReport::default() };
    if context.out.is_json() {
        return context.out.object(&sweep::object(&report));
    }
    if !report.skipped.is_empty() {
        // The same ones are met on every pass; who wants them by name asks for a sweep.
        crate::print::aside(&format!(
            "[daemon] {} line(s) or file(s) left out; to see which: {}",
            report.skipped.len(),
            context.command(&format!("sweep {} --wing {}", quoted(&watched.to_string_lossy()), quoted(wing)))
        ));
    }
    context.out.line(&format!(
        "[daemon] swept {} transcript(s): {} filed, {} present",
        report.files, report.filed, report.present
    ))?;
    match sweep::left(&report) {
        Some(left) => context.out.line(&format!("[daemon] {left}")),
        None => Ok(()),
    }
}

fn swept(palace: &Palace, watched: &Path, wing: &str, context: &Context) -> Outcome<SweepReport> {
    let vault = palace.open_vault(context.vault_name(), Access::Write)?;
    let report = match mining::sweep(&vault, watched, wing, &mut |_| {}) {
        Err(undercroft_palace::Error::NothingToMine { .. }) => SweepReport::default(),
        other => other?,
    };
    close(vault);
    Ok(report)
}

/// Whether a later pass may succeed where this one did not: somebody had the vault alone, or the disk was full.
fn passes(failure: &Failure) -> bool {
    let passing =
        matches!(failure.class(), ErrorClass::Conflict | ErrorClass::Unavailable | ErrorClass::Internal);
    passing && !matches!(failure, Failure::Output(_))
}

/// Parks until the time is over; a thread may be woken before for no reason.
fn wait(interval: Duration) {
    let until = Instant::now() + interval;
    while let Some(left) = until.checked_duration_since(Instant::now()).filter(|left| !left.is_zero()) {
        std::thread::park_timeout(left);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transcripts_are_below_the_first_home_that_is_declared() {
        let of = |pairs: &[(&str, &str)]| transcripts(&Environment::from_pairs(pairs.iter().copied()));
        assert_eq!(of(&[("HOME", "/a"), ("USERPROFILE", "/b")]), Path::new("/a/.claude/projects"));
        assert_eq!(of(&[("HOME", ""), ("USERPROFILE", "/b")]), Path::new("/b/.claude/projects"));
        assert_eq!(of(&[]), Path::new(".claude/projects"));
    }

    #[test]
    fn only_what_may_pass_is_tried_again() {
        let refused = |class| Failure::Refused { class, message: String::new() };
        assert!(passes(&refused(ErrorClass::Conflict)) && passes(&refused(ErrorClass::Unavailable)));
        for class in [ErrorClass::Integrity, ErrorClass::Invalid, ErrorClass::NotFound, ErrorClass::Denied] {
            assert!(!passes(&refused(class)), "{class}");
        }
        assert!(!passes(&Failure::Output(std::io::Error::other("no"))));
    }
}
