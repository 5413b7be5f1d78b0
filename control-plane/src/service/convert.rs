//! From the state to messages, and from messages to what the state and the plan are told. Every field is judged.

use std::collections::BTreeMap;
use std::sync::Arc;

use tonic::Status;
use undercroft_proto::wire::control as wire;
use undercroft_proto::wire::{self as fields, VERSION};
use undercroft_proto::{Error, ErrorClass, Height, Incarnation, NodeId, Position, ShardId};

use crate::keys::GroupKey;
use crate::plan::{Contact, Replica};
use crate::state::{
    AssertionKeys, JobState, Level, Load, MapChange, Node, NodeState, Phase, ReadPolicy, Refusal, Report,
    Shard, Tenant, Vault,
};

/// The status of a class.
pub(super) fn status(class: ErrorClass, message: impl Into<String>) -> Status {
    let code = match class {
        ErrorClass::Invalid => tonic::Code::InvalidArgument,
        ErrorClass::NotFound => tonic::Code::NotFound,
        ErrorClass::Conflict => tonic::Code::FailedPrecondition,
        ErrorClass::Denied => tonic::Code::PermissionDenied,
        ErrorClass::Integrity => tonic::Code::DataLoss,
        ErrorClass::Unavailable => tonic::Code::Unavailable,
        ErrorClass::Internal => tonic::Code::Internal,
    };
    Status::new(code, message)
}

pub(super) fn failed(error: &crate::Error) -> Status {
    status(error.class(), error.to_string())
}

pub(super) fn refused(refusal: &Refusal) -> Status {
    status(refusal.class(), refusal.to_string())
}

pub(super) fn malformed(error: &Error) -> Status {
    status(error.class(), error.to_string())
}

/// A message of a version that this build does not know is refused: its fields may mean something else.
pub(super) fn known(version: u32) -> Result<(), Status> {
    if version == VERSION {
        return Ok(());
    }
    let what = format!(
        "messages of version {version} are not known here, only {VERSION}; upgrade the older process"
    );
    Err(Status::unimplemented(what))
}

fn wrong(message: &'static str, field: &'static str, problem: impl Into<String>) -> Error {
    Error::Message { message, field, problem: problem.into() }
}

/// Who is told of the map.
#[derive(Clone)]
pub(super) struct Told {
    /// Whether it may know of tenants, and how they are recognised.
    pub(super) tenants: bool,
    /// Opens the keys that it is given.
    pub(super) key: Arc<GroupKey>,
}

/// One change of the map, as somebody is told of it.
pub(super) fn change(change: &MapChange, told: &Told) -> Option<wire::MapChange> {
    use wire::map_change::Change;
    let tenants = told.tenants;
    let change = match change {
        MapChange::Keys(found) => Change::Keys(keys(found, told)),
        MapChange::Node(found) => Change::Node(node(found)),
        MapChange::NodeGone(id) => Change::NodeGone(id.get()),
        MapChange::Shard(found) => Change::Shard(shard(found)),
        MapChange::Vault(found) => Change::Vault(vault(found)),
        MapChange::VaultGone(id) => Change::VaultGone(fields::vault_bytes(*id)),
        MapChange::Tenant(found) if tenants => Change::Tenant(tenant(found)),
        MapChange::TenantGone(id) if tenants => Change::TenantGone(id.as_u64()),
        MapChange::Tenant(_) | MapChange::TenantGone(_) => return None,
    };
    Some(wire::MapChange { change: Some(change), version: VERSION })
}

fn keys(keys: &AssertionKeys, told: &Told) -> wire::Keys {
    let opened = keys.newest_first().filter_map(|sealed| {
        let key = told.key.open(&sealed.sealed);
        if key.is_none() {
            tracing::error!(key = sealed.id, "a key of assertions does not open under this member's key");
        }
        Some(wire::AssertionKey { version: VERSION, id: sealed.id, key: key?.to_vec() })
    });
    let token = if told.tenants { told.key.token_key_bytes().to_vec() } else { Vec::new() };
    wire::Keys { version: VERSION, assertion: opened.collect(), token }
}

fn node(node: &Node) -> wire::Node {
    let state = match node.state() {
        NodeState::Joining => 1,
        NodeState::Live => 2,
        NodeState::Drained => 3,
        NodeState::Dead => 4,
    };
    let (name, address) = (node.name.clone(), node.address.clone());
    let zone = node.zone.clone().unwrap_or_default();
    wire::Node { node: node.id.get(), name, address, zone, state, version: VERSION }
}

