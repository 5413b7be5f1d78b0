//! Every bound of the journal, with its reason. Owns numbers only.

/// Bytes after which a segment file is followed by another. One is read whole when a journal is opened, and deleted whole when
/// nothing in it is needed: small enough for both, large enough that a busy node begins one every few seconds at most.
pub const SEGMENT_BYTES: u64 = 32 << 20;
/// Bytes of all segment files together, past which entries are refused. Votes, floors and purges are still taken: they make room.
pub const JOURNAL_BYTES: u64 = 16 << 30;
/// Entries of all groups together. Each costs 12 bytes of memory in the index: 48 MB.
pub const ENTRIES: u64 = 4 << 20;
/// Bytes of one record's body: a segment of a vault has at most 4 MiB, its header and a membership a little more.
pub const RECORD_BYTES: usize = 8 << 20;
/// Bytes of entries that may wait for the disk; who brings more waits.
pub const WAITING_BYTES: usize = 32 << 20;
/// Bytes that one flush takes, but for a single larger append: longer ones make the first of them wait.
pub const BATCH_BYTES: usize = 8 << 20;
/// Bytes of written entries that are kept in memory, over all groups: what followers and the state machine read right after it
/// was appended. Older ones are read from the disk.
pub const CACHE_BYTES: usize = 8 << 20;
/// Groups among which the cache is divided at least, so that one that is alone keeps little memory as well.
pub const CACHE_SHARES: usize = 32;
/// Bytes of old entries that are carried forward with one flush: a flush stays as short as a busy one is anyway.
pub const CARRY_BYTES: u64 = 1 << 20;
/// Groups of one journal: each shard of a node is one, and there are at most 1,024 shards in a fleet.
pub const GROUPS: usize = 4096;
/// Vaults in one group's floor. A floor is one record, of 40 bytes a vault.
pub const FLOOR_VAULTS: usize = 100_000;
/// Bytes of a membership in a floor.
pub const MEMBERSHIP_BYTES: usize = 1 << 20;
/// How often a read is begun again because the file it was about to read has been deleted: its entries had been carried forward.
pub const READ_AGAIN: usize = 16;

/// The bounds that a journal is run with. Smaller ones let a test reach them.
#[derive(Debug, Clone, Copy)]
pub struct Sizes {
    /// See [`SEGMENT_BYTES`]; at most 1 GiB, since offsets are kept in 32 bits.
    pub segment_bytes: u64,
    /// See [`JOURNAL_BYTES`].
    pub journal_bytes: u64,
    /// See [`ENTRIES`].
    pub entries: u64,
    /// See [`WAITING_BYTES`].
    pub waiting_bytes: usize,
    /// See [`CACHE_BYTES`].
    pub cache_bytes: usize,
    /// See [`CARRY_BYTES`].
    pub carry_bytes: u64,
    /// See [`GROUPS`].
    pub groups: usize,
}

impl Default for Sizes {
    fn default() -> Self {
        Self {
            segment_bytes: SEGMENT_BYTES,
            journal_bytes: JOURNAL_BYTES,
            entries: ENTRIES,
            waiting_bytes: WAITING_BYTES,
            cache_bytes: CACHE_BYTES,
            carry_bytes: CARRY_BYTES,
            groups: GROUPS,
        }
    }
}
