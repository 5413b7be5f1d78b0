//! Every bound of the shards of a node, with its reason. Owns numbers only.

use std::time::Duration;

/// Threads that apply entries to vaults at the same time: more would only wait for the same disk.
pub const APPLY_WORKERS: usize = 4;
/// Entries of one vault that are applied in one transaction.
pub const APPLY_ENTRIES: usize = 64;
/// Bytes of entries that one vault keeps in memory before they are applied. What is above is read from the journal again.
pub const QUEUE_BYTES: usize = 8 << 20;
/// Vaults of one group whose copies stay open when nobody uses them.
pub const OPEN_VAULTS: usize = 64;
/// Requests that wait for one vault's writer.
pub const WAITING: usize = 256;
/// Requests that the writer takes into one transaction.
pub const BATCH: usize = 128;
/// How long a proposal may take before its callers hear that its outcome is unknown.
pub const PROPOSAL: Duration = Duration::from_secs(5);
/// How long a strong read may wait for the majority.
pub const STRONG: Duration = Duration::from_secs(3);
/// How long a read waits for the position that it demands, before it is sent to the leader.
pub const SESSION: Duration = Duration::from_millis(250);
/// How long a vault rests whose disk refused, and a heal that found no replica. Nobody is told when a disk has room again.
pub const RETRY: Duration = Duration::from_millis(200);
/// How long the worker leaves a transaction to its writer that is about to park it.
pub const PARKING: Duration = Duration::from_millis(2);
/// Of all that the journal may hold, in per cent: above it this node's vaults take no writes. What is left is for entries of other
/// leaders, since a replica whose journal refuses one stops.
pub const JOURNAL_FULL: u64 = 75;
/// Between two advances of a group's floor.
pub const CHECKPOINT: Duration = Duration::from_secs(10);
/// Entries behind the floor that stay in the journal, for followers that are a little behind.
pub const KEPT_ENTRIES: u64 = 1024;
/// Entries of one message between replicas; each may have four mebibytes.
pub const MESSAGE_ENTRIES: u64 = 16;
/// Bytes of a vault's name in an entry.
pub const NAME_BYTES: usize = 255;
/// Evidence copies that are kept of one vault; the first ones, since they are nearest to what happened.
pub const EVIDENCE: usize = 4;
