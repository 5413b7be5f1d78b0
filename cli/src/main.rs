//! The `undercroft` binary: arguments in, one command run, its outcome told and turned into an exit code.
//!
//! No decision about vaults, keys or texts is made in this crate.

mod args;
mod commands;
mod context;
mod error;
mod exit;
mod hints;
mod i18n;
mod print;
mod progress;

use std::ffi::OsString;
use std::io::{self, Write};
use std::process::ExitCode;

use clap::FromArgMatches;
use clap::error::ErrorKind;

use args::Cli;
use context::Context;
use error::Failure;
use hints::Named;
use undercroft_palace::ErrorClass;

fn main() -> ExitCode {
    let typed: Vec<OsString> = std::env::args_os().collect();
    let wants_json = typed.iter().any(|argument| argument == "--json");
    let parsed =
        args::help::command().try_get_matches_from(typed).and_then(|matches| Cli::from_arg_matches(&matches));
    let cli = match parsed {
        Ok(cli) => cli,
        Err(answer) => return ExitCode::from(explain(&answer, wants_json)),
    };
    // What follows a command of a later version is not read, but this flag is meant for its refusal.
    let json = cli.json || (wants_json && matches!(cli.command, args::Command::Later(_)));
    let named = cli.named();
    match run(cli) {
        Ok(()) => ExitCode::from(exit::DONE),
        Err(failure) => ExitCode::from(tell(&failure, json, &named)),
    }
}

fn run(cli: Cli) -> error::Outcome {
    let mut context = Context::new(&cli);
    if cli.vault.is_some() && !cli.command.takes_vault() {
        return Err(Failure::invalid("--vault does not apply to this command; remove it"));
    }
    let outcome = commands::run(cli.command, &mut context);
    // What was printed before a failure is part of the answer.
    let flushed = context.out.flush();
    if let (Err(Failure::Told(_)), Err(unwritten)) = (&outcome, &flushed) {
        // The verdict keeps its exit code, and is not lost without a word.
        tell(unwritten, false, &context.named);
    }
    outcome.and(flushed)
}

/// Help and version are answers; everything else is a mistake, which exits with 1 and not with the parser's 2.
fn explain(answer: &clap::Error, wants_json: bool) -> u8 {
    if matches!(answer.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) {
        return match answer.print().and_then(|()| io::stdout().flush()) {
            Ok(()) => exit::DONE,
            Err(error) => tell(&Failure::Output(error), false, &Named::default()),
        };
    }
    let rendered = answer.render().to_string();
    let message = rendered.strip_prefix("error: ").unwrap_or(&rendered);
    if wants_json {
        answer_line(&error::for_programs(message.trim_end(), ErrorClass::Invalid));
    } else if message.len() < rendered.len() {
        print::aside(&format!("Error: {}", message.trim_end()));
    } else {
        print::aside(rendered.trim_end());
    }
    exit::FAILED
}

fn tell(failure: &Failure, json: bool, named: &Named) -> u8 {
    match (failure.is_told(), json) {
        (true, _) => {}
        // Where no answer can be written, an object about that cannot either.
        (false, true) if !matches!(failure, Failure::Output(_)) => {
            let answer = error::for_programs(&named.complete(&failure.to_string()), failure.class());
            if !answer_line(&answer) {
                // Nobody learns of a verdict from an answer that did not arrive.
                print::aside(&named.complete(&error::for_people(failure)));
            }
        }
        (false, _) => print::aside(&named.complete(&error::for_people(failure))),
    }
    failure.code()
}

/// One line on standard output, of a run that fails anyway; standard error hears of it when it cannot be written. Gives
/// whether it was.
fn answer_line(line: &str) -> bool {
    let mut out = io::stdout();
    let written = writeln!(out, "{line}").and_then(|()| out.flush());
    match written {
        Ok(()) => true,
        Err(error) => {
            tell(&Failure::Output(error), false, &Named::default());
            false
        }
    }
}
