//! What can be typed: one clap tree, a file per group, and the help that shows it in groups.
//!
//! Nothing is carried out here, and no name or date is judged: handlers hand them to the engine, which has one guard for
//! every surface.

mod agents;
mod backup;
mod cluster;
mod command;
mod config;
mod control_plane;
mod drawer;
mod filing;
mod fleet;
mod fleet_things;
pub(crate) mod help;
mod later;
mod searching;
mod serve_http;
mod tenant;
mod vault;

use std::path::PathBuf;

use clap::Parser;

use crate::hints::Named;

pub(crate) use agents::{AssertHeaderArgs, DaemonCommand, HooksArgs, ServeMcpArgs};
pub(crate) use backup::{BackupCommand, RestoreArgs};
pub(crate) use cluster::{CaStage, CertsArgs, ClusterCommand, KeygenArgs};
pub(crate) use command::Command;
pub(crate) use config::{CompletionArgs, ConfigCheckArgs, ConfigCommand, TranscriptCommand};
pub(crate) use control_plane::ControlPlaneArgs;
pub(crate) use drawer::DrawerCommand;
pub(crate) use filing::{MineArgs, RememberArgs, SweepArgs};
pub(crate) use fleet::{FleetArgs, FoundArgs, JoinKeyArgs, KitArgs, MemberArgs, MemberCommand, StatusArgs};
pub(crate) use fleet_things::{
    JobArgs, JobCommand, NodeArgs, NodeCommand, NodeDrainArgs, ShardArgs, ShardCommand,
};
pub(crate) use later::LaterCommand;
pub(crate) use searching::{DedupArgs, HistoryArgs, RepairArgs, SearchArgs, WakeUpArgs};
pub(crate) use serve_http::ServeHttpArgs;
pub(crate) use tenant::{LimitArgs, TenantArgs, TenantCommand, TenantCreateArgs};
pub(crate) use vault::{InitArgs, VaultCommand};

/// Undercroft: hardened local-first AI memory. Keeps what was said word for word, encrypted and tamper-evident, and finds
/// it again by meaning and by word.
#[derive(Debug, Parser)]
#[command(name = "undercroft", version, max_term_width = 110)]
pub(crate) struct Cli {
    /// The installation's folder [default: UNDERCROFT_HOME, else ~/.undercroft]
    #[arg(long, global = true, value_name = "FOLDER")]
    pub(crate) data_dir: Option<PathBuf>,

    /// The vault to work on [default: default]
    #[arg(long, global = true, value_name = "NAME")]
    pub(crate) vault: Option<String>,

    /// Print one JSON object instead of lines for people
    #[arg(long, global = true)]
    pub(crate) json: bool,

    #[command(subcommand)]
    pub(crate) command: Command,
}

impl Cli {
    /// What a command that is shown to be copied must repeat.
    #[must_use]
    pub(crate) fn named(&self) -> Named {
        Named { vault: self.vault.clone(), data_dir: self.data_dir.clone() }
    }
}

#[cfg(test)]
mod args_test;
