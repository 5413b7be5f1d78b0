//! Nodes, under the name that the interface has for them: instances.

use axum::Json;
use axum::extract::{Path, State};
use serde::{Deserialize, Serialize};
use undercroft_proto::{ErrorClass, NodeId};

use super::app::App;
use super::asked::{Asked, Nothing};
use super::errors::{Answer, Refused};
use crate::state::{self, Command, Health, NodeCommand, NodeState, Shard};

#[derive(Serialize)]
pub(super) struct Instances {
    instances: Vec<Instance>,
}

#[derive(Serialize)]
pub(super) struct Instance {
    name: String,
    /// Where other processes reach it: host:port.
    url: String,
    /// Tenants whose vault is in a shard that it leads.
    tenants: u64,
    id: u64,
    zone: Option<String>,
    state: NodeState,
    capacity_bytes: u64,
    used_bytes: u64,
    /// Whether it came back under another id.
    retired: bool,
}

#[derive(Serialize)]
pub(super) struct Healthy {
    name: String,
    healthy: bool,
    state: &'static str,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Drain {
    #[serde(default = "yes")]
    drained: bool,
    #[serde(default = "asked")]
    reason: String,
}

#[derive(Serialize)]
pub(super) struct Removed {
    removed: bool,
}

const fn yes() -> bool {
    true
}

fn asked() -> String {
    "an operator asked".into()
}

/// The node at which a shard is: who leads it, or is to lead it, or votes in it.
pub(super) fn home(shard: &Shard) -> Option<NodeId> {
    let leader = shard.leader.map(|leader| leader.node);
    leader.or(shard.preferred).or_else(|| shard.voters.first().copied())
}

fn instance(state: &state::State, node: &state::Node) -> Instance {
    let led = state.shards().iter().filter(|shard| home(shard) == Some(node.id));
    Instance {
        name: node.name.clone(),
        url: node.address.clone(),
        tenants: led.map(|shard| state.vaults().count(shard.id)).sum(),
        id: node.id.get(),
        zone: node.zone.clone(),
        state: node.state(),
        capacity_bytes: node.capacity_bytes,
        used_bytes: node.load.used_bytes,
        retired: node.retired,
    }
}

pub(super) async fn list(State(app): State<App>) -> Json<Instances> {
    Json(app.read(|state| {
        let nodes = state.nodes().iter();
        Instances { instances: nodes.map(|node| instance(state, node)).collect() }
    }))
}

/// Nodes are not declared here: they prove themselves.
pub(super) async fn refuse_to_add() -> Answer<()> {
    Err(Refused::of(
        ErrorClass::Conflict,
        "nodes are not added here: a node joins by itself, with the fleet's master key and a certificate of the cluster; \
         it is then in GET /admin/instances",
    ))
}

/// The newest life of the node of this name.
fn named(app: &App, name: &str) -> Answer<state::Node> {
    app.read(|state| state.nodes().named(name).cloned()).ok_or_else(|| Refused::no_such("instance", name))
}

pub(super) async fn health(State(app): State<App>, Path(name): Path<String>) -> Answer<Json<Healthy>> {
    let node = named(&app, &name)?;
    let healthy = node.health == Health::Live;
    let state = if healthy { "healthy" } else { "unreachable" };
    Ok(Json(Healthy { name, healthy, state }))
}

pub(super) async fn drain(
    State(app): State<App>,
    Path(name): Path<String>,
    Asked { body, request }: Asked<Drain>,
) -> Answer<Json<Instance>> {
    let node = named(&app, &name)?.id;
    let command = NodeCommand::Drain { node, drained: body.drained, reason: body.reason };
    app.decide(request, Command::Node(command)).await?;
    let shown = app.read(|state| state.nodes().get(node).map(|node| instance(state, node)));
    shown.map(Json).ok_or_else(|| Refused::no_such("instance", name))
}

pub(super) async fn remove(
    State(app): State<App>,
    Path(name): Path<String>,
    Asked { body: Nothing {}, request }: Asked<Nothing>,
) -> Answer<Json<Removed>> {
    // Asked again, there is no such name any more, and the answer is still the first one.
    if app.read(|state| request.and_then(|request| state.requests().recall(&request))).is_none() {
        let node = named(&app, &name)?.id;
        app.decide(request, Command::Node(NodeCommand::Remove { node })).await?;
    }
    Ok(Json(Removed { removed: true }))
}
