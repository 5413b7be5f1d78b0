//! The cluster itself: its identity, how many replicas a shard has, the members of the control group, its credentials.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use undercroft_proto::{MemberId, ShardId};

use super::context::Context;
use super::{Noun, Outcome, Refusal, State, Subject, check};
use crate::limits;

/// What is decided once, and what follows from it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settings {
    /// Sixteen random bytes that tell this cluster from every other.
    pub id: [u8; 16],
    /// Mixed into tenant ids.
    pub salt: u64,
    /// Voters of each shard.
    pub replicas: u8,
    /// How long a vault's witnesses are kept, one a day, besides the newest.
    pub witness_days: u16,
}

/// A member of the control group.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Member {
    /// Its id. A member whose log was lost comes back under a new one.
    pub id: MemberId,
    /// Where others reach it: host:port.
    pub address: String,
    /// The newest version of commands that it knows.
    pub speaks: u32,
    /// The URI in its certificate; `None` where connections are plain. It speaks under no other one.
    pub certificate: Option<String>,
}

/// A key or secret of the cluster, sealed to the roles that may open it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Credential {
    /// Counts up with each replacement.
    pub version: u64,
    /// The sealed bytes. Nothing in the control plane opens them.
    pub sealed: Box<[u8]>,
}

/// A decision about the cluster.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum ClusterCommand {
    /// Founds the cluster, with this many shards. Once.
    Initialise {
        /// Its settings.
        settings: Settings,
        /// Number of shards, fixed for good.
        shards: u32,
    },
    /// Makes a member known, or known under a new address or version.
    AddMember(Member),
    /// Forgets a member; its id is never used again.
    RemoveMember {
        /// The member.
        member: MemberId,
    },
    /// Replaces how long witnesses are kept.
    WitnessDays {
        /// Days, at least one.
        days: u16,
    },
    /// Keeps a credential, in place of the one of the same name.
    PutCredential {
        /// Its name, for example `assertion/1`.
        name: String,
        /// The sealed bytes.
        sealed: Box<[u8]>,
    },
    /// Forgets a credential.
    DropCredential {
        /// Its name.
        name: String,
    },
}

/// Members and credentials.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Cluster {
    pub(super) settings: Option<Settings>,
    pub(super) members: BTreeMap<MemberId, Member>,
    pub(super) highest_member: Option<MemberId>,
    pub(super) credentials: BTreeMap<String, Credential>,
}

impl Cluster {
    /// What was decided when the cluster was founded; `None` before.
    #[must_use]
    pub const fn settings(&self) -> Option<&Settings> {
        self.settings.as_ref()
    }

    /// The members, by id.
    pub fn members(&self) -> impl Iterator<Item = &Member> {
        self.members.values()
    }

    /// The member of this id.
    #[must_use]
    pub fn member(&self, member: MemberId) -> Option<&Member> {
        self.members.get(&member)
    }

    /// The id for the next member: above all that ever were.
    #[must_use]
    pub fn next_member(&self) -> MemberId {
        self.highest_member.map_or(MemberId::FIRST, MemberId::next)
    }

    /// Whether a member was known once and is not any more. Its id never comes back.
    #[must_use]
    pub fn was_removed(&self, member: MemberId) -> bool {
        member < self.next_member() && !self.members.contains_key(&member)
    }

    /// The credentials, by name.
    pub fn credentials(&self) -> impl Iterator<Item = (&str, &Credential)> {
        self.credentials.iter().map(|(name, credential)| (name.as_str(), credential))
    }

    /// The version that every member speaks: nothing newer is decided.
    #[must_use]
    pub fn format(&self) -> u32 {
        self.members.values().map(|member| member.speaks).min().unwrap_or(1)
    }
}

