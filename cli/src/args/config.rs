//! `config check`, `transcript render` and `completions`: commands that open no vault.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use clap_complete::Shell;

/// `config …`
#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Judge every UNDERCROFT_* variable; opens nothing
    Check(ConfigCheckArgs),
}

/// Arguments of `config check`.
#[derive(Debug, Args)]
pub(crate) struct ConfigCheckArgs {
    /// Also show what was accepted without being parsed
    #[arg(long)]
    pub(crate) verbose: bool,
}

/// `transcript …`
#[derive(Debug, Subcommand)]
pub(crate) enum TranscriptCommand {
    /// Print the messages of a transcript
    Render {
        /// The transcript (JSON lines)
        file: PathBuf,
        /// Most messages; 0 for all
        #[arg(long, default_value_t = 0)]
        max: usize,
    },
}

/// Arguments of `completions`.
#[derive(Debug, Args)]
pub(crate) struct CompletionArgs {
    /// The shell
    pub(crate) shell: Shell,
}
