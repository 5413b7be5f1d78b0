//! What the shards of a node are run with: where they lie, whom they ask, how fast they notice. Owns no state but the bound on
//! those who apply.

use std::io;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use futures_util::future::BoxFuture;
use openraft::{Config, SnapshotPolicy};
use tokio::sync::Semaphore;
use undercroft_crypto::MasterKey;
use undercroft_proto::{NodeId, ShardId, VaultId};
use undercroft_vault::replica::{Generation, State};
use undercroft_vault::{Screening, VaultOptions};

use super::limits;
use super::network::Transport;
use crate::journal::{Journal, Sizes};
use crate::{Error, Result};

/// Where key generations come from: no log holds them.
pub trait Generations: Send + Sync + 'static {
    /// A generation of a vault. Called where waiting is allowed.
    ///
    /// # Errors
    /// When it cannot be had now. The vault waits then, and its shard does not.
    fn generation(&self, vault: VaultId, number: u32) -> io::Result<Generation>;
}

/// A copy that is wanted of another replica.
#[derive(Debug, Clone)]
pub struct Wanted {
    /// The shard.
    pub shard: ShardId,
    /// The vault.
    pub vault: VaultId,
    /// The entry that it must hold.
    pub at_least: u64,
    /// The folder to write it into, which does not exist.
    pub into: PathBuf,
    /// The other replicas, with their addresses.
    pub from: Vec<(NodeId, String)>,
}

/// Where whole copies come from, when one here is missing, too old or suspect.
pub trait Copies: Send + Sync + 'static {
    /// Fetches a copy, durably, and says what its sender named. Whether it is that is proved by whoever asked.
    fn fetch(&self, wanted: Wanted) -> BoxFuture<'_, io::Result<State>>;
}

/// Who is told what an operator has to see.
pub trait Watch: Send + Sync + 'static {
    /// A copy on this node is not like the others and is no longer served.
    fn suspect(&self, shard: ShardId, vault: VaultId, reason: &str);
    /// It was replaced and is served again.
    fn healed(&self, shard: ShardId, vault: VaultId);
}

/// How fast a group notices that its leader is gone, and how long it may take.
#[derive(Debug, Clone, Copy)]
pub struct Timing {
    /// Between two heartbeats.
    pub heartbeat: Duration,
    /// Shortest silence after which a replica stands for election; the longest is twice that.
    pub election: Duration,
    /// See [`limits::PROPOSAL`].
    pub proposal: Duration,
    /// See [`limits::STRONG`].
    pub strong: Duration,
    /// See [`limits::CHECKPOINT`].
    pub checkpoint: Duration,
    /// See [`limits::KEPT_ENTRIES`].
    pub kept_entries: u64,
}

impl Default for Timing {
    fn default() -> Self {
        Self {
            heartbeat: Duration::from_millis(200),
            election: Duration::from_millis(600),
            proposal: limits::PROPOSAL,
            strong: limits::STRONG,
            checkpoint: limits::CHECKPOINT,
            kept_entries: limits::KEPT_ENTRIES,
        }
    }
}

/// What a host is started with.
pub struct HostConfig {
    /// This life of the node's journal.
    pub node: NodeId,
    /// The data folder: `journal`, `vaults`, `incoming`, `evidence` are in it.
    pub folder: PathBuf,
    /// The fleet's.
    pub master: Arc<MasterKey>,
    /// How vaults are opened.
    pub options: VaultOptions,
    /// What screened the texts that are written.
    pub screening: Screening,
    /// The way to other nodes.
    pub transport: Arc<dyn Transport>,
    /// Where key generations come from.
    pub generations: Arc<dyn Generations>,
    /// Where copies come from.
    pub copies: Arc<dyn Copies>,
    /// Who is told of suspect copies.
    pub watch: Arc<dyn Watch>,
    /// How fast it notices.
    pub timing: Timing,
    /// The bounds of its journal.
    pub sizes: Sizes,
}

/// The same, shared by all groups.
pub(super) struct Shared {
    pub(super) node: NodeId,
    pub(super) folder: PathBuf,
    pub(super) master: Arc<MasterKey>,
    pub(super) options: VaultOptions,
    pub(super) screening: Screening,
    pub(super) transport: Arc<dyn Transport>,
    pub(super) generations: Arc<dyn Generations>,
    pub(super) copies: Arc<dyn Copies>,
    pub(super) watch: Arc<dyn Watch>,
    pub(super) timing: Timing,
    pub(super) sizes: Sizes,
    /// The journal, once it is open.
    pub(super) journal: OnceLock<Journal>,
    /// Who may apply at the same time.
    pub(super) workers: Semaphore,
}

impl Shared {
    pub(super) fn new(config: HostConfig) -> Self {
        Self {
            node: config.node,
            folder: config.folder,
            master: config.master,
            options: config.options,
            screening: config.screening,
            transport: config.transport,
            generations: config.generations,
            copies: config.copies,
            watch: config.watch,
            timing: config.timing,
            sizes: config.sizes,
            journal: OnceLock::new(),
            workers: Semaphore::new(limits::APPLY_WORKERS),
        }
    }

    /// The folder of the copies that are in place.
    pub(super) fn vaults(&self) -> PathBuf {
        self.folder.join("vaults")
    }

    /// Where a copy arrives before it is proved.
    pub(super) fn incoming(&self, vault: VaultId) -> PathBuf {
        self.folder.join("incoming").join(vault.to_string())
    }

    /// Where the copy lies that a move has brought and no entry has put in place yet.
    pub(super) fn staged(&self, vault: VaultId, move_id: u64) -> PathBuf {
        self.folder.join("staged").join(format!("{vault}-{move_id}"))
    }

    /// Where the files of suspect copies are kept.
    pub(super) fn evidence(&self) -> PathBuf {
        self.folder.join("evidence")
    }

    /// Whether the journal has so much that writes must wait until floors have moved.
    pub(super) fn is_journal_full(&self) -> bool {
        let share = |of: u64| of / 100 * limits::JOURNAL_FULL;
        self.journal.get().map(Journal::status).is_some_and(|status| {
            status.bytes > share(self.sizes.journal_bytes) || status.entries > share(self.sizes.entries)
        })
    }

    pub(super) fn raft(&self) -> Result<Config> {
        let timing = &self.timing;
        let election = timing.election.as_millis() as u64;
        let config = Config {
            cluster_name: "undercroft-shard".into(),
            heartbeat_interval: timing.heartbeat.as_millis() as u64,
            election_timeout_min: election,
            election_timeout_max: election * 2,
            // The receiver fetches whole copies of vaults meanwhile.
            install_snapshot_timeout: 60_000,
            max_payload_entries: limits::MESSAGE_ENTRIES,
            // A snapshot is the floor; who moves the floor asks for one.
            snapshot_policy: SnapshotPolicy::Never,
            replication_lag_threshold: u64::MAX,
            max_in_snapshot_log_to_keep: timing.kept_entries,
            enable_pre_vote: Some(true),
            quorum_loss_probe_interval: Some(election * 4),
            // A leader that comes back asks for votes, in a new term. What it sent before it was on its own disk would otherwise
            // get its log ids a second time, for other entries.
            enable_leader_restore: Some(false),
            ..Config::default()
        };
        config.validate().map_err(|error| Error::ShardStopped(error.to_string()))
    }
}
