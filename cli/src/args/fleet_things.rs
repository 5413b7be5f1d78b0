//! `node …`, `shard …`, `job …`: what a fleet is made of, as its operator sees it.

use std::ffi::OsString;

use clap::{Args, Subcommand};

use super::fleet::{FleetArgs, PageArgs};

/// Arguments of `node`. Without one of its commands it would be the role that serves vaults.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct NodeArgs {
    #[command(subcommand)]
    pub(crate) command: Option<NodeCommand>,

    /// What the role is typed with.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
    pub(crate) rest: Vec<OsString>,
}

/// `node …`
#[derive(Debug, Subcommand)]
pub(crate) enum NodeCommand {
    /// Print the nodes with their zones, loads and tenants
    List(NodeListArgs),
    /// Move everything away from a node, so that it can be stopped
    Drain(NodeDrainArgs),
    /// Forget a node that holds no replica
    Remove(NodeNameArgs),
}

/// Arguments of `node list`.
#[derive(Debug, Args)]
pub(crate) struct NodeListArgs {
    #[command(flatten)]
    pub(crate) fleet: FleetArgs,
}

/// Arguments of `node remove`.
#[derive(Debug, Args)]
pub(crate) struct NodeNameArgs {
    #[command(flatten)]
    pub(crate) fleet: FleetArgs,

    /// Its name
    pub(crate) name: String,
}

/// Arguments of `node drain`.
#[derive(Debug, Args)]
pub(crate) struct NodeDrainArgs {
    #[command(flatten)]
    pub(crate) fleet: FleetArgs,

    /// Its name
    pub(crate) name: String,

    /// Let it take replicas again
    #[arg(long)]
    pub(crate) undo: bool,

    /// Why, for the list of decisions
    #[arg(long, value_name = "TEXT")]
    pub(crate) reason: Option<String>,
}

/// Arguments of `shard`.
#[derive(Debug, Args)]
pub(crate) struct ShardArgs {
    #[command(flatten)]
    pub(crate) fleet: FleetArgs,

    #[command(subcommand)]
    pub(crate) command: ShardCommand,
}

/// `shard …`
#[derive(Debug, Subcommand)]
pub(crate) enum ShardCommand {
    /// Print the shards with their replicas and leaders
    List,
    /// Print one shard
    Show {
        /// Its number
        id: u32,
    },
    /// Say which node should lead a shard
    Transfer {
        /// Its number
        id: u32,
        /// Name or number of a node that votes in it; left out, anybody may lead
        node: Option<String>,
    },
    /// Give a node a read replica of a shard
    Learner {
        /// Its number
        id: u32,
        /// Name or number of the node
        node: String,
        /// Take the read replica away
        #[arg(long)]
        remove: bool,
    },
}

/// Arguments of `job`.
#[derive(Debug, Args)]
pub(crate) struct JobArgs {
    #[command(flatten)]
    pub(crate) fleet: FleetArgs,

    #[command(subcommand)]
    pub(crate) command: JobCommand,
}

/// `job …`
#[derive(Debug, Subcommand)]
pub(crate) enum JobCommand {
    /// Print the newest jobs
    List(PageArgs),
    /// Print one job
    Show {
        /// Its id
        id: u64,
    },
    /// Tell whoever works on a job to stop
    Withdraw {
        /// Its id
        id: u64,
    },
}
