//! `init` and `vault …`.

use clap::{Args, Subcommand};

/// Arguments of `init`.
#[derive(Debug, Args)]
pub(crate) struct InitArgs {
    /// What the files show without the key: 'sealed' nothing, 'hmac-only' the texts
    #[arg(long, default_value = "sealed", value_name = "LEVEL")]
    pub(crate) level: String,
}

/// `vault …`
#[derive(Debug, Subcommand)]
pub(crate) enum VaultCommand {
    /// Make a vault
    Create {
        /// Its name
        name: String,
        /// What its files show without the key: 'sealed' nothing, 'hmac-only' the texts
        #[arg(long, default_value = "sealed", value_name = "LEVEL")]
        level: String,
    },
    /// List all vaults
    List,
    /// Print one vault's counts and its place in the audit chain
    Status {
        /// Its name
        name: String,
    },
    /// Write the newest chain head into the manifest now
    Anchor {
        /// Its name
        name: String,
    },
    /// Delete a vault with everything in it; backups stay
    Delete {
        /// Its name
        name: String,
        /// Confirm: there is no way back but a backup
        #[arg(long)]
        yes: bool,
    },
    /// Seal everything under fresh keys (not in this version)
    #[command(hide = true)]
    Rotate {
        /// Its name
        name: String,
    },
}
