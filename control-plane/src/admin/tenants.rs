//! Tenants: made, shown, given another token. A token is shown in the one reply that makes it, and never again.

use axum::Json;
use axum::extract::{Path, State};
use serde::{Deserialize, Serialize};
use undercroft_proto::{ErrorClass, ShardId, TenantId, Token, VaultId};

use super::app::App;
use super::asked::{Asked, Asking, Nothing, Page};
use super::errors::{Answer, Refused};
use super::instances::home;
use crate::state::{self, Command, Level, Outcome, ReadPolicy, TenantCommand};

#[derive(Serialize)]
pub(super) struct Tenants {
    tenants: Vec<Tenant>,
    /// Give this as `after` for what follows; null at the end.
    next: Option<TenantId>,
}

#[derive(Serialize)]
pub(super) struct Tenant {
    id: TenantId,
    name: String,
    /// The node at which its vault's shard is; null before it is placed.
    instance: Option<String>,
    vault: VaultId,
    shard: Option<u32>,
    /// Seconds since 1970.
    created_at: u64,
    level: Option<Level>,
    revoked: bool,
    limits: Limits,
    read: &'static str,
    lag_ms: Option<u32>,
}

/// What it may use; null for no limit.
#[derive(Serialize, Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Limits {
    requests_per_minute: Option<u64>,
    bytes: Option<u64>,
    drawers: Option<u64>,
}

