//! One member of the control group: its folder, its Raft, and how it is asked.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use openraft::async_runtime::WatchReceiver;
use openraft::error::{ClientWriteError, RaftError};
use openraft::{BasicNode, ChangeMembers, Config, SnapshotPolicy};
use undercroft_certs::grpc::Access;
use undercroft_proto::MemberId;

use super::identity::{self, Identity};
use super::log::LogHeld;
use super::notices::Notices;
use super::types::{Proposal, Raft, Types};
use super::{Disk, GroupId, LogStore, Machine, Network, RaftService, RealDisk, SharedMap, folder};
use crate::keys::KeyCheck;
use crate::state::{Batch, Outcome};
use crate::{Error, limits};

/// How fast a group notices that its leader is gone.
#[derive(Debug, Clone, Copy)]
pub struct Timing {
    /// Between two heartbeats.
    pub heartbeat: Duration,
    /// Shortest silence after which a member stands for election; the longest is twice that.
    pub election: Duration,
}

impl Default for Timing {
    /// A new leader within a second and a half: members wait for the lease of the old one, which is as long as the longest
    /// election, and then for their own.
    fn default() -> Self {
        Self { heartbeat: Duration::from_millis(100), election: Duration::from_millis(350) }
    }
}

/// What a member is started with.
pub struct MemberConfig {
    /// Its folder.
    pub folder: PathBuf,
    /// Its id.
    pub id: MemberId,
    /// The group that a new member begins in. One that ran before is of the group that its folder says.
    pub group: GroupId,
    /// How it reaches others.
    pub network: Network,
    /// How fast the group notices.
    pub timing: Timing,
    /// Entries after which a snapshot is taken; [`limits::SNAPSHOT_ENTRIES`] but in tests.
    pub snapshot_entries: u64,
    /// Tells the group's key from any other. A folder is of the key that it was begun under.
    pub key_check: KeyCheck,
    /// Where it writes; the disk of this machine but in tests.
    pub disk: Arc<dyn Disk>,
}

impl MemberConfig {
    /// A member without encryption, with the defaults.
    #[must_use]
    pub fn plain(folder: PathBuf, id: MemberId) -> Self {
        let snapshot_entries = limits::SNAPSHOT_ENTRIES;
        let (network, timing, key_check) = (Network::plain(id), Timing::default(), KeyCheck::default());
        let group = GroupId::default();
        Self { folder, id, group, network, timing, snapshot_entries, key_check, disk: Arc::new(RealDisk) }
    }

    fn raft(&self) -> Result<Config, Error> {
        let (heartbeat, election) =
            (self.timing.heartbeat.as_millis() as u64, self.timing.election.as_millis() as u64);
        let config = Config {
            cluster_name: "undercroft-control".into(),
            heartbeat_interval: heartbeat,
            election_timeout_min: election,
            election_timeout_max: election * 2,
            install_snapshot_timeout: 60_000,
            max_payload_entries: limits::MESSAGE_ENTRIES,
            snapshot_policy: SnapshotPolicy::LogsSinceLast(self.snapshot_entries),
            max_in_snapshot_log_to_keep: limits::KEPT_ENTRIES.min(self.snapshot_entries),
            // A member that comes back from a partition asks first, and disturbs no leader that others hear.
            enable_pre_vote: Some(true),
            // At least the leader's lease and the longest election, both of which are at most `election_timeout_max`.
            quorum_loss_probe_interval: Some(election * 4),
            // A leader that comes back asks for votes, in a new term. What it sent before it was on its own disk would otherwise
            // get its log ids a second time, for other entries.
            enable_leader_restore: Some(false),
            ..Config::default()
        };
        config.validate().map_err(|error| Error::Stopped(error.to_string()))
    }
}

/// A running member.
pub struct Member {
    pub(super) id: MemberId,
    group: GroupId,
    pub(super) raft: Raft,
    pub(super) map: SharedMap,
    access: Access,
    log: LogHeld,
    pub(super) notices: Notices,
}

impl Member {
    /// Begins a new member in an empty folder.
    ///
    /// # Errors
    /// [`Error::LogExists`], [`Error::Io`].
    pub async fn create(config: MemberConfig) -> Result<Self, Error> {
        folder::make(&config.folder).map_err(|error| Error::io("create", &config.folder, error))?;
        let log = LogStore::create(&config.folder.join("log"), config.id, config.disk.clone())?;
        Identity::new(config.id, config.key_check, config.group).write(&config.folder, &*config.disk)?;
        Self::start(config, log).await
    }

