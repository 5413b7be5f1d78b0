//! Structured logs: what is logged, in which form, and how lines leave the process. The lines themselves are written where
//! things happen.

use std::fs::File;
use std::os::fd::{AsFd as _, BorrowedFd};

use tracing::Level;
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{EnvFilter, Layer as _};

use super::lines::{self, Lines};

pub use super::lines::Flushing;

/// What is logged when nothing is declared.
const STANDARD: &str = "warn,undercroft=info,undercroft_node=info";

/// How lines are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogFormat {
    /// For people, on standard error.
    Text,
    /// One object a line, on standard output.
    Json,
}

/// Starts logging for the whole process; a second start changes nothing. `directives` as declared, for example
/// `warn,undercroft=debug`; a directive that cannot be read is passed over with a line on standard error.
///
/// Lines are written by a thread of their own. When nobody reads them they are dropped and counted, and nothing waits. What
/// this gives back is to be kept until the process ends: dropping it writes what is left.
#[must_use = "dropped at once, it writes nothing of what comes later"]
pub fn start_logs(directives: Option<&str>, format: LogFormat) -> Option<Flushing> {
    let filter = match directives {
        // The crate is part of the program that people know by one name.
        Some(given) => EnvFilter::builder().parse_lossy(given.replace("undercroft=", "undercroft_node=")),
        None => EnvFilter::builder().parse_lossy(STANDARD),
    };
    // Not through the handles of the standard library: a program that holds their locks would stop the thread of the lines.
    let (lines, flushing) = match format {
        LogFormat::Text => {
            to(std::io::stderr().as_fd(), |lost| format!("WARN log lines were dropped dropped={lost}\n"))?
        }
        LogFormat::Json => to(std::io::stdout().as_fd(), |lost| {
            format!("{{\"level\":\"WARN\",\"message\":\"log lines were dropped\",\"dropped\":{lost}}}\n")
        })?,
    };
    let own = filter_fn(|line| *line.level() <= Level::WARN || is_own(line.target()));
    let lines = tracing_subscriber::fmt::layer().with_target(false).with_writer(lines);
    let registry = tracing_subscriber::registry().with(filter);
    let started = match format {
        LogFormat::Text => registry.with(lines.with_filter(own)).try_init(),
        LogFormat::Json => registry.with(lines.json().flatten_event(true).with_filter(own)).try_init(),
    };
    // Only the first start of a process counts, and there is nobody to tell about another.
    started.is_ok().then_some(flushing)
}

/// Whether a line is of this program. What libraries say of their doings holds what passes through them (the HTTP/2 codec
/// logs heads with their bearer), so nothing less than a warning of theirs is let through, whatever was declared.
fn is_own(target: &str) -> bool {
    target.split("::").next().is_some_and(|name| name.starts_with("undercroft"))
}

/// Lines that end up in a copy of this descriptor; without one nothing is logged.
fn to(descriptor: BorrowedFd<'_>, tell: fn(u64) -> String) -> Option<(Lines, Flushing)> {
    lines::start(File::from(descriptor.try_clone_to_owned().ok()?), tell).ok()
}
