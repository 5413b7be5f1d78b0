//! `tenant …`

use std::ffi::OsString;

use clap::{Args, Subcommand, ValueEnum};

use super::fleet::{FleetArgs, PageArgs};

/// Arguments of `tenant`.
#[derive(Debug, Args)]
pub(crate) struct TenantArgs {
    #[command(flatten)]
    pub(crate) fleet: FleetArgs,

    #[command(subcommand)]
    pub(crate) command: TenantCommand,
}

/// `tenant …`. A tenant is named by its id or by its name.
#[derive(Debug, Subcommand)]
pub(crate) enum TenantCommand {
    /// Make a tenant with its vault, and print its token, once
    Create(TenantCreateArgs),
    /// Print the tenants
    List(PageArgs),
    /// Print one tenant
    Show(TenantName),
    /// Give a tenant another token, and print it, once; the old one is dead at once
    Rotate(TenantName),
    /// Take a tenant's token away, until it is given another
    Revoke(TenantName),
    /// Delete a tenant with everything in its vault
    Delete {
        #[command(flatten)]
        tenant: TenantName,
        /// Confirm it
        #[arg(long)]
        yes: bool,
    },
    /// Replace all limits of a tenant; one that is left out is none
    Limits {
        #[command(flatten)]
        tenant: TenantName,
        #[command(flatten)]
        limits: LimitArgs,
        /// Take every limit away
        #[arg(long, conflicts_with_all = ["requests_per_minute", "bytes", "drawers"])]
        none: bool,
    },
    /// Say who answers a tenant's reads
    Read {
        #[command(flatten)]
        tenant: TenantName,
        /// Who answers
        policy: ReadPolicy,
        /// How far a replica may lag, in milliseconds; for 'eventual' alone
        #[arg(long, value_name = "MS")]
        lag_ms: Option<u32>,
    },
    /// Move a tenant's vault
    #[command(hide = true, disable_help_flag = true)]
    Migrate {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
        rest: Vec<OsString>,
    },
}

/// Which tenant.
#[derive(Debug, Args)]
pub(crate) struct TenantName {
    /// Its id or its name
    pub(crate) tenant: String,
}

/// Arguments of `tenant create`.
#[derive(Debug, Args)]
pub(crate) struct TenantCreateArgs {
    /// Its name, which no other tenant has
    pub(crate) name: String,

    /// Put its vault into a shard of this node
    #[arg(long, value_name = "NODE", conflicts_with = "shard")]
    pub(crate) instance: Option<String>,

    /// Put its vault into this shard [default: the one with the fewest]
    #[arg(long)]
    pub(crate) shard: Option<u32>,

    /// How its vault keeps texts: sealed or hmac-only
    #[arg(long, default_value = "sealed")]
    pub(crate) level: String,

    #[command(flatten)]
    pub(crate) limits: LimitArgs,
}

/// What a tenant may use; zero is no limit.
#[derive(Debug, Args)]
pub(crate) struct LimitArgs {
    /// Requests a minute, at each router
    #[arg(long, value_name = "N")]
    pub(crate) requests_per_minute: Option<u64>,

    /// Bytes of text in its vault
    #[arg(long, value_name = "N")]
    pub(crate) bytes: Option<u64>,

    /// Drawers in its vault
    #[arg(long, value_name = "N")]
    pub(crate) drawers: Option<u64>,
}

/// Who answers a tenant's reads when a request does not say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReadPolicy {
    /// The leader of its shard
    Strong,
    /// Any replica that has come as far as the request demands
    Session,
    /// Any replica that lags no more than --lag-ms
    Eventual,
}

impl ReadPolicy {
    /// As the Admin API writes it.
    #[must_use]
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Strong => "strong",
            Self::Session => "session",
            Self::Eventual => "eventual",
        }
    }
}
