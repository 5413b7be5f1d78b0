//! Every bound of this crate, with its reason. Owns numbers only.

use std::time::Duration;

/// Vaults open at once, at most; fewer when the process may not open so many files.
pub const OPEN_VAULTS: usize = 128;
/// Memory that the indexes of open vaults may take together, in bytes; the vault used longest ago is closed first.
pub const INDEX_BYTES: usize = 256 << 20;
/// Files that one open vault may hold: database, log and its index for the writer and for eight readers, and a lock.
pub const DESCRIPTORS_PER_VAULT: u64 = 28;
/// Files that are left for sockets, logs and the system's libraries.
pub const DESCRIPTORS_RESERVED: u64 = (CONNECTIONS + SPARE_CONNECTIONS) as u64 + 128;
/// A vault that nobody used for so long is closed.
pub const IDLE: Duration = Duration::from_secs(300);
/// How often it is looked for vaults to close.
pub const SWEEP: Duration = Duration::from_secs(5);

/// Reads that may wait for one vault.
pub const WAITING_READS: usize = 128;
/// Reads of one vault that run at once, at least; otherwise the number of cores: half of the pool, so that one vault leaves
/// room for the others. While several vaults are read, half of that.
pub const READS_PER_VAULT: usize = 2;
/// For how long it is remembered that another vault was read: longer than the pause of a client between two requests.
pub const CROWD_MEMORY: Duration = Duration::from_millis(50);
/// Cores from which on half of its places is little enough for a busy vault; with fewer it is paced beside others.
pub const ENOUGH_CORES: usize = 4;
/// How long a paced vault pauses, in percent of what it worked.
pub const PAUSE_PERCENT: u64 = 200;
/// A pause shorter than this is not made: the timer of the runtime counts milliseconds.
pub const PAUSE_AT_LEAST: Duration = Duration::from_millis(1);
/// The longest pause of a paced vault.
pub const PAUSE_AT_MOST: Duration = Duration::from_millis(20);
/// Reads that run at once in the whole process, at least; otherwise twice the number of cores.
pub const READS_AT_LEAST: usize = 4;
/// Long works (verify, repair, copy, restore) that run at once.
pub const LONG_WORKS: usize = 2;
/// Long works that may wait.
pub const WAITING_LONG_WORKS: usize = 16;
/// Long works of one vault that run or wait: half of all, so that others get in.
pub const LONG_WORKS_PER_VAULT: usize = (LONG_WORKS + WAITING_LONG_WORKS) / 2;
/// Long works of one vault that run at once: the other place is for others.
pub const LONG_WORKS_RUNNING_PER_VAULT: usize = 1;
/// Vaults that are being opened or closed at once.
pub const OPENINGS: usize = 4;
/// Transactions that are committed at once: they wait for the disk, not for a core.
pub const COMMITS: usize = 16;

/// Writes that may wait for one vault.
pub const WAITING_WRITES: usize = 128;
/// Writes that one transaction takes, at most: longer ones make the first of them wait.
pub const GROUP_WRITES: usize = 256;
/// The same for a vault that is paced: all cores prepare the writes of a group, and those who are answered together ask
/// together again.
pub const PACED_GROUP_WRITES: usize = 4;
/// Bytes of text that one transaction takes, at most, but for a single larger write.
pub const GROUP_BYTES: usize = 4 << 20;

/// How long something that needs a vault alone waits for its readers to leave.
pub const ALONE_WAIT: Duration = Duration::from_secs(10);
/// What a client that was turned away is told to wait.
pub const RETRY_AFTER: Duration = Duration::from_secs(1);

/// Connections open at once; for further ones the longest idle is closed.
pub const CONNECTIONS: usize = 512;
/// Connections from one address at once: what is left is for others.
pub const CONNECTIONS_OF_ONE: usize = 448;
/// Further connections on which only health is answered, so that whoever watches the process sees it alive.
pub const SPARE_CONNECTIONS: usize = 32;
/// Requests worked on at once: each may hold a body in memory.
pub const REQUESTS: usize = 512;
/// Requests of one vault at work at once: more than its queues take together, and fewer than all.
pub const REQUESTS_PER_VAULT: usize = 384;
/// Requests whose bodies are arriving at once: half of all, so that the others have room for those that are worked on.
pub const ARRIVING: usize = REQUESTS / 2;
/// The same for one vault.
pub const ARRIVING_PER_VAULT: usize = 64;
/// Bytes of bodies held at once, from their first byte to the answer.
pub const BODIES_BYTES: usize = 128 << 20;
/// One vault has so many parts of them at most: one of this number.
pub const BODIES_PARTS: usize = 4;
/// Requests of one HTTP/2 connection at once.
pub const STREAMS: u32 = 64;
/// Largest body of a request, in bytes.
pub const BODY_BYTES: usize = 1 << 20;
/// How long a body may take to arrive.
pub const BODY_WAIT: Duration = Duration::from_secs(30);
/// Largest head of a request, in bytes.
pub const HEADER_BYTES: usize = 32 << 10;
/// Most header lines of a request.
pub const HEADERS: usize = 64;
/// How long the head of a request may take to arrive, from the first moment of a connection and, where it is kept, for the next
/// one.
pub const HEADER_WAIT: Duration = Duration::from_secs(10);
/// How long a client may take for the next piece of its answer.
pub const ANSWER_WAIT: Duration = Duration::from_secs(30);
/// The same, and for the next request, once the process is told to stop.
pub const LAST_WAIT: Duration = Duration::from_secs(2);
/// How often it is looked for clients that do not take their answers.
pub const CONNECTION_SWEEP: Duration = Duration::from_millis(250);
/// A connection with an answer of which nothing was taken for so long makes room for others where places are short.
pub const ANSWER_GRACE: Duration = Duration::from_secs(2);
/// Bytes of an answer that are handed to the system at once: less than what it takes without anybody reading, so that a
/// reader that stands still is seen.
pub const ANSWER_PIECE_BYTES: usize = 16 << 10;
/// Bytes of answers that are held at once for clients that have not taken them.
pub const ANSWER_BYTES: usize = 256 << 20;
/// An answer of so many bytes is never given up for want of room.
pub const SMALL_ANSWER_BYTES: usize = 64 << 10;
/// At most one line in so long says that connections are turned away.
pub const CROWDED_LINE: Duration = Duration::from_secs(10);
/// How long a request may take: a verification of a large vault is the longest.
pub const REQUEST_WAIT: Duration = Duration::from_secs(600);
/// How long requests that have begun may take to end once the process is told to stop.
pub const DRAIN_WAIT: Duration = Duration::from_secs(30);
/// How long closing every vault may take after that.
pub const CLOSE_WAIT: Duration = Duration::from_secs(20);

/// Lines of the log that may wait for whoever reads them; further ones are dropped and counted.
pub const LOG_LINES: usize = 4_096;
/// Bytes of waiting lines that are written at once.
pub const LOG_BATCH_BYTES: usize = 64 << 10;
/// How long the end of the process waits for a reader of the log that does not read.
pub const LOG_LAST_WAIT: Duration = Duration::from_secs(1);
