//! Every route of the admin interface. Health is open; all else needs the operator's token.

use axum::Router;
use axum::extract::Request;
use axum::http::StatusCode;
use axum::middleware::from_fn_with_state;
use axum::routing::{delete, get, post};

use super::app::App;
use super::errors::{Answer, Refused};
use super::{auth, cluster, health, instances, keys, records, recovery, shards, tenants, tenants_more};

/// The router of a member.
pub fn router(app: App) -> Router {
    let operator = fleet().merge(of_tenants()).fallback(no_route).method_not_allowed_fallback(no_method);
    Router::new()
        .route("/healthz", get(health::healthz))
        .route("/livez", get(health::livez))
        .route("/readyz", get(health::readyz))
        .merge(operator.layer(from_fn_with_state(app.clone(), auth::guard)))
        .with_state(app)
}

fn fleet() -> Router<App> {
    Router::new()
        .route("/admin/cluster", get(cluster::show).post(cluster::initialise).patch(cluster::change))
        .route("/admin/members", get(cluster::members))
        .route("/admin/members/{id}", delete(cluster::remove_member))
        .route("/admin/instances", get(instances::list).post(instances::refuse_to_add))
        .route("/admin/instances/{name}", delete(instances::remove))
        .route("/admin/instances/{name}/health", get(instances::health))
        .route("/admin/instances/{name}/drain", post(instances::drain))
        .route("/admin/shards", get(shards::list))
        .route("/admin/shards/{id}", get(shards::show))
        .route("/admin/shards/{id}/leader", post(shards::lead))
        .route("/admin/shards/{id}/learners", post(shards::learner))
        .route("/admin/placements", get(shards::placements))
        .route("/admin/jobs", get(records::jobs))
        .route("/admin/jobs/{id}", get(records::job).delete(records::withdraw))
        .route("/admin/witnesses", get(records::export))
        .route("/admin/witnesses/{vault}", get(records::witnesses))
        .route("/admin/decisions", get(records::decisions))
        .route("/admin/recovery-kit", get(recovery::kit))
        .route("/admin/assertion-keys", get(keys::show))
        .route("/admin/assertion-keys/rotate", post(keys::rotate))
}

fn of_tenants() -> Router<App> {
    Router::new()
        .route("/admin/tenants", get(tenants::list).post(tenants::create))
        .route(
            "/admin/tenants/{id}",
            get(tenants::show).patch(tenants_more::refuse_to_repoint).delete(tenants_more::remove),
        )
        .route("/admin/tenants/{id}/rotate", post(tenants::rotate))
        .route("/admin/tenants/{id}/revoke", post(tenants_more::revoke))
        .route("/admin/tenants/{id}/limits", post(tenants_more::limits))
        .route("/admin/tenants/{id}/read", post(tenants_more::read))
        .route("/admin/tenants/{id}/stats", get(needs_nodes))
        .route("/admin/tenants/{id}/migrate", post(needs_nodes))
        .route("/admin/tenants/{id}/ops/{*subpath}", get(needs_nodes).post(needs_nodes))
}

async fn no_route(request: Request) -> Answer<()> {
    let what = format!("there is no route {}; see docs/control-plane.md", request.uri().path());
    Err(Refused::surface(StatusCode::NOT_FOUND, what))
}

async fn no_method(request: Request) -> Answer<()> {
    let what = format!("{} is not for {}", request.uri().path(), request.method());
    Err(Refused::surface(StatusCode::METHOD_NOT_ALLOWED, what))
}

/// What a node that serves shards would have to do.
async fn needs_nodes(request: Request) -> Answer<()> {
    let what = format!(
        "not implemented: {} {}; nodes of this version serve no shards",
        request.method(),
        request.uri().path()
    );
    Err(Refused::surface(StatusCode::NOT_IMPLEMENTED, what))
}
