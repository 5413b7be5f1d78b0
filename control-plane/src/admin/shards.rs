//! Shards and their replicas, and which vault is in which.

use axum::Json;
use axum::extract::{Path, State};
use serde::{Deserialize, Serialize};
use undercroft_proto::{NodeId, ShardId, VaultId};

use super::app::App;
use super::asked::{Asked, Asking, Page};
use super::errors::{Answer, Refused};
use crate::state::{self, Command, Level, Phase, ShardCommand};

#[derive(Serialize)]
pub(super) struct Shards {
    shards: Vec<Shard>,
}

#[derive(Serialize)]
pub(super) struct Shard {
    id: u32,
    voters: Vec<NodeId>,
    learners: Vec<NodeId>,
    leader: Option<NodeId>,
    term: Option<u64>,
    preferred: Option<NodeId>,
    vaults: u64,
    change: Option<Change>,
}

#[derive(Serialize)]
struct Change {
    id: u64,
    add: Option<NodeId>,
    remove: Option<NodeId>,
    phase: &'static str,
    /// Seconds since 1970.
    since: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Learner {
    node: NodeId,
    #[serde(default = "yes")]
    present: bool,
}

const fn yes() -> bool {
    true
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Lead {
    /// A voter of the shard; null lets anybody lead.
    node: Option<NodeId>,
}

#[derive(Serialize)]
pub(super) struct Placements {
    placements: Vec<Placement>,
    /// Give this as `after` for what follows; null at the end.
    next: Option<VaultId>,
}

#[derive(Serialize)]
struct Placement {
    vault: VaultId,
    tenant: undercroft_proto::TenantId,
    shard: u32,
    epoch: u64,
    incarnation: u64,
    level: Level,
    moving_to: Option<u32>,
}

fn shown(state: &state::State, shard: &state::Shard) -> Shard {
    let change = shard.change.as_ref().map(|change| Change {
        id: change.id,
        add: change.add,
        remove: change.remove,
        phase: match change.phase {
            Phase::Copying => "copying",
            Phase::Switching => "switching",
        },
        since: change.since / 1000,
    });
    Shard {
        id: shard.id.get(),
        voters: shard.voters.clone(),
        learners: shard.learners.clone(),
        leader: shard.leader.map(|leader| leader.node),
        term: shard.leader.map(|leader| leader.term),
        preferred: shard.preferred,
        vaults: state.vaults().count(shard.id),
        change,
    }
}

pub(super) async fn list(State(app): State<App>) -> Json<Shards> {
    Json(app.read(|state| {
        let shards = state.shards().iter();
        Shards { shards: shards.map(|shard| shown(state, shard)).collect() }
    }))
}

pub(super) async fn show(State(app): State<App>, Path(id): Path<String>) -> Answer<Json<Shard>> {
    let id: ShardId = id.parse()?;
    let found = app.read(|state| state.shards().get(id).map(|shard| shown(state, shard)));
    found.map(Json).ok_or_else(|| Refused::no_such("shard", id))
}

/// Whether a node keeps a read replica of a shard.
pub(super) async fn learner(
    State(app): State<App>,
    Path(id): Path<String>,
    Asked { body, request }: Asked<Learner>,
) -> Answer<Json<Shard>> {
    let (shard, reason) = (id.parse()?, "an operator asked".to_owned());
    let command = ShardCommand::Learner { shard, node: body.node, present: body.present, reason };
    app.decide(request, Command::Shard(command)).await?;
    show(State(app), Path(id)).await
}

/// Who should lead a shard. Its leader hands over; the placement keeps it so while leaders are spread evenly.
pub(super) async fn lead(
    State(app): State<App>,
    Path(id): Path<String>,
    Asked { body, request }: Asked<Lead>,
) -> Answer<Json<Shard>> {
    let (shard, reason) = (id.parse()?, "an operator asked".to_owned());
    app.decide(request, Command::Shard(ShardCommand::Prefer { shard, node: body.node, reason })).await?;
    show(State(app), Path(id)).await
}

pub(super) async fn placements(
    State(app): State<App>,
    Asking(page): Asking<Page>,
) -> Answer<Json<Placements>> {
    let after: Option<VaultId> = page.after.as_deref().map(str::parse).transpose()?;
    let (placements, next) = app.read(|state| {
        let vaults: Vec<_> = state.vaults().after(after).take(page.limit() + 1).collect();
        let more = vaults.len() > page.limit();
        let listed = &vaults[..vaults.len().min(page.limit())];
        let next = listed.last().filter(|_| more).map(|vault| vault.id);
        (listed.iter().map(|vault| placement(vault)).collect(), next)
    });
    Ok(Json(Placements { placements, next }))
}

fn placement(vault: &state::Vault) -> Placement {
    Placement {
        vault: vault.id,
        tenant: vault.tenant,
        shard: vault.shard.get(),
        epoch: vault.epoch.get(),
        incarnation: vault.incarnation.get(),
        level: vault.level,
        moving_to: vault.moving.map(|moving| moving.to.get()),
    }
}
