//! Every route, on one screen. What is not built answers 501 and says so.
//!
//! Nothing is decided here; the order of the checks around the table is in `envelope`.

use axum::Router;
use axum::http::{Method, StatusCode};
use axum::routing::{delete, get, post};

use super::app::App;
use super::errors::Refusal;
use super::later::{later, later_anywhere};
use super::{
    backups, drawers, history, integrity, mcp, search, stats, status, supersessions, taxonomy, vaults,
};

pub(super) fn table() -> Router<App> {
    Router::new()
        .route("/healthz", get(status::healthz))
        .route("/livez", get(status::healthz))
        .route("/readyz", get(status::readyz))
        .route("/metrics", get(status::metrics))
        .route("/mcp", post(mcp::of_resident))
        .route("/ui", get(later_anywhere))
        .route("/monitor", get(later_anywhere))
        .route("/v1/openapi.json", get(later_anywhere))
        .route("/v1/vaults", get(vaults::list).post(vaults::create))
        .route("/v1/vaults/{id}", delete(vaults::delete))
        .nest("/v1/vaults/{id}", built().merge(unbuilt()))
        .fallback(no_route)
        .method_not_allowed_fallback(no_method)
}

/// Routes of one vault.
fn built() -> Router<App> {
    Router::new()
        .route("/stats", get(stats::stats))
        .route("/drawers", get(drawers::list).post(drawers::save).delete(drawers::delete_source))
        .route("/drawers/check-duplicate", post(drawers::check_duplicate))
        .route("/drawers/{drawer_id}", get(drawers::get).put(drawers::update).delete(drawers::delete))
        .route("/dedup", post(drawers::dedup))
        .route("/taxonomy", get(taxonomy::taxonomy))
        .route("/wake-up", get(taxonomy::wake_up))
        .route("/search", post(search::search))
        .route("/supersessions", get(supersessions::list))
        .route("/history", get(history::history))
        .route("/backups", get(backups::list).post(backups::create))
        .route("/backups/restore", post(backups::restore))
        .route("/verify", post(integrity::verify))
        .route("/repair", post(integrity::repair))
        .route("/anchor", post(integrity::anchor))
        .route("/mcp", post(mcp::of_vault))
}

/// Routes of one vault whose features this version does not have.
fn unbuilt() -> Router<App> {
    Router::new()
        .route("/stats/history", get(later))
        .route("/stream", get(later))
        .route("/kg/stats", get(later))
        .route("/kg/entities", get(later))
        .route("/kg/query", get(later))
        .route("/kg/timeline", get(later))
        .route("/kg/rel", get(later))
        .route("/kg/receipts", get(later))
        .route("/kg/canonical/{key}", get(later))
        .route("/kg/authority", post(later))
        .route("/index/status", get(later))
        .route("/tunnels", get(later).post(later))
        .route("/tunnels/traverse", get(later))
        .route("/tunnels/{tid}", delete(later))
        .route("/tunnels/{tid}/drawers", get(later))
        .route("/diary", get(later).post(later))
        .route("/diary/agents", get(later))
        .route("/closets", get(later))
        .route("/hallways", get(later))
        .route("/trust", get(later).post(later))
        .route("/admission", get(later).post(later))
        .route("/retention", get(later).post(later))
        .route("/retention/sweep", post(later))
        .route("/forget", post(later))
        .route("/verify-forgetting", post(later))
        .route("/witness", get(later).post(later))
        .route("/refine", post(later))
        .route("/rotate", post(later))
        .route("/export", get(later))
        .route("/import", post(later))
}

async fn no_route() -> Refusal {
    Refusal::of(undercroft_palace::ErrorClass::NotFound, "not found")
}

async fn no_method(method: Method) -> Refusal {
    Refusal::surface(StatusCode::METHOD_NOT_ALLOWED, format!("{method} is not a method of this route"))
}
