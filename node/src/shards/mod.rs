//! The shards of a node: Raft groups that replicate vaults. A write is acknowledged when a majority has its segment on disk;
//! every replica proves for itself what it applies.
//!
//! Start at [`ShardHost`]. [`Group`] is one shard on this node: writes, commands, reads, members. What a shard's log holds is a
//! [`ShardEntry`]; openraft alone decides what is in it. A request comes to `writer`, an entry to `machine` and from there to
//! `worker`; `healing` replaces copies, `checkpoint` lets the journal forget. Nothing here knows HTTP, tenants or placement.

mod checkpoint;
mod commands;
mod entry;
mod group;
mod healing;
mod host;
pub mod limits;
mod machine;
mod network;
mod reading;
mod replica;
mod settings;
mod slot;
mod types;
mod worker;
mod writer;

#[cfg(test)]
mod entry_test;
#[cfg(test)]
mod testing;

pub use entry::{Malformed, ShardEntry, What};
pub use group::{Group, GroupStatus};
pub use host::{Opened, ShardHost};
pub use network::{Call, Message, Transport};
pub use reading::{Consistency, Served};
pub use settings::{Copies, Generations, HostConfig, Timing, Wanted, Watch};
pub use slot::Health;
pub use types::{Types, Verdict};
pub use writer::Written;
