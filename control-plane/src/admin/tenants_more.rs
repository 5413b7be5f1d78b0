//! What else is done to a tenant: its token taken away, its limits and read policy, its end.

use axum::Json;
use axum::extract::{Path, State};
use serde::{Deserialize, Serialize};
use undercroft_proto::{ErrorClass, TenantId};

use super::app::App;
use super::asked::{Asked, Nothing};
use super::errors::{Answer, Refused};
use super::tenants::{Limits, Tenant, one};
use crate::state::{Command, ReadPolicy, Request, TenantCommand};

#[derive(Serialize)]
pub(super) struct Deleted {
    deleted: TenantId,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Policy {
    Strong,
    Session,
    Eventual,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Read {
    read: Policy,
    lag_ms: Option<u32>,
}

/// Vaults move; names do not.
pub(super) async fn refuse_to_repoint() -> Answer<()> {
    Err(Refused::of(
        ErrorClass::Conflict,
        "a tenant is not pointed at another instance: its vault is where its shard is, and moves by \
         POST /admin/tenants/{id}/migrate",
    ))
}

/// Deletes the tenant and drops its vault.
pub(super) async fn remove(
    State(app): State<App>,
    Path(id): Path<String>,
    Asked { body: Nothing {}, request }: Asked<Nothing>,
) -> Answer<Json<Deleted>> {
    let tenant = id.parse()?;
    app.decide(request, Command::Tenant(TenantCommand::Delete { tenant })).await?;
    Ok(Json(Deleted { deleted: tenant }))
}

async fn changed(
    app: &App,
    request: Option<Request>,
    id: TenantId,
    command: TenantCommand,
) -> Answer<Json<Tenant>> {
    app.decide(request, Command::Tenant(command)).await?;
    one(app, id).map(Json)
}

/// Takes the token away. It maps to nobody from that decision on.
pub(super) async fn revoke(
    State(app): State<App>,
    Path(id): Path<String>,
    Asked { body: Nothing {}, request }: Asked<Nothing>,
) -> Answer<Json<Tenant>> {
    let tenant = id.parse()?;
    changed(&app, request, tenant, TenantCommand::Revoke { tenant }).await
}

/// Replaces all limits; one that is left out is none.
pub(super) async fn limits(
    State(app): State<App>,
    Path(id): Path<String>,
    Asked { body, request }: Asked<Limits>,
) -> Answer<Json<Tenant>> {
    let tenant = id.parse()?;
    changed(&app, request, tenant, TenantCommand::Limits { tenant, limits: body.into() }).await
}

/// Replaces who answers the tenant's reads.
pub(super) async fn read(
    State(app): State<App>,
    Path(id): Path<String>,
    Asked { body, request }: Asked<Read>,
) -> Answer<Json<Tenant>> {
    let read = match (body.read, body.lag_ms) {
        (Policy::Strong, None) => ReadPolicy::Strong,
        (Policy::Session, None) => ReadPolicy::Session,
        (Policy::Eventual, Some(lag_ms)) => ReadPolicy::Eventual { lag_ms },
        (Policy::Eventual, None) => {
            return Err(Refused::invalid(
                "field 'lag_ms' is missing; 'eventual' needs a bound in milliseconds",
            ));
        }
        (_, Some(_)) => return Err(Refused::invalid("field 'lag_ms' is for 'eventual' alone; leave it out")),
    };
    let tenant = id.parse()?;
    changed(&app, request, tenant, TenantCommand::Read { tenant, read }).await
}
