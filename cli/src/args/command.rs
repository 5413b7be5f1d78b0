//! Every command, and whether it works on a vault.

use clap::Subcommand;

use super::{
    AssertHeaderArgs, BackupCommand, ClusterCommand, CompletionArgs, ConfigCheckArgs, ConfigCommand,
    ControlPlaneArgs, DaemonCommand, DedupArgs, DrawerCommand, HistoryArgs, HooksArgs, InitArgs, JobArgs,
    KeygenArgs, LaterCommand, MineArgs, NodeArgs, RememberArgs, RepairArgs, SearchArgs, ServeHttpArgs,
    ServeMcpArgs, ShardArgs, SweepArgs, TenantArgs, TranscriptCommand, VaultCommand, WakeUpArgs,
};

/// Every command of this version, and those of later ones.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Make the installation: its master key and the vault 'default'
    Init(InitArgs),
    /// Make, list, inspect and delete vaults
    #[command(subcommand)]
    Vault(VaultCommand),
    /// File one text, word for word
    Remember(RememberArgs),
    /// File the texts of a file or of a folder of files
    Mine(MineArgs),
    /// File every message of agent transcripts that is not there yet
    Sweep(SweepArgs),
    /// Find drawers by meaning and by word
    Search(SearchArgs),
    /// Print who you are and what was filed last, to start a conversation with
    WakeUp(WakeUpArgs),
    /// Read, list, change and delete single drawers
    #[command(subcommand)]
    Drawer(DrawerCommand),
    /// Find drawers that hold the same text, and remove the surplus
    Dedup(DedupArgs),
    /// Print counts, sizes and the state of the vault
    Stats,
    /// Print wings and rooms with their counts
    Taxonomy,
    /// Print the audit chain, newest first
    History(HistoryArgs),
    /// Print which drawers update which, and whether the receipts hold
    Supersessions,
    /// Check every record and the whole audit chain
    Verify,
    /// Rebuild what can be rebuilt: vectors, fingerprints, indexes
    Repair(RepairArgs),
    /// Copy a verified vault aside, and bring a copy back
    #[command(subcommand)]
    Backup(BackupCommand),
    /// Check the environment before anything relies on it
    #[command(subcommand)]
    Config(ConfigCommand),
    /// The same as 'config check'
    #[command(hide = true)]
    ConfigCheck(ConfigCheckArgs),
    /// Show agent transcripts as a conversation
    #[command(subcommand)]
    Transcript(TranscriptCommand),
    /// Serve one vault to an agent (MCP) on standard input and output
    ServeMcp(ServeMcpArgs),
    /// Print settings that make an agent file its own conversations
    Hooks(HooksArgs),
    /// File transcripts again and again
    #[command(subcommand)]
    Daemon(DaemonCommand),
    /// Print the X-Vault-Assertion header that a server with a secret demands
    AssertHeader(AssertHeaderArgs),
    /// Serve vaults over HTTP until told to stop
    ServeHttp(ServeHttpArgs),
    /// Found a cluster, look at it, and make what it is built on
    #[command(subcommand)]
    Cluster(ClusterCommand),
    /// Print, drain and remove the nodes of a fleet
    Node(NodeArgs),
    /// Print the shards of a fleet, and say who leads and who keeps copies
    Shard(ShardArgs),
    /// Make, list, change and delete the tenants of a fleet
    Tenant(TenantArgs),
    /// Print and withdraw the jobs of a fleet
    Job(JobArgs),
    /// Print new secrets for a fleet's control group
    Keygen(KeygenArgs),
    /// Run a member of the group that decides for a fleet, until told to stop
    ControlPlane(ControlPlaneArgs),
    /// Print a completion script for a shell
    Completions(CompletionArgs),
    #[command(flatten)]
    Later(LaterCommand),
}

impl Command {
    /// Whether the command works on the vault that `--vault` names. Where it does not, the flag is a mistake.
    #[must_use]
    pub(crate) fn takes_vault(&self) -> bool {
        match self {
            Self::Init(_)
            | Self::Vault(_)
            | Self::Config(_)
            | Self::ConfigCheck(_)
            | Self::Transcript(_)
            | Self::Cluster(_)
            | Self::Shard(_)
            | Self::Tenant(_)
            | Self::Job(_)
            | Self::Node(NodeArgs { command: Some(_), .. })
            | Self::Keygen(_)
            | Self::ControlPlane(_)
            | Self::Completions(_)
            | Self::Hooks(_)
            | Self::AssertHeader(_)
            | Self::Backup(BackupCommand::List | BackupCommand::Restore(_)) => false,
            Self::Backup(BackupCommand::Create) | Self::Later(_) | Self::Node(_) => true,
            Self::Remember(_)
            | Self::Mine(_)
            | Self::Sweep(_)
            | Self::Search(_)
            | Self::ServeHttp(_)
            | Self::ServeMcp(_)
            | Self::Daemon(_)
            | Self::WakeUp(_)
            | Self::Drawer(_)
            | Self::Dedup(_)
            | Self::Stats
            | Self::Taxonomy
            | Self::History(_)
            | Self::Supersessions
            | Self::Verify
            | Self::Repair(_) => true,
        }
    }
}
