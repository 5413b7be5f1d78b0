//! What is measured and for how long.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};

/// One measurement of the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Scenario {
    /// One client, then many, searching one sealed vault.
    Search,
    /// Many clients saving to one vault, then to one vault each.
    Save,
    /// Many vaults touched in turn: what stays in memory, and how long a cold one takes.
    Idle,
    /// What one hammered vault does to the waiting time of another.
    Fairness,
}

/// What is measured and for how long.
#[derive(Debug, Clone, Args)]
pub struct ServeOptions {
    /// The program `undercroft`, built for release; the one beside this program when absent.
    #[arg(long)]
    pub binary: Option<PathBuf>,
    /// What to measure; everything when absent.
    #[arg(long, value_delimiter = ',')]
    pub only: Vec<Scenario>,
    /// Seconds that each load lasts.
    #[arg(long, default_value_t = 8.0)]
    pub seconds: f64,
    /// Clients of a load of many.
    #[arg(long, default_value_t = 16)]
    pub clients: usize,
    /// Drawers of 90 words in a vault that is searched.
    #[arg(long, default_value_t = 2_000)]
    pub drawers: usize,
    /// Vaults that are touched in turn.
    #[arg(long, default_value_t = 1_000)]
    pub vaults: usize,
}

impl ServeOptions {
    pub(super) fn wants(&self, scenario: Scenario) -> bool {
        self.only.is_empty() || self.only.contains(&scenario)
    }

    pub(super) fn lasting(&self) -> Duration {
        Duration::from_secs_f64(self.seconds)
    }
}