    /// Starts a member that ran before.
    ///
    /// # Errors
    /// [`Error::OtherKey`] for another key of the group than it was begun under.
    /// [`Error::LogMissing`], [`Error::LogDamaged`] and [`Error::SnapshotDamaged`]: this member must come back under a new
    /// id. [`Error::Io`].
    pub async fn open(mut config: MemberConfig) -> Result<Self, Error> {
        let path = identity::path(&config.folder);
        let Some(identity) = Identity::read(&config.folder)? else {
            return Err(Error::io("read", &path, io::ErrorKind::NotFound.into()));
        };
        if identity.member != config.id {
            let problem = format!("it is of member {}", identity.member);
            return Err(Error::LogDamaged { file: path, at: 0, problem });
        }
        if identity.key != config.key_check {
            return Err(Error::OtherKey(config.folder));
        }
        config.group = identity.group;
        let log = LogStore::open(&config.folder.join("log"), config.id, config.disk.clone())?;
        Self::start(config, log).await
    }

    async fn start(config: MemberConfig, log: LogStore) -> Result<Self, Error> {
        let machine = Machine::open(&config.folder.join("snapshots"), config.disk.clone())?;
        let map = machine.map();
        let raft_config = Arc::new(config.raft()?);
        let (access, held, group) = (config.network.access(), log.held(), config.group);
        let network = config.network.of(group);
        let notices = network.notices();
        let raft = Raft::new(config.id.get(), raft_config, network, log, machine).await;
        Ok(Self { id: config.id, group, raft: raft.map_err(stopped)?, map, access, log: held, notices })
    }

    /// Its id.
    #[must_use]
    pub const fn id(&self) -> MemberId {
        self.id
    }

    /// The state, to read and to watch. It may be behind the leader's.
    #[must_use]
    pub const fn map(&self) -> &SharedMap {
        &self.map
    }

    /// The group that it is of.
    #[must_use]
    pub const fn group_id(&self) -> GroupId {
        self.group
    }

    /// The member that a folder belongs to; `None` for a folder without one.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::LogDamaged`] for another version of the layout.
    pub fn identity(folder: &Path) -> Result<Option<MemberId>, Error> {
        Ok(Identity::read(folder)?.map(|identity| identity.member))
    }

    /// Waits until an entry is applied here, and for [`limits::FOLLOW`] at most. Whether it is.
    pub async fn follow(&self, index: u64) -> bool {
        let wait = self.raft.wait(Some(limits::FOLLOW));
        wait.applied_index_at_least(Some(index), "what was decided").await.is_ok()
    }

    /// Makes a member known to the group under another address.
    ///
    /// # Errors
    /// [`Error::NotLeader`], [`Error::Membership`], [`Error::Stopped`].
    pub async fn set_address(&self, member: MemberId, address: &str) -> Result<(), Error> {
        let moved = BTreeMap::from([(member.get(), BasicNode::new(address))]);
        let changed = self.raft.change_membership(ChangeMembers::SetNodes(moved), true).await;
        changed.map(|_| ()).map_err(refused)
    }

    /// The library's handle, for metrics and waiting.
    #[must_use]
    pub const fn raft(&self) -> &Raft {
        &self.raft
    }

    /// The service by which others reach it; with certificates, only members may call it.
    #[must_use]
    pub fn service(&self) -> RaftService {
        RaftService::new((self.id, self.group), self.raft.clone(), self.access, self.map.clone())
    }

    /// Founds the group: these members, with their addresses, and nobody else. On one of them, once.
    ///
    /// # Errors
    /// [`Error::Membership`] when it was founded, [`Error::Stopped`].
    pub async fn found(&self, members: BTreeMap<MemberId, String>) -> Result<(), Error> {
        let nodes: BTreeMap<u64, BasicNode> =
            members.into_iter().map(|(id, address)| (id.get(), BasicNode::new(address))).collect();
        self.raft.initialize(nodes).await.map_err(|error| match error {
            RaftError::APIError(error) => Error::Membership(error.to_string()),
            RaftError::Fatal(error) => stopped(error),
        })
    }

