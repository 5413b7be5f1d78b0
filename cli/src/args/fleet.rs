//! How a command finds its fleet, and the commands of `cluster` that ask there.

use std::path::PathBuf;

use clap::{ArgGroup, Args, Subcommand};

/// Where the Admin API is, who asks, and who is believed. A token is never typed: it would stay in the shell's history.
#[derive(Debug, Args)]
pub(crate) struct FleetArgs {
    /// Where the Admin API is [default: UNDERCROFT_ADMIN_URL, else http://127.0.0.1:8900]
    #[arg(long, global = true, value_name = "URL")]
    pub(crate) admin_url: Option<String>,

    /// File with the operator's token, also as 'keygen' writes it [default: UNDERCROFT_ADMIN_TOKEN, else UNDERCROFT_ORCH_ADMIN_TOKEN]
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) admin_token_file: Option<PathBuf>,

    /// The cluster's ca.crt, for an address with https [default: UNDERCROFT_ADMIN_CA]
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) ca: Option<PathBuf>,
}

/// Which part of a long list.
#[derive(Debug, Args)]
pub(crate) struct PageArgs {
    /// How many, at most 1000
    #[arg(short = 'n', long, default_value_t = 100, value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub(crate) limit: u16,

    /// What follows this id
    #[arg(long, value_name = "ID")]
    pub(crate) after: Option<String>,
}

/// Arguments of `cluster init`.
#[derive(Debug, Args)]
pub(crate) struct FoundArgs {
    #[command(flatten)]
    pub(crate) fleet: FleetArgs,

    /// Number of shards, fixed for good
    #[arg(long, default_value_t = 16)]
    pub(crate) shards: u32,

    /// Replicas of each shard that vote, an odd number
    #[arg(long, default_value_t = 3)]
    pub(crate) replicas: u8,

    /// Days for which one witness a day of each vault is kept
    #[arg(long, value_name = "DAYS", default_value_t = 30)]
    pub(crate) witness_days: u16,
}

/// Arguments of `cluster status`.
#[derive(Debug, Args)]
pub(crate) struct StatusArgs {
    #[command(flatten)]
    pub(crate) fleet: FleetArgs,
}

/// Arguments of `cluster member`.
#[derive(Debug, Args)]
pub(crate) struct MemberArgs {
    #[command(flatten)]
    pub(crate) fleet: FleetArgs,

    #[command(subcommand)]
    pub(crate) command: MemberCommand,
}

/// `cluster member …`
#[derive(Debug, Subcommand)]
pub(crate) enum MemberCommand {
    /// Print the members of the control group
    List,
    /// Print what to run on the host of a new member, which then enters by itself
    Add {
        /// Where others will reach it
        #[arg(value_name = "HOST:PORT")]
        address: String,
        /// Its folder there, which must be empty
        #[arg(long, value_name = "FOLDER", default_value = "control")]
        data: String,
    },
    /// Take a member out; its id never comes back
    Remove {
        /// Its id
        id: u64,
    },
}

/// Arguments of `cluster recovery-kit`.
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("what").args(["out", "check"]).required(true))]
pub(crate) struct KitArgs {
    #[command(flatten)]
    pub(crate) fleet: FleetArgs,

    /// Write a kit into this new file (0600); UNDERCROFT_ORCH_KEY goes into it when it is declared
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,

    /// Open a kit, check it whole and list what is in it
    #[arg(long, value_name = "FILE")]
    pub(crate) check: Option<PathBuf>,

    /// File whose first line is the passphrase [default: UNDERCROFT_RECOVERY_PASSPHRASE]
    #[arg(long, value_name = "FILE")]
    pub(crate) passphrase_file: Option<PathBuf>,

    /// File of 32 bytes, readable by you alone, in place of a passphrase
    #[arg(long, value_name = "FILE", conflicts_with = "passphrase_file")]
    pub(crate) key_file: Option<PathBuf>,

    /// Take what the member has, for a group that lost its majority
    #[arg(long, conflicts_with = "check")]
    pub(crate) stale: bool,
}

/// Arguments of `cluster join-key`.
#[derive(Debug, Args)]
pub(crate) struct JoinKeyArgs {
    /// Write the key into this new file (0600) and print only its path
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
}
