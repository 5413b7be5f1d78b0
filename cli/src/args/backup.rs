//! `backup …`

use clap::{Args, Subcommand};

/// `backup …`
#[derive(Debug, Subcommand)]
pub(crate) enum BackupCommand {
    /// Verify the vault and copy it aside; the newest ten copies are kept
    Create,
    /// List all copies
    List,
    /// Bring a copy back as the vault it was made from
    Restore(RestoreArgs),
}

/// Arguments of `backup restore`.
#[derive(Debug, Args)]
pub(crate) struct RestoreArgs {
    /// The copy's name, as 'backup list' shows it
    pub(crate) name: String,
    /// Replace the vault that is there now
    #[arg(long)]
    pub(crate) force: bool,
}