    /// Decides a batch. Answers when a majority has it on disk and it was applied here.
    ///
    /// Asks again for as long as there is no leader, up to [`limits::WRITE`]: right after an election the library answers
    /// that it knows of none.
    ///
    /// # Errors
    /// [`Error::Removed`], [`Error::NotLeader`] with the leader, [`Error::OutcomeUnknown`] when it may or may not be done,
    /// [`Error::BatchTooLarge`], [`Error::Stopped`].
    pub async fn propose(&self, batch: &Batch) -> Result<Vec<Outcome>, Error> {
        if self.removed() {
            return Err(Error::Removed);
        }
        let proposal = Proposal::new(batch)?;
        let write = async {
            loop {
                match self.raft.client_write(proposal.clone()).await {
                    Ok(written) => return Ok(written.data.0),
                    Err(error) => match refused(error) {
                        // Nothing was proposed, so nothing is done twice.
                        Error::NotLeader { leader: None } => {
                            tokio::time::sleep(Duration::from_millis(20)).await
                        }
                        other => return Err(other),
                    },
                }
            }
        };
        let unknown = Error::OutcomeUnknown(limits::WRITE.as_millis() as u64);
        tokio::time::timeout(limits::WRITE, write).await.unwrap_or(Err(unknown))
    }

    /// Waits until this member's state has everything that was decided before the call. Only the leader can say so.
    ///
    /// # Errors
    /// [`Error::NotLeader`].
    pub async fn catch_up(&self) -> Result<(), Error> {
        let read = self.raft.ensure_linearizable(openraft::ReadPolicy::ReadIndex).await;
        read.map(|_| ()).map_err(|error| match error {
            RaftError::APIError(_) => Error::NotLeader { leader: None },
            RaftError::Fatal(error) => stopped(error),
        })
    }

    /// Adds a member that only copies. It may vote when its matched index says that it has caught up: this call's return
    /// does not.
    ///
    /// # Errors
    /// [`Error::NotLeader`], [`Error::Membership`], [`Error::Stopped`].
    pub async fn add_learner(&self, member: MemberId, address: &str) -> Result<(), Error> {
        let added = self.raft.add_learner(member.get(), BasicNode::new(address), false).await;
        added.map(|_| ()).map_err(refused)
    }

    /// How far this leader knows a member to be: its matched index, and the last index here.
    #[must_use]
    pub fn matched(&self, member: MemberId) -> Option<(u64, u64)> {
        let metrics = self.raft.metrics();
        let metrics = metrics.borrow_watched();
        let matched = metrics.replication.as_ref()?.get(&member.get())?.as_ref()?.index;
        Some((matched, metrics.last_log_index?))
    }

    /// Makes exactly these members the voters, and forgets others.
    ///
    /// # Errors
    /// [`Error::NotLeader`], [`Error::Membership`] for one that was not added or while another change is under way.
    pub async fn set_voters(&self, voters: impl IntoIterator<Item = MemberId>) -> Result<(), Error> {
        let voters = voters.into_iter().map(MemberId::get).collect();
        let changed = self.raft.change_membership(ChangeMembers::ReplaceAllVoters(voters), false).await;
        changed.map(|_| ()).map_err(refused)
    }

    /// Takes a member that only copies out of the group.
    ///
    /// # Errors
    /// [`Error::NotLeader`], [`Error::Membership`], [`Error::Stopped`].
    pub async fn forget(&self, member: MemberId) -> Result<(), Error> {
        let gone = BTreeSet::from([member.get()]);
        let changed = self.raft.change_membership(ChangeMembers::RemoveNodes(gone), false).await;
        changed.map(|_| ()).map_err(refused)
    }

    /// Hands leadership to another voter.
    ///
    /// # Errors
    /// [`Error::Stopped`].
    pub async fn hand_over(&self, to: MemberId) -> Result<(), Error> {
        self.raft.trigger().transfer_leader(to.get()).await.map_err(stopped)
    }

    /// Stops. What was acknowledged is on disk already, and the folder is free for whoever starts it again.
    pub async fn stop(&self) {
        // It fails when the task has ended already, which is what is wanted.
        let _ = self.raft.shutdown().await;
        let freed = async {
            // The library's last tasks end by themselves, a moment after.
            while self.log.is_held() {
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
        };
        if tokio::time::timeout(limits::LET_GO, freed).await.is_err() {
            tracing::warn!(member = %self.id, "the log is still held after the member has stopped");
        }
    }
}

fn stopped(error: impl std::fmt::Display) -> Error {
    Error::Stopped(error.to_string())
}

fn refused(error: RaftError<Types, ClientWriteError<Types>>) -> Error {
    match error {
        RaftError::APIError(ClientWriteError::ForwardToLeader(to)) => {
            let address = to.leader_node.map(|node| node.addr);
            Error::NotLeader { leader: to.leader_id.map(MemberId::new).zip(address) }
        }
        RaftError::APIError(ClientWriteError::ChangeMembershipError(error)) => {
            Error::Membership(error.to_string())
        }
        RaftError::APIError(other) => Error::Stopped(other.to_string()),
        RaftError::Fatal(error) => stopped(error),
    }
}
