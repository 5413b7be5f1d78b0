//! Structured logs: what is logged and in which form. The lines themselves are written where things happen.

use std::fs::File;
use std::io;
use std::os::fd::AsFd as _;
use std::sync::Mutex;

use tracing_subscriber::EnvFilter;

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
pub fn start_logs(directives: Option<&str>, format: LogFormat) {
    let filter = match directives {
        // The crate is part of the program that people know by one name.
        Some(given) => EnvFilter::builder().parse_lossy(given.replace("undercroft=", "undercroft_node=")),
        None => EnvFilter::builder().parse_lossy(STANDARD),
    };
    let lines = tracing_subscriber::fmt().with_env_filter(filter).with_target(false);
    // Only the first start of a process counts, and there is nobody to tell about another.
    let _ = match format {
        LogFormat::Text => lines.with_writer(io::stderr).try_init(),
        // Not through the handle of the standard library: a program that holds its lock would stop every thread that logs.
        LogFormat::Json => match io::stdout().as_fd().try_clone_to_owned() {
            Ok(output) => {
                lines.json().flatten_event(true).with_writer(Mutex::new(File::from(output))).try_init()
            }
            Err(_) => lines.with_writer(io::stderr).try_init(),
        },
    };
}
