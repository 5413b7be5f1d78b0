//! The cluster and the members of the control group.

use axum::Json;
use axum::extract::{Path, State};
use serde::{Deserialize, Serialize};
use undercroft_proto::MemberId;

use super::app::App;
use super::asked::{Asked, Nothing};
use super::errors::{Answer, Refused};
use crate::state::{ClusterCommand, Command, Outcome, Settings};

#[derive(Serialize)]
pub(super) struct Cluster {
    initialised: bool,
    id: Option<String>,
    replicas: Option<u8>,
    witness_days: Option<u16>,
    shards: usize,
    nodes: usize,
    tenants: usize,
    /// The version that every member speaks.
    format: u32,
    map_version: u64,
    leader: Option<u64>,
    members: Vec<Member>,
}

#[derive(Serialize)]
pub(super) struct Member {
    id: u64,
    address: String,
    speaks: u32,
    votes: bool,
    leads: bool,
}

#[derive(Serialize)]
pub(super) struct Members {
    members: Vec<Member>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Initialise {
    #[serde(default = "shards")]
    shards: u32,
    #[serde(default = "replicas")]
    replicas: u8,
    #[serde(default = "witness_days")]
    witness_days: u16,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Change {
    witness_days: u16,
}

#[derive(Serialize)]
pub(super) struct Removed {
    removed: bool,
}

const fn shards() -> u32 {
    16
}

const fn replicas() -> u8 {
    3
}

const fn witness_days() -> u16 {
    30
}

pub(super) async fn show(State(app): State<App>) -> Json<Cluster> {
    let members = listed(&app);
    let cluster = app.read(|state| {
        let settings = state.cluster().settings();
        Cluster {
            initialised: settings.is_some(),
            id: settings.map(|settings| hex::encode(settings.id)),
            replicas: settings.map(|settings| settings.replicas),
            witness_days: settings.map(|settings| settings.witness_days),
            shards: state.shards().iter().count(),
            nodes: state.nodes().iter().count(),
            tenants: state.tenants().len(),
            format: state.cluster().format(),
            map_version: state.version(),
            leader: members.iter().find(|member| member.leads).map(|member| member.id),
            members,
        }
    });
    Json(cluster)
}

pub(super) async fn members(State(app): State<App>) -> Json<Members> {
    Json(Members { members: listed(&app) })
}

fn listed(app: &App) -> Vec<Member> {
    let member = &app.desk.member;
    let (leader, group) = (member.leader(), member.group());
    let votes = |id: MemberId| group.iter().any(|(known, _, votes)| *known == id && *votes);
    app.read(|state| {
        let members = state.cluster().members();
        let shown = members.map(|known| Member {
            id: known.id.get(),
            address: known.address.clone(),
            speaks: known.speaks,
            votes: votes(known.id),
            leads: leader.as_ref().is_some_and(|(leader, _)| *leader == known.id),
        });
        shown.collect()
    })
}

/// Founds the cluster. Once.
pub(super) async fn initialise(
    State(app): State<App>,
    Asked { body, request }: Asked<Initialise>,
) -> Answer<Json<Cluster>> {
    let settings = Settings {
        id: app.desk.ports.random(),
        salt: u64::from_le_bytes(app.desk.ports.random()),
        replicas: body.replicas,
        witness_days: body.witness_days,
    };
    let command = ClusterCommand::Initialise { settings, shards: body.shards };
    app.decide(request, Command::Cluster(command)).await?;
    Ok(show(State(app)).await)
}

pub(super) async fn change(
    State(app): State<App>,
    Asked { body, request }: Asked<Change>,
) -> Answer<Json<Cluster>> {
    let command = ClusterCommand::WitnessDays { days: body.witness_days };
    app.decide(request, Command::Cluster(command)).await?;
    Ok(show(State(app)).await)
}

/// Takes a member out. The leader does it as soon as it can; the id never comes back.
pub(super) async fn remove_member(
    State(app): State<App>,
    Path(id): Path<String>,
    Asked { body: Nothing {}, request }: Asked<Nothing>,
) -> Answer<Json<Removed>> {
    let member: MemberId = id.parse()?;
    let others = app.read(|state| state.cluster().members().filter(|known| known.id != member).count());
    if others == 0 {
        let class = undercroft_proto::ErrorClass::Conflict;
        return Err(Refused::of(class, "it is the last member; start another one with --join first"));
    }
    match app.decide(request, Command::Cluster(ClusterCommand::RemoveMember { member })).await? {
        Outcome::Member(_) => Ok(Json(Removed { removed: true })),
        other => Err(Refused::odd(&other)),
    }
}
