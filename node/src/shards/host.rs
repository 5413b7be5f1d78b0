//! The shards of a node: its journal, its groups by shard, its data folder. Owns their beginning and end, and brings messages of
//! other nodes to the group that is meant.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use parking_lot::Mutex;
use undercroft_proto::{ShardId, VaultId};
use undercroft_vault::replica::{self, DropVault, State};

use super::group::{Group, nobody};
use super::healing::aside;
use super::network::{self, Message};
use super::settings::{HostConfig, Shared};
use crate::journal::{self, Journal, JournalId, Recovered, Retired, SystemDisk};
use crate::{Error, Result};

/// The shards of a node.
pub struct ShardHost {
    shared: Arc<Shared>,
    journal: Journal,
    groups: Mutex<BTreeMap<ShardId, Arc<Group>>>,
}

/// What opening a node's shards found.
#[must_use]
pub enum Opened {
    /// Everything that was acknowledged is there, and its groups run.
    Ready(ShardHost),
    /// Acknowledged entries may be gone: the node comes back under another id, as a learner.
    Retired(Retired),
}

impl ShardHost {
    /// Begins the shards of a node that had none. `journal` is drawn at random.
    ///
    /// # Errors
    /// [`Error::JournalExists`]; what the file system refuses.
    pub fn create(config: HostConfig, journal: JournalId) -> Result<Self> {
        let shared = prepare(config)?;
        let folder = shared.folder.join("journal");
        let journal = Journal::create(Arc::new(SystemDisk), &folder, journal, shared.sizes)?;
        Ok(Self::over(shared, journal))
    }

    /// Opens the shards that a node had when it ran before, and starts their groups.
    ///
    /// # Errors
    /// [`Error::JournalInUse`], [`Error::JournalVersion`]; what the file system refuses.
    pub async fn open(config: HostConfig) -> Result<Opened> {
        let shared = prepare(config)?;
        let folder = shared.folder.join("journal");
        let sizes = shared.sizes;
        let opened = aside(move || Journal::open(Arc::new(SystemDisk), &folder, sizes)).await?;
        let journal = match opened {
            Recovered::Ready(journal) => journal,
            Recovered::Retired(retired) => return Ok(Opened::Retired(retired)),
        };
        let known = journal.groups();
        let host = Self::over(shared, journal);
        for group in known {
            let shard =
                u32::try_from(group.get()).map_err(|_| Error::ShardUnknown(ShardId::new(u32::MAX)))?;
            host.add(ShardId::new(shard)).await?;
        }
        Ok(Opened::Ready(host))
    }

    fn over(shared: Arc<Shared>, journal: Journal) -> Self {
        shared.journal.get_or_init(|| journal.clone());
        Self { shared, journal, groups: Mutex::default() }
    }

    /// Starts a group on this node: an empty one waits to be founded, or for a leader that adds it.
    ///
    /// # Errors
    /// [`Error::JournalGroups`], [`Error::ShardStopped`].
    pub async fn add(&self, shard: ShardId) -> Result<Arc<Group>> {
        if let Some(group) = self.group(shard) {
            return Ok(group);
        }
        let log = self.journal.group(journal::Group::new(shard.get().into()))?;
        let group = Group::start(shard, Arc::clone(&self.shared), log).await?;
        self.groups.lock().insert(shard, Arc::clone(&group));
        Ok(group)
    }

    /// Takes a group off this node with all it has. Its members must have let go of this node before.
    ///
    /// # Errors
    /// [`Error::ShardUnknown`]; what the file system refuses.
    pub async fn remove(&self, shard: ShardId) -> Result<()> {
        let group = self.groups.lock().remove(&shard).ok_or(Error::ShardUnknown(shard))?;
        group.stop().await;
        let replica = Arc::clone(group.replica());
        let failed = |error: io::Error| Error::ShardIo(error.to_string());
        replica.log.remove().await.map_err(failed)?;
        for slot in replica.slots() {
            let shared = Arc::clone(&self.shared);
            let nowhere = replica::LogId { shard: shard.get(), term: u64::MAX, index: u64::MAX };
            let gone = DropVault { epoch: u64::MAX };
            aside(move || {
                slot.close();
                Ok(replica::drop_vault(&gone, &slot.dir, &shared.master, &shared.options, nowhere)?)
            })
            .await?;
        }
        Ok(())
    }

    /// The group of a shard.
    #[must_use]
    pub fn group(&self, shard: ShardId) -> Option<Arc<Group>> {
        self.groups.lock().get(&shard).cloned()
    }

    /// The groups of this node.
    #[must_use]
    pub fn groups(&self) -> Vec<Arc<Group>> {
        self.groups.lock().values().cloned().collect()
    }

    /// The journal's figures.
    #[must_use]
    pub fn journal(&self) -> journal::Status {
        self.journal.status()
    }

    /// Takes a message of another node. Whether that one may send it is decided before.
    ///
    /// # Errors
    /// `NotConnected` for a shard or a node that is not here; `InvalidData` for what cannot be read.
    pub async fn deliver(&self, message: Message) -> io::Result<Bytes> {
        // Another life of the node must not answer in the name of the one before it.
        let group = self.group(message.shard).filter(|_| message.to == self.shared.node);
        let group = group.ok_or_else(|| nobody(message.shard))?;
        let (answer, committed) = network::deliver(group.raft(), message.call, &message.payload).await?;
        if let Some(committed) = committed {
            group.replica().note_committed(committed);
        }
        Ok(answer)
    }

    /// Writes a copy of a vault into a folder that does not exist, for another replica, while writes go on.
    ///
    /// # Errors
    /// [`Error::ShardUnknown`], [`Error::NotInShard`], [`Error::VaultSuspect`]; what the file system refuses.
    pub async fn provide(&self, shard: ShardId, vault: VaultId, into: &Path) -> Result<State> {
        let group = self.group(shard).ok_or(Error::ShardUnknown(shard))?;
        let slot = group.replica().slot(vault).ok_or(Error::NotInShard { vault, shard })?;
        let refusal = {
            let state = slot.state();
            let refusal = state.refusal(vault).filter(|_| state.health.is_out());
            refusal.or((!state.present).then_some(Error::NotInShard { vault, shard }))
        };
        if let Some(refusal) = refusal {
            return Err(refusal);
        }
        let (into, shared) = (into.to_path_buf(), Arc::clone(&self.shared));
        let noted = Arc::clone(&slot);
        let copied = aside(move || Ok(replica::copy_to(&*slot.open(&shared)?, &into)?)).await;
        copied.inspect_err(|error| group.note(&noted, error))
    }

    /// Stops all groups. What was acknowledged is on disk already.
    pub async fn stop(&self) {
        let groups = std::mem::take(&mut *self.groups.lock());
        for group in groups.values() {
            group.stop().await;
        }
    }
}

/// Makes the folders, and removes what a crash has left in them.
fn prepare(config: HostConfig) -> Result<Arc<Shared>> {
    let shared = Arc::new(Shared::new(config));
    let failed = |error: io::Error| Error::ShardIo(error.to_string());
    let incoming = shared.folder.join("incoming");
    match std::fs::remove_dir_all(&incoming) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(failed(error)),
        _ => {}
    }
    for folder in [shared.vaults(), incoming, shared.folder.join("staged"), shared.evidence()] {
        std::fs::create_dir_all(folder).map_err(failed)?;
    }
    replica::sweep(&shared.vaults())?;
    Ok(shared)
}
