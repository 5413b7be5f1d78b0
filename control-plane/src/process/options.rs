//! What a member is started with. Nothing here is read from the environment: who starts it hands it over.

use std::path::PathBuf;

use undercroft_proto::JoinKey;

use crate::admin::AdminToken;
use crate::keys::GroupKey;
use crate::ports::Ports;
use crate::raft::{Connect, Timing};

/// The secrets of the control group, the same for each member.
pub struct Keys {
    /// The group's key: tenants' tokens are kept under it, and what the group mints is sealed under it.
    pub group: GroupKey,
    /// The key under which nodes prove themselves. Without it no node joins.
    pub join: Option<JoinKey>,
}

/// The interface for operators.
pub struct Admin {
    /// host:port; port 0 takes a free one.
    pub listen: String,
    /// What an operator must show.
    pub token: AdminToken,
}

/// What a member is started with.
pub struct Options {
    /// Its folder. An empty one begins a new member.
    pub data: PathBuf,
    /// host:port for members, nodes and routers; port 0 takes a free one.
    pub listen: String,
    /// Where others reach it; by default where it listens.
    pub advertise: Option<String>,
    /// Members that a new one enters the group through. Without any, a new member founds a group of its own.
    pub join: Vec<String>,
    /// The secrets.
    pub keys: Keys,
    /// How members are reached, and who may call: plain on this machine alone, or with certificates.
    pub connect: Connect,
    /// The interface for operators: plain on this machine alone, or over TLS with the same certificates; `None` for none.
    pub admin: Option<Admin>,
    /// How fast the group notices that its leader is gone.
    pub timing: Timing,
    /// Time and randomness.
    pub ports: Ports,
}
