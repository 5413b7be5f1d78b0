//! `serve-mcp`, `hooks`, `daemon …` and `assert-header`: what agents and the programs around them need.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// Arguments of `serve-mcp`.
#[derive(Debug, Args)]
pub(crate) struct ServeMcpArgs {
    /// Open the vault for reading alone and refuse every tool that writes
    #[arg(long)]
    pub(crate) read_only: bool,
}

/// Arguments of `hooks`.
#[derive(Debug, Args)]
pub(crate) struct HooksArgs {
    /// The agent; 'claude-code' is the only one
    #[arg(default_value = "claude-code")]
    pub(crate) agent: String,
}

/// `daemon …`
#[derive(Debug, Subcommand)]
pub(crate) enum DaemonCommand {
    /// Sweep a folder of transcripts now, and again after each interval, until it is stopped
    #[command(after_help = DAEMON_NOTES)]
    Run(DaemonArgs),
}

const DAEMON_NOTES: &str = "\
Each pass does what 'undercroft sweep' does and says in one line what it filed. A folder that is not there yet is waited \
for. Between two passes the vault is closed, so other commands may use it. Ctrl-C stops it and loses nothing.";

/// Arguments of `daemon run`.
#[derive(Debug, Args)]
pub(crate) struct DaemonArgs {
    /// A transcript, or a folder of them [default: ~/.claude/projects]
    #[arg(long, value_name = "PATH")]
    pub(crate) watch: Option<PathBuf>,
    /// Seconds between the end of a pass and the next one
    #[arg(long, default_value_t = 300, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub(crate) interval: u64,
    /// Person or project that the messages are filed under
    #[arg(long, default_value = "claude-code")]
    pub(crate) wing: String,
    /// Stop after the first pass
    #[arg(long)]
    pub(crate) once: bool,
}

/// Arguments of `assert-header`.
#[derive(Debug, Args)]
pub(crate) struct AssertHeaderArgs {
    /// The vault, spelt as it is kept
    #[arg(value_name = "VAULT")]
    pub(crate) asserted: String,
}
