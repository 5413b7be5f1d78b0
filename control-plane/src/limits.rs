//! Every bound of the control plane, each with its reason.

/// Bytes of a name: of a tenant, a node, a zone, a kind of job. Names are shown in tables.
pub const NAME_BYTES: usize = 128;
/// Bytes of an address: a host name has at most 253, a port five digits.
pub const ADDRESS_BYTES: usize = 264;
/// Bytes of the URI by which a certificate names its holder: a prefix, a role and a name of 63 characters.
pub const CERTIFICATE_BYTES: usize = 128;
/// Bytes of something sealed that the control plane keeps unread: a key generation, a credential.
pub const SEALED_BYTES: usize = 4096;
/// Bytes of a reason or of a job's message: one line for a person.
pub const REASON_BYTES: usize = 300;
/// Shards of a fleet. Each node runs a Raft group for each shard that it holds.
pub const SHARDS: u32 = 1024;
/// Replicas of a shard. More voters cost every write, and five survive two losses.
pub const REPLICAS: u8 = 7;
/// Commands in one entry of the log. They are applied without a pause, and travel in one message.
pub const BATCH_COMMANDS: usize = 1024;
/// Bytes of one entry of the log: below what a gRPC message may have by default (4 MiB).
pub const BATCH_BYTES: usize = 1 << 20;
/// Decisions that are kept, the newest: about 3 MB.
pub const DECISIONS: usize = 10_000;
/// Finished jobs that are kept, the newest.
pub const FINISHED_JOBS: usize = 1_000;
/// Jobs that may be under way. Past it, who asks for one is told to wait.
pub const OPEN_JOBS: usize = 10_000;
/// Outcomes that are kept for retries.
pub const REMEMBERED: usize = 100_000;
/// How long an outcome is kept for retries: a day.
pub const REMEMBERED_MS: u64 = 24 * 60 * 60 * 1000;
/// Outcomes forgotten by one command at most, so that no command pays for many.
pub const FORGOTTEN_A_STEP: usize = 8;
/// Generations of one vault that are kept. Rotation destroys older ones when every replica has rotated.
pub const GENERATIONS: usize = 64;
/// Witnesses of one vault that are kept, whatever the policy says: of two months. Each takes some 150 bytes.
pub const WITNESSES: usize = 64;
/// Vaults whose witnesses are exported in one piece: the state stands still for it.
pub const EXPORTED_VAULTS: u64 = 256;
/// Bytes of one line of an export, several times what any has.
pub const EXPORTED_LINE: u64 = 4096;
/// Learners of a shard, read replicas and new voters together.
pub const LEARNERS: usize = 16;
/// Credentials of the cluster that are kept.
pub const CREDENTIALS: usize = 64;
/// How long a node may be silent before it is dead and its replicas are replaced.
pub const DEAD_AFTER_MS: u64 = 30_000;
/// How long a router may be silent before nobody waits for it any more: six of its reports.
pub const ROUTER_SILENT_MS: u64 = 60_000;
/// How long the key of assertions before the present one is good at most, whoever was not heard.
pub const OLD_KEY_MS: u64 = 60 * 60 * 1000;
/// Replicas that are copied at one time, in the whole fleet: copying competes with serving.
pub const COPIES: usize = 8;
/// Replicas that one node receives at one time.
pub const COPIES_A_NODE: usize = 2;
/// Entries that a new replica may be behind the committed index and still count as caught up: what is written while the
/// voters are switched.
pub const CAUGHT_UP_LAG: u64 = 256;
/// A load is written down when its bytes changed by this part (a sixteenth) and by more than [`LOAD_STEP_BYTES`].
pub const LOAD_STEP_PART: u64 = 16;
/// See [`LOAD_STEP_PART`].
pub const LOAD_STEP_BYTES: u64 = 64 << 20;
/// Moves of one pass: they are one entry of the log.
pub const MOVES: usize = 256;
/// Deltas that are kept for watchers, once for all of them. Who is further behind takes the whole map anew.
pub const WATCH_DELTAS: usize = 4096;
/// Changes in those deltas: at most some 30 MB, and what is created in the seconds that a large map takes to be told.
pub const WATCH_CHANGES: usize = 65_536;
/// Changes in one message to a watcher: some 200 kB.
pub const WATCH_PIECE: usize = 512;
/// Watchers of one member: every process of a large fleet, twice.
pub const WATCHERS: usize = 2048;
/// How long a connection to a member may take.
pub const CONNECT: std::time::Duration = std::time::Duration::from_secs(1);
/// Entries in one message between members.
pub const MESSAGE_ENTRIES: u64 = 16;
/// Bytes of one message between members: that many entries of the largest kind, and room for what is around them.
pub const MESSAGE_BYTES: usize = (MESSAGE_ENTRIES as usize + 2) * BATCH_BYTES;
/// Bytes of one piece of a snapshot that travels.
pub const SNAPSHOT_PIECE_BYTES: usize = 256 << 10;
/// Bytes of a snapshot: several times what 100,000 tenants need.
pub const SNAPSHOT_BYTES: usize = 1 << 30;
/// Entries after which a snapshot is taken.
pub const SNAPSHOT_ENTRIES: u64 = 5_000;
/// Entries that are kept behind a snapshot, so that a member which is a little behind needs none.
pub const KEPT_ENTRIES: u64 = 1_000;
/// How long a write waits for a majority, and for a leader when there is none.
pub const WRITE: std::time::Duration = std::time::Duration::from_secs(5);
/// How long a member asks again for a leader that takes a decision: two elections, and a write.
pub const DECIDE: std::time::Duration = std::time::Duration::from_secs(8);
/// How long a member waits to have applied what the leader decided for it.
pub const FOLLOW: std::time::Duration = std::time::Duration::from_secs(2);
/// How long one call to another member may take: a write, and the way there and back.
pub const CALL: std::time::Duration = std::time::Duration::from_secs(6);
/// How long the tasks of a member that has stopped may take to let its log go.
pub const LET_GO: std::time::Duration = std::time::Duration::from_secs(2);
/// Between two attempts to reach a leader.
pub const AGAIN: std::time::Duration = std::time::Duration::from_millis(25);
/// Channels to other members that are kept: more than any group has.
pub const CHANNELS: usize = 64;
/// Challenges that wait for their answer; past it the oldest is void.
pub const CHALLENGES: usize = 1024;
/// How long a challenge is good for.
pub const CHALLENGE_MS: u64 = 60_000;
/// Witnesses in one report.
pub const REPORTED_WITNESSES: usize = 2048;
/// Job steps that a node is given at once.
pub const TAKEN_STEPS: usize = 64;
/// Between two looks of the leader at what should change.
pub const TICK: std::time::Duration = std::time::Duration::from_millis(500);
/// How long a new member asks to be taken in.
pub const ENTER: std::time::Duration = std::time::Duration::from_secs(30);
/// Bytes of a body of the admin interface: every one is a few fields.
pub const ADMIN_BODY: usize = 64 << 10;
/// Characters of an `Idempotency-Key`.
pub const KEY_BYTES: usize = 128;
/// Entries of one page of a list.
pub const PAGE: usize = 1000;
/// Connections of operators at one time: people and their scripts.
pub const OPERATORS: usize = 256;
/// How long an operator's connection may take to send the head of a request, or to answer that it is still there.
pub const HEAD: std::time::Duration = std::time::Duration::from_secs(15);
/// Bytes of an answer of the admin interface that its client takes: more than any page has.
pub const ADMIN_ANSWER: usize = 16 << 20;
/// How long the client of the admin interface waits for an answer: a decision, and what is around it.
pub const ADMIN_WAIT: std::time::Duration = std::time::Duration::from_secs(30);
/// How long it waits for a whole state, which is large.
pub const ADMIN_WAIT_LONG: std::time::Duration = std::time::Duration::from_secs(600);
/// How long it may take to reach the admin interface.
pub const ADMIN_CONNECT: std::time::Duration = std::time::Duration::from_secs(5);
