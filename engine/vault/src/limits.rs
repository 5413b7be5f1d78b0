//! Every bound of this crate, with its reason. Owns numbers only.

use std::time::Duration;

/// Longest text of one drawer, in bytes.
pub const MAX_TEXT_BYTES: usize = 100_000;
/// Longest source path, in bytes.
pub const MAX_SOURCE_BYTES: usize = 4_096;
/// Longest agent, channel or session claim, in bytes.
pub const MAX_CLAIM_BYTES: usize = 128;
/// Most occurrences kept on one drawer; older days are merged away first.
pub const MAX_OCCURRENCES: usize = 1_000;
/// Largest stored metadata record that a reader will parse, in bytes.
pub const MAX_META_BYTES: usize = 1 << 20;
/// Drawers in one transaction of bulk work.
pub const BATCH_DRAWERS: usize = 256;
/// Rows a long read takes from its snapshot at a time.
pub const PAGE_ROWS: usize = 1_024;
/// The write-ahead log may grow to this many bytes; then snapshots that hold it are closed and it is truncated.
pub const WAL_BOUND_BYTES: u64 = 16 << 20;
/// Past this many bytes no snapshot is spared for being young: reads that follow each other without a gap must not keep
/// the log growing either.
pub const WAL_HARD_BOUND_BYTES: u64 = 2 * WAL_BOUND_BYTES;
/// A snapshot older than this may be closed for the sake of the bound.
pub const SNAPSHOT_GRACE: Duration = Duration::from_millis(500);
/// How long a connection waits for another process's transaction.
pub const BUSY_TIMEOUT: Duration = Duration::from_secs(30);
/// A manifest that lags is rewritten at most this often while writes go on.
pub const ANCHOR_INTERVAL: Duration = Duration::from_secs(1);
/// Idle read connections kept open per vault.
pub const IDLE_READERS: usize = 8;
/// Plaintext bytes of the index image sealed in one piece.
pub const IMAGE_PIECE_BYTES: usize = 1 << 20;
/// Largest index image that is read, in bytes: above it the index is rebuilt from the rows.
pub const MAX_IMAGE_BYTES: u64 = 16 << 30;
/// A stale image is rewritten once this many records changed since it was built, or a tenth of the vault.
pub const IMAGE_STALE_RECORDS: u64 = 256;
/// Most bytes of changes in one segment. What a segment adds around them (header, seal, a length for each record) fits into
/// the rest of [`undercroft_crypto::segment::SEGMENT_MAX_BYTES`].
pub const SEGMENT_CHANGES_BYTES: usize = undercroft_crypto::segment::SEGMENT_MAX_BYTES - (256 << 10);
/// Longest idempotency key, in bytes.
pub const MAX_IDEMPOTENCY_KEY_BYTES: usize = 128;
/// For how long the outcome of a request with an idempotency key is remembered: a day, in microseconds.
pub const IDEMPOTENCY_MICROS: i64 = 24 * 60 * 60 * 1_000_000;
/// Expired outcomes that one transaction forgets at most: more than it can add in ordinary use, and little work.
pub const FORGOTTEN_OUTCOMES: usize = 256;
/// Largest page of a listing.
pub const MAX_LIST: usize = 500;
/// Largest page of the history.
pub const MAX_HISTORY: usize = 1_000;
/// Deepest rank a search may ask for (offset + limit).
pub const MAX_SEARCH_DEPTH: usize = 10_000;
/// Most bytes of text in one page of hits: a page is held in memory whole.
pub const MAX_SEARCH_TEXT_BYTES: usize = 16 << 20;
/// Longest query, in bytes.
pub const MAX_QUERY_BYTES: usize = 400_000;
/// Drawers shown by the wake-up listing.
pub const WAKE_UP_DRAWERS: usize = 15;
