//! What can go wrong between a request and its vault, and the class of each failure.
//!
//! What a vault or the installation says is passed on unchanged. No status is decided here.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use undercroft_palace::ErrorClass;
use undercroft_proto::{NodeId, Position, ShardId, VaultId};

use crate::{limits, told};

/// Every failure of this crate. Cloned when one failed transaction is the answer to several writes.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The installation: names, keys, backups.
    #[error(transparent)]
    Palace(Arc<undercroft_palace::Error>),
    /// One vault.
    #[error(transparent)]
    Vault(Arc<undercroft_vault::Error>),
    /// As many requests wait for this vault as may.
    #[error("vault '{0}' has as many requests waiting as are accepted; try again in a moment")]
    VaultBusy(String),
    /// A bound of the whole process is reached.
    #[error("the server has {0}; try again in a moment")]
    Busy(&'static str),
    /// The process is finishing what it accepted and takes nothing new.
    #[error("the server is shutting down; try again on another one, or when it is back")]
    Draining,
    /// Something that needs the vault alone did not get it in time.
    #[error("vault '{0}' is in use by other requests; try again when they are done")]
    InUse(String),
    /// The vault was deleted or replaced on the disk while it was open.
    #[error(
        "vault '{0}' was deleted or replaced on the disk while it was open; send the request again for what is there now"
    )]
    Displaced(String),
    /// The vault that this process serves by name cannot be taken away from under it.
    #[error("vault '{0}' is the one that this server was started with; stop the server to do that")]
    CoResident(String),
    /// A backup of one vault was named for another.
    #[error("backup '{backup}' is not a backup of vault '{vault}'; see the names with a GET of its backups")]
    ForeignBackup {
        /// The backup's name.
        backup: String,
        /// The vault it was named for.
        vault: String,
    },
    /// A backup is of an earlier vault of the same name: whoever may use this one has no right to its texts.
    #[error(
        "backup '{backup}' is of an earlier vault '{vault}', not of the one that is there now; whoever runs this \
         installation can bring it back with: undercroft backup restore NAME --force"
    )]
    EarlierBackup {
        /// The backup's name.
        backup: String,
        /// The vault's name.
        vault: String,
    },
    /// A server without a bearer was asked to listen beyond this machine.
    #[error(
        "listening on {0} lets others in, and no bearer is declared; set UNDERCROFT_MCP_HTTP_TOKEN, or listen on 127.0.0.1"
    )]
    Exposed(String),
    /// The address cannot be listened on.
    #[error("cannot listen on {address}: {source}")]
    Listen {
        /// As it was asked for.
        address: String,
        /// Why not.
        source: Arc<std::io::Error>,
    },
    /// The process has no room to start in.
    #[error("cannot start serving: {0}")]
    Start(Arc<std::io::Error>),
    /// A journal was to be created where there is one.
    #[error("there is a journal in {0}; open it, or set it aside if it is retired")]
    JournalExists(PathBuf),
    /// The journal belongs to another process.
    #[error("the journal in {0} is in use by another process; stop that one first")]
    JournalInUse(PathBuf),
    /// The journal was written by a newer version of the program.
    #[error(
        "{path} has version {version} of the journal's format; run the version of the program that wrote it"
    )]
    JournalVersion {
        /// The segment.
        path: PathBuf,
        /// Its version.
        version: u8,
    },
    /// The disk did not do what the journal needs.
    #[error("cannot {doing} {path}: {source}")]
    JournalIo {
        /// What was tried.
        doing: &'static str,
        /// With which file or folder.
        path: PathBuf,
        /// Why not.
        source: Arc<std::io::Error>,
    },
    /// The journal has as many groups as it may.
    #[error("the journal has {0} groups, as many as it may; move shards to other nodes")]
    JournalGroups(usize),
    /// Another replica leads the shard, or none does for the moment. Nothing was done.
    #[error("shard {shard} is not led by this node; ask the one that leads it")]
    NotLeader {
        /// The shard.
        shard: ShardId,
        /// Who leads it and where, as far as is known.
        leader: Option<(NodeId, String)>,
    },
    /// The vault is not in the shard that was asked.
    #[error("vault {vault} is not in shard {shard}; look up where it is")]
    NotInShard {
        /// The vault.
        vault: VaultId,
        /// The shard.
        shard: ShardId,
    },
    /// The shard has no replica here.
    #[error("shard {0} is not on this node; look up where it is")]
    ShardUnknown(ShardId),
    /// The write may be done, or be done later, or never.
    #[error(
        "it is not known whether the write to vault {0} was done; send it again under the same Idempotency-Key"
    )]
    OutcomeUnknown(VaultId),
    /// Nothing was begun, since what became of an earlier write is not known yet.
    #[error("vault {0} waits for what became of an earlier write; try again in a moment")]
    InDoubt(VaultId),
    /// Another leader's write came first. Nothing was done.
    #[error("the write to vault {0} was overtaken ({1}); send it again")]
    LostRace(VaultId, String),
    /// As many requests wait for this vault as may.
    #[error("vault {0} has as many writes waiting as are accepted; try again in a moment")]
    ShardVaultBusy(VaultId),
    /// This node's copy is out of service until it is replaced.
    #[error("this node's copy of vault {0} is out of service: {1}; ask another replica")]
    VaultSuspect(VaultId, String),
    /// This node's copy waits for its disk, or for what its commands need.
    #[error("this node's copy of vault {0} is waiting: {1}; try again when that is mended")]
    VaultStalled(VaultId, String),
    /// This node's copy has not reached what the read demands.
    #[error("this node's copy of vault {vault} is not as fresh as the read demands; ask the shard's leader")]
    Behind {
        /// The vault.
        vault: VaultId,
        /// Where the copy is.
        at: Option<Position>,
        /// Who leads the shard and where, as far as is known.
        leader: Option<(NodeId, String)>,
    },
    /// A copy has lost what it was known to hold.
    #[error("the copy of vault {vault} ends at entry {found}, and it is known to have held entry {floor}")]
    BelowFloor {
        /// The vault.
        vault: VaultId,
        /// The last entry that it holds.
        found: u64,
        /// The last one that it held.
        floor: u64,
    },
    /// A key generation cannot be had.
    #[error("the key generation for vault {0} cannot be had: {1}")]
    Generation(VaultId, String),
    /// No replica has sent a copy that can be used.
    #[error("no usable copy of vault {0} came from another replica: {1}")]
    NoCopy(VaultId, String),
    /// The members of a shard were not changed.
    #[error("the shard's members were not changed: {0}")]
    ShardMembers(String),
    /// A file or folder of the shards, or their journal, refused.
    #[error("the node's shards cannot use their disk: {0}")]
    ShardIo(String),
    /// The group runs no more on this node.
    #[error("the shard does not run on this node: {0}")]
    ShardStopped(String),
    /// The thread that did the work ended before it had an answer. Whether a change happened is not known.
    #[error("internal: the work ended without an answer; look whether it was done before you repeat it")]
    Lost,
}