pub(super) fn apply(
    state: &mut State,
    cx: &mut Context,
    command: &ClusterCommand,
) -> Result<Outcome, Refusal> {
    match command {
        ClusterCommand::Initialise { settings, shards } => initialise(state, cx, settings, *shards),
        ClusterCommand::AddMember(member) => add_member(state, cx, member),
        ClusterCommand::RemoveMember { member } => {
            let gone = state.cluster.members.remove(member);
            gone.ok_or_else(|| Refusal::no_such(Noun::Member, member))?;
            cx.decide(Subject::Member(*member), "removed", "an operator asked");
            Ok(Outcome::Member(*member))
        }
        ClusterCommand::WitnessDays { days } => {
            let settings = state.cluster.settings.as_mut().ok_or(Refusal::NotInitialised)?;
            if *days == 0 {
                return Err(Refusal::field("days", "must be at least 1: the newest of each day is kept"));
            }
            settings.witness_days = *days;
            cx.decide(Subject::Cluster, &format!("witnesses kept for {days} days"), "an operator asked");
            Ok(Outcome::Done)
        }
        ClusterCommand::PutCredential { name, sealed } => {
            check::name("name", name)?;
            check::sealed("sealed", sealed)?;
            let known = &mut state.cluster.credentials;
            let version = known.get(name).map_or(0, |credential| credential.version);
            if version == 0 && known.len() >= limits::CREDENTIALS {
                return Err(Refusal::Full { what: Noun::Credential, most: limits::CREDENTIALS as u64 });
            }
            known.insert(name.clone(), Credential { version: version + 1, sealed: sealed.clone() });
            Ok(Outcome::Done)
        }
        ClusterCommand::DropCredential { name } => {
            let gone = state.cluster.credentials.remove(name);
            gone.map(|_| Outcome::Done).ok_or_else(|| Refusal::no_such(Noun::Credential, name))
        }
    }
}

fn initialise(
    state: &mut State,
    cx: &mut Context,
    settings: &Settings,
    shards: u32,
) -> Result<Outcome, Refusal> {
    if state.cluster.settings.is_some() {
        return Err(Refusal::Initialised);
    }
    if !(1..=limits::SHARDS).contains(&shards) {
        return Err(Refusal::field("shards", format!("is {shards}; from 1 to {}", limits::SHARDS)));
    }
    if settings.replicas.is_multiple_of(2) || settings.replicas > limits::REPLICAS {
        let problem = format!("is {}; an odd number up to {}", settings.replicas, limits::REPLICAS);
        return Err(Refusal::field("replicas", problem));
    }
    if settings.witness_days == 0 {
        return Err(Refusal::field("witness_days", "must be at least 1"));
    }
    state.cluster.settings = Some(settings.clone());
    for number in 1..=shards {
        state.shards.found(ShardId::new(number));
        cx.touch_shard(ShardId::new(number));
    }
    cx.decide(Subject::Cluster, &format!("founded with {shards} shards"), "an operator asked");
    Ok(Outcome::Done)
}

fn add_member(state: &mut State, cx: &mut Context, member: &Member) -> Result<Outcome, Refusal> {
    check::address(&member.address)?;
    let cluster = &mut state.cluster;
    if member.speaks < cluster.format() {
        return Err(Refusal::TooOld { speaks: member.speaks, format: cluster.format() });
    }
    let known = cluster.members.get(&member.id).map(|known| known.certificate.clone());
    let certificate = known.clone().flatten();
    check::bound(Noun::Member, member.id, certificate.as_deref(), member.certificate.as_deref())?;
    // A certificate that two members had would let one speak for the other.
    if let Some(shown) = &member.certificate
        && let Some(other) = cluster
            .members
            .values()
            .find(|other| other.id != member.id && other.certificate.as_ref() == Some(shown))
    {
        let holds = format!("the certificate {shown}");
        let remedy = "issue another one under a name of its own: undercroft cluster certs".to_owned();
        return Err(Refusal::InUse { what: Noun::Member, id: other.id.to_string(), holds, remedy });
    }
    // An id above all others is new; one below that nobody has was removed, and stays so.
    if known.is_none() && cluster.highest_member.is_some_and(|highest| member.id <= highest) {
        let now = "it was removed; a member comes back under a new id".to_owned();
        return Err(Refusal::Stale { what: Noun::Member, id: member.id.to_string(), now });
    }
    cluster.highest_member = cluster.highest_member.max(Some(member.id));
    if known.is_none() {
        cx.decide(Subject::Member(member.id), "added", "it joined the control group");
    }
    let certificate = member.certificate.clone().or(certificate);
    cluster.members.insert(member.id, Member { certificate, ..member.clone() });
    Ok(Outcome::Member(member.id))
}