fn shard(shard: &Shard) -> wire::Shard {
    let numbers = |nodes: &[NodeId]| nodes.iter().map(|node| node.get()).collect::<Vec<_>>();
    let mut learners = numbers(&shard.learners);
    let mut wanted_voters = Vec::new();
    if let Some(change) = &shard.change {
        match change.phase {
            // Who copies is a learner of the shard, whether it will vote or not.
            Phase::Copying => learners.extend(change.add.map(NodeId::get)),
            Phase::Switching => wanted_voters = numbers(&shard.wanted()),
        }
    }
    wire::Shard {
        shard: shard.id.get(),
        voters: numbers(&shard.voters),
        learners,
        leader: shard.leader.map_or(0, |leader| leader.node.get()),
        term: shard.leader.map_or(0, |leader| leader.term),
        preferred: shard.preferred.map_or(0, NodeId::get),
        wanted_voters,
        version: VERSION,
    }
}

fn vault(vault: &Vault) -> wire::Vault {
    let newest = vault.generations.last();
    wire::Vault {
        vault: fields::vault_bytes(vault.id),
        shard: vault.shard.get(),
        epoch: vault.epoch.get(),
        incarnation: vault.incarnation.get(),
        level: match vault.level {
            Level::Sealed => 1,
            Level::HmacOnly => 2,
        },
        moving_to: vault.moving.map_or(0, |moving| moving.to.get()),
        generation: newest.map_or(0, |newest| newest.number),
        sealed_generation: newest.map_or(Vec::new(), |newest| newest.sealed.to_vec()),
        version: VERSION,
    }
}

fn tenant(tenant: &Tenant) -> wire::Tenant {
    let (read_policy, lag_ms_max) = match tenant.read {
        ReadPolicy::Strong => (1, 0),
        ReadPolicy::Session => (2, 0),
        ReadPolicy::Eventual { lag_ms } => (3, lag_ms.into()),
    };
    wire::Tenant {
        tenant: tenant.id.as_u64(),
        token_mac: tenant.token.map_or(Vec::new(), |token| token.as_bytes().to_vec()),
        vault: fields::vault_bytes(tenant.vault),
        requests_per_minute: tenant.limits.requests_per_minute.unwrap_or(0),
        bytes_max: tenant.limits.bytes.unwrap_or(0),
        drawers_max: tenant.limits.drawers.unwrap_or(0),
        read_policy,
        lag_ms_max,
        version: VERSION,
    }
}

/// What a heartbeat says, heard at `at`.
pub(super) fn contact(heartbeat: &wire::HeartbeatRequest, at: u64) -> Result<Contact, Error> {
    let load = heartbeat.load.ok_or_else(|| wrong("HeartbeatRequest", "load", "is missing"))?;
    if heartbeat.shards.len() > crate::limits::SHARDS as usize {
        return Err(wrong("HeartbeatRequest", "shards", "has more entries than a fleet has shards"));
    }
    let replicas = heartbeat.shards.iter().map(|report| (ShardId::new(report.shard), replica(report)));
    let load = Load {
        used_bytes: load.used_bytes,
        open_vaults: load.open_vaults,
        requests_per_second: load.requests_per_second,
    };
    let map_version = heartbeat.map_version;
    Ok(Contact { at, load, replicas: replicas.collect(), map_version })
}

fn replica(report: &wire::ShardReport) -> Replica {
    let mut voters: Vec<NodeId> = report.voters.iter().copied().map(NodeId::new).collect();
    voters.sort_unstable();
    voters.dedup();
    let matched = report.matched.iter().map(|matched| (NodeId::new(matched.node), matched.index));
    Replica {
        term: report.term,
        leader: (report.leader > 0).then(|| NodeId::new(report.leader)),
        committed: report.committed,
        voters,
        settled: report.settled,
        matched: matched.collect::<BTreeMap<_, _>>(),
    }
}

/// What a router is kept under: its certificate, or what it calls itself where there are none.
pub(super) fn router(name: &str, certificate: Option<String>) -> Result<String, Error> {
    let named = (1..=crate::limits::NAME_BYTES).contains(&name.len());
    if named || certificate.is_some() {
        return Ok(certificate.unwrap_or_else(|| name.to_owned()));
    }
    Err(wrong(
        "MapReport",
        "router",
        format!("has {} bytes; from 1 to {}", name.len(), crate::limits::NAME_BYTES),
    ))
}

/// One witness as it is reported.
pub(super) fn report(witness: &wire::Witness) -> Result<Report, Error> {
    const NAME: &str = "Witness";
    Ok(Report {
        vault: fields::vault_from(NAME, "vault", &witness.vault)?,
        position: Position {
            incarnation: Incarnation::new(witness.incarnation),
            height: Height::new(witness.height),
        },
        digest: fields::bytes32(NAME, "digest", &witness.digest)?,
        head: fields::bytes32(NAME, "head", &witness.head)?,
        log_id: (witness.log_term, witness.log_index),
    })
}

/// How a node says that a step stands.
pub(super) fn job_state(number: u32) -> Result<JobState, Error> {
    match number {
        1 => Ok(JobState::Running),
        2 => Ok(JobState::Done),
        3 => Ok(JobState::Failed),
        other => Err(wrong("JobStepReport", "state", format!("is {other}; 1 running, 2 done, 3 failed"))),
    }
}

#[cfg(test)]
#[path = "convert_test.rs"]
mod convert_test;
