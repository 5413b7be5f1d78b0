//! What is true of the fleet, and how a command changes it.
//!
//! `Command → apply → Outcome`: pure and deterministic, so that every member that applies the same log has the same state.
//! Times, random bits and sealed bytes come inside the command.

mod apply;
mod check;
mod cluster;
mod command;
mod context;
mod decisions;
mod delta;
pub mod invariants;
mod jobs;
mod keys;
mod listed;
mod map;
mod nodes;
mod outcome;
mod requests;
mod shards;
mod snapshot;
mod tenants;
mod vaults;
mod witnesses;

#[cfg(test)]
pub(crate) mod fixture;

pub use apply::Applied;
pub use cluster::{Cluster, ClusterCommand, Credential, Member, Settings};
pub use command::{Batch, Command, Request, Step, VERSION};
pub use context::Key;
pub use decisions::{Decision, Decisions, Subject};
pub use delta::{Delta, MapChange};
pub use jobs::{Job, JobCommand, JobState, Jobs};
pub use keys::{AssertionKeys, KeyCommand, SealedKey};
pub use map::State;
pub use nodes::{Health, Load, Node, NodeCommand, NodeState, Nodes};
pub use outcome::{Noun, Outcome, Refusal};
pub use requests::Requests;
pub use shards::{Change, Leader, Phase, Shard, ShardCommand, Shards};
pub use snapshot::SNAPSHOT_VERSION;
pub use tenants::{Limits, ReadPolicy, Tenant, TenantCommand, Tenants};
pub use vaults::{Dropped, Generation, Level, Moving, Vault, VaultCommand, Vaults, emptiest_shard};
pub use witnesses::{Report, Witness, WitnessCommand, Witnesses, broken_at, witnessed_height};
