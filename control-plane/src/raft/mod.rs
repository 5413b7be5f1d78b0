//! A few members of one mind: the state, replicated by openraft.
//!
//! Elections, votes and truncation are the library's. Here is what it needs: a log on disk, a state machine with snapshots,
//! and a network. See `docs/control-plane.md`.

mod codec;
mod connect;
mod disk;
mod folder;
mod group;
mod history;
mod identity;
pub mod log;
mod machine;
mod map;
mod member;
mod network;
mod notices;
mod serve;
mod snapshots;
mod standing;
mod types;

pub use connect::Connect;
pub use disk::{Disk, RealDisk};
pub use group::GroupId;
pub(crate) use group::Saying;
pub use log::LogStore;
pub use machine::Machine;
pub use map::{SharedMap, Since};
pub use member::{Member, MemberConfig, Timing};
pub use network::Network;
pub use serve::RaftService;
pub use types::{Proposal, Raft, Reply, Types};

#[cfg(test)]
#[path = "faults_test.rs"]
mod faults_test;
#[cfg(test)]
#[path = "member_test.rs"]
mod member_test;
#[cfg(test)]
#[path = "tls_test.rs"]
pub(crate) mod tls_test;