/// Result of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// The class that decides the status.
    #[must_use]
    pub fn class(&self) -> ErrorClass {
        match self {
            Self::Palace(_) | Self::Vault(_) if told::lacks_room(self) || told::lacks_files(self) => {
                ErrorClass::Unavailable
            }
            Self::Palace(inner) => inner.class(),
            Self::Vault(inner) => inner.class(),
            Self::VaultBusy(_) | Self::Busy(_) | Self::Draining | Self::Listen { .. } | Self::Start(_) => {
                ErrorClass::Unavailable
            }
            Self::JournalIo { .. } | Self::JournalGroups(_) => ErrorClass::Unavailable,
            Self::JournalExists(_) | Self::JournalInUse(_) => ErrorClass::Conflict,
            Self::InUse(_) | Self::Displaced(_) | Self::CoResident(_) | Self::EarlierBackup { .. } => {
                ErrorClass::Conflict
            }
            Self::JournalVersion { .. } => ErrorClass::Invalid,
            Self::ForeignBackup { .. } | Self::Exposed(_) => ErrorClass::Invalid,
            Self::NotLeader { .. }
            | Self::OutcomeUnknown(_)
            | Self::InDoubt(_)
            | Self::LostRace(..)
            | Self::ShardVaultBusy(_)
            | Self::VaultSuspect(..)
            | Self::VaultStalled(..)
            | Self::Behind { .. }
            | Self::Generation(..)
            | Self::NoCopy(..)
            | Self::ShardIo(_)
            | Self::ShardStopped(_) => ErrorClass::Unavailable,
            Self::NotInShard { .. } | Self::ShardUnknown(_) => ErrorClass::NotFound,
            Self::ShardMembers(_) => ErrorClass::Conflict,
            Self::BelowFloor { .. } => ErrorClass::Integrity,
            Self::Lost => ErrorClass::Internal,
        }
    }

    /// What a file or folder of the journal did not do.
    pub(crate) fn journal(doing: &'static str, path: &Path, source: std::io::Error) -> Self {
        Self::JournalIo { doing, path: path.to_path_buf(), source: Arc::new(source) }
    }

    /// After how long the same request may succeed, where that can be said.
    #[must_use]
    pub fn retry_after(&self) -> Option<Duration> {
        match self.class() {
            ErrorClass::Unavailable => Some(limits::RETRY_AFTER),
            _ => None,
        }
    }
}

impl From<undercroft_palace::Error> for Error {
    fn from(error: undercroft_palace::Error) -> Self {
        match error {
            undercroft_palace::Error::Vault(inner) => inner.into(),
            other => Self::Palace(Arc::new(other)),
        }
    }
}

impl From<undercroft_vault::Error> for Error {
    fn from(error: undercroft_vault::Error) -> Self {
        Self::Vault(Arc::new(error))
    }
}