impl From<Limits> for state::Limits {
    /// Zero is no limit, as in `UNDERCROFT_ORCH_RATE_LIMIT`.
    fn from(limits: Limits) -> Self {
        let some = |limit: Option<u64>| limit.filter(|limit| *limit > 0);
        Self {
            requests_per_minute: some(limits.requests_per_minute),
            bytes: some(limits.bytes),
            drawers: some(limits.drawers),
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Create {
    name: String,
    /// A node: its vault is put into one of the shards there.
    instance: Option<String>,
    /// A shard, in place of the one with the fewest vaults.
    shard: Option<ShardId>,
    #[serde(default = "sealed")]
    level: Level,
    #[serde(default)]
    limits: Limits,
}

const fn sealed() -> Level {
    Level::Sealed
}

/// A tenant and its token, which is null when the request was asked again: it was shown the first time.
#[derive(Serialize)]
pub(super) struct WithToken {
    tenant: Tenant,
    token: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<&'static str>,
}

const SHOWN_BEFORE: &str =
    "this request was done before and its token shown then; if it is lost, POST /admin/tenants/{id}/rotate";

pub(super) fn shown(state: &state::State, tenant: &state::Tenant) -> Tenant {
    let vault = state.vaults().get(tenant.vault);
    let shard = vault.and_then(|vault| state.shards().get(vault.shard));
    let node = shard.and_then(home).and_then(|node| state.nodes().get(node));
    let (read, lag_ms) = match tenant.read {
        ReadPolicy::Strong => ("strong", None),
        ReadPolicy::Session => ("session", None),
        ReadPolicy::Eventual { lag_ms } => ("eventual", Some(lag_ms)),
    };
    let state::Limits { requests_per_minute, bytes, drawers } = tenant.limits;
    Tenant {
        id: tenant.id,
        name: tenant.name.clone(),
        instance: node.map(|node| node.name.clone()),
        vault: tenant.vault,
        shard: shard.map(|shard| shard.id.get()),
        created_at: tenant.created_at / 1000,
        level: vault.map(|vault| vault.level),
        revoked: tenant.token.is_none(),
        limits: Limits { requests_per_minute, bytes, drawers },
        read,
        lag_ms,
    }
}

pub(super) async fn list(State(app): State<App>, Asking(page): Asking<Page>) -> Answer<Json<Tenants>> {
    let after: Option<TenantId> = page.after.as_deref().map(str::parse).transpose()?;
    let (tenants, next) = app.read(|state| {
        let found: Vec<_> = state.tenants().after(after).take(page.limit() + 1).collect();
        let listed = &found[..found.len().min(page.limit())];
        let next = listed.last().filter(|_| found.len() > page.limit()).map(|tenant| tenant.id);
        (listed.iter().map(|tenant| shown(state, tenant)).collect(), next)
    });
    Ok(Json(Tenants { tenants, next }))
}

pub(super) fn one(app: &App, id: TenantId) -> Answer<Tenant> {
    let found = app.read(|state| state.tenants().get(id).map(|tenant| shown(state, tenant)));
    found.ok_or_else(|| Refused::no_such("tenant", id))
}

pub(super) async fn show(State(app): State<App>, Path(id): Path<String>) -> Answer<Json<Tenant>> {
    one(&app, id.parse()?).map(Json)
}

pub(super) async fn create(
    State(app): State<App>,
    Asked { body, request }: Asked<Create>,
) -> Answer<Json<WithToken>> {
    let shard = match (&body.instance, body.shard) {
        (Some(_), Some(_)) => {
            return Err(Refused::invalid("fields 'instance' and 'shard' exclude each other; give one"));
        }
        (Some(instance), None) => Some(emptiest_at(&app, instance)?),
        (None, shard) => shard,
    };
    let token = Token::new(app.desk.ports.random());
    let command = TenantCommand::Create {
        name: body.name,
        token: app.tokens.mac(&token),
        level: body.level,
        limits: body.limits.into(),
        read: ReadPolicy::Strong,
        random: u128::from_le_bytes(app.desk.ports.random()),
        shard,
    };
    answer(&app, &token, app.decide(request, Command::Tenant(command)).await?)
}

/// The shard with the fewest vaults of those that are at a node.
fn emptiest_at(app: &App, instance: &str) -> Answer<ShardId> {
    app.read(|state| {
        let node = state.nodes().named(instance).ok_or_else(|| Refused::no_such("instance", instance))?;
        let there = state.shards().iter().filter(|shard| home(shard) == Some(node.id));
        let emptiest = there.min_by_key(|shard| (state.vaults().count(shard.id), shard.id));
        emptiest.map(|shard| shard.id).ok_or_else(|| {
            let what = format!(
                "no shard is led by instance {instance}; leave 'instance' out, or wait until it leads one"
            );
            Refused::of(ErrorClass::Conflict, what)
        })
    })
}

/// Replaces the token. The old one is dead from the same decision on.
pub(super) async fn rotate(
    State(app): State<App>,
    Path(id): Path<String>,
    Asked { body: Nothing {}, request }: Asked<Nothing>,
) -> Answer<Json<WithToken>> {
    let tenant: TenantId = id.parse()?;
    let token = Token::new(app.desk.ports.random());
    let command = TenantCommand::Rotate { tenant, token: app.tokens.mac(&token) };
    answer(&app, &token, app.decide(request, Command::Tenant(command)).await?)
}

/// The tenant, and the token if it is the one that was decided upon: an outcome that was only recalled has another.
fn answer(app: &App, token: &Token, outcome: Outcome) -> Answer<Json<WithToken>> {
    let Outcome::Tenant { tenant: id, .. } = outcome else { return Err(Refused::odd(&outcome)) };
    let ours = app
        .read(|state| state.tenants().of_token(&app.tokens.mac(token)).is_some_and(|found| found.id == id));
    // A tenant that is not to be seen was deleted since, or is decided and not applied here yet.
    let tenant = one(app, id).map_err(|_| {
        let what =
            format!("tenant {id} is not to be seen at this member; look again: GET /admin/tenants/{id}");
        Refused::of(ErrorClass::Unavailable, what)
    })?;
    let token = ours.then(|| token.reveal().as_str().to_owned());
    let note = (!ours).then_some(SHOWN_BEFORE);
    Ok(Json(WithToken { tenant, token, note }))
}
