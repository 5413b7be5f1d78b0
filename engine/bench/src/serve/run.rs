//! The scenarios in their order, each on an installation of its own, and the line for machines.

use std::fmt::Write as _;
use std::io;
use std::path::PathBuf;

use super::options::{Scenario, ServeOptions};
use super::server::Installation;
use super::{fairness, idle, saves, searches};
use crate::machine;

type Measure = fn(&Installation, &ServeOptions, &mut Figures) -> io::Result<()>;

const SCENARIOS: [(Scenario, Measure); 4] = [
    (Scenario::Search, searches::measure),
    (Scenario::Save, saves::measure),
    (Scenario::Idle, idle::measure),
    (Scenario::Fairness, fairness::measure),
];

/// Figures by name, as the last line shows them.
#[derive(Debug, Default)]
pub(super) struct Figures(String);

impl Figures {
    pub(super) fn put(&mut self, name: &str, value: f64) {
        // Writing into a String cannot fail.
        let _ = write!(self.0, " {name}={value:.2}");
    }
}

/// Runs and prints.
///
/// # Errors
/// When the program does not start, or answers what it must not.
pub fn run(options: &ServeOptions) -> io::Result<()> {
    let binary = match &options.binary {
        Some(path) => path.clone(),
        None => beside()?,
    };
    let mut figures = Figures::default();
    for (scenario, measure) in SCENARIOS {
        if options.wants(scenario) {
            let installation = Installation::new(&binary)?;
            machine::print(installation.path());
            measure(&installation, options, &mut figures)?;
        }
    }
    println!("SERVE{}", figures.0);
    Ok(())
}

/// The program in the folder of this one.
fn beside() -> io::Result<PathBuf> {
    let path = std::env::current_exe()?.with_file_name(format!("undercroft{}", std::env::consts::EXE_SUFFIX));
    if path.exists() {
        return Ok(path);
    }
    Err(io::Error::other(
        "undercroft is not beside this program; build it for release or name it with --binary",
    ))
}
