//! What is decided for a fleet: nodes, shards, placements, tenants, witnesses and jobs, replicated by Raft.
//!
//! `state` says what is true and how a command changes it, `plan` says what should change next, `raft` keeps a few members
//! of one mind about it, `service` answers the processes of the fleet, `admin` its operators, `client` asks
//! there, `recovery` is what they keep for the worst day, `leading` proposes what is planned, `process` is the whole of a
//! member. None of them sees a vault's key or what a vault holds.

pub mod admin;
pub mod client;
pub mod error;
pub mod export;
pub mod keys;
pub mod leading;
pub mod limits;
pub mod plan;
pub mod ports;
pub mod process;
pub mod raft;
pub mod recovery;
pub mod service;
pub mod state;

pub use error::Error;
