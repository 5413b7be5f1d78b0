//! The state: its parts, each with private fields of its own, and nothing else.

use serde::{Deserialize, Serialize};

use super::{AssertionKeys, Cluster, Decisions, Jobs, Nodes, Requests, Shards, Tenants, Vaults, Witnesses};

/// Everything that is decided for a fleet. Changed by [`State::apply`] alone.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct State {
    /// Version of the map that watchers see; one more with each entry that changes it.
    pub(super) version: u64,
    /// The cluster's time in milliseconds since 1970: the highest that any entry carried.
    pub(super) now: u64,
    pub(super) cluster: Cluster,
    pub(super) nodes: Nodes,
    pub(super) shards: Shards,
    pub(super) vaults: Vaults,
    pub(super) tenants: Tenants,
    pub(super) jobs: Jobs,
    pub(super) witnesses: Witnesses,
    pub(super) decisions: Decisions,
    pub(super) requests: Requests,
    pub(super) keys: AssertionKeys,
}

impl State {
    /// Version of the map that watchers see.
    #[must_use]
    pub const fn version(&self) -> u64 {
        self.version
    }

    /// The cluster's time in milliseconds since 1970. It never goes back.
    #[must_use]
    pub const fn now(&self) -> u64 {
        self.now
    }

    /// The cluster: settings, members, credentials.
    #[must_use]
    pub const fn cluster(&self) -> &Cluster {
        &self.cluster
    }

    /// The nodes.
    #[must_use]
    pub const fn nodes(&self) -> &Nodes {
        &self.nodes
    }

    /// The shards.
    #[must_use]
    pub const fn shards(&self) -> &Shards {
        &self.shards
    }

    /// The vaults.
    #[must_use]
    pub const fn vaults(&self) -> &Vaults {
        &self.vaults
    }

    /// The tenants.
    #[must_use]
    pub const fn tenants(&self) -> &Tenants {
        &self.tenants
    }

    /// The jobs.
    #[must_use]
    pub const fn jobs(&self) -> &Jobs {
        &self.jobs
    }

    /// The witnesses.
    #[must_use]
    pub const fn witnesses(&self) -> &Witnesses {
        &self.witnesses
    }

    /// What was decided and why.
    #[must_use]
    pub const fn decisions(&self) -> &Decisions {
        &self.decisions
    }

    /// The keys of assertions, sealed.
    #[must_use]
    pub const fn assertion_keys(&self) -> &AssertionKeys {
        &self.keys
    }

    /// Outcomes that are kept for retries.
    #[must_use]
    pub const fn requests(&self) -> &Requests {
        &self.requests
    }
}
