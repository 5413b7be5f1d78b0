//! `/v1/vaults`: make, list, delete.

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::IntoResponse as _;
use serde::Deserialize;
use serde_json::json;
use undercroft_palace::Level;

use super::app::App;
use super::auth::check_assertion;
use super::body::Body;
use super::errors::{Answer, Refusal};
use super::vault_route::{VaultRoute, check_spelling};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NewVault {
    id: String,
    level: Option<String>,
    embedder: Option<String>,
}

pub(super) async fn create(State(app): State<App>, headers: HeaderMap, Body(new): Body<NewVault>) -> Answer {
    check_assertion(&app, &headers, &new.id)?;
    check_spelling(&app, &new.id)?;
    let level = level(new.level.as_deref())?;
    check_embedder(new.embedder.as_deref())?;
    let handle = app.serving.create(&new.id, level).await?;
    let body = json!({ "id": handle.name(), "level": level.as_str(), "created": true });
    Ok((StatusCode::CREATED, Json(body)).into_response())
}

pub(super) async fn list(State(app): State<App>) -> Answer {
    if app.options.assertions.is_some() {
        return Err(Refusal::denied(
            "the list of vaults is not given where each vault has assertions of its own",
        ));
    }
    Ok(Json(json!({ "vaults": app.serving.vaults().await? })).into_response())
}

pub(super) async fn delete(vault: VaultRoute) -> Answer {
    vault.app.serving.delete(&vault.id).await?;
    Ok(Json(json!({ "id": vault.id, "deleted": true })).into_response())
}

fn level(text: Option<&str>) -> Answer<Level> {
    match text {
        None | Some("sealed") => Ok(Level::Sealed),
        Some("hmac-only" | "hmac_only") => Ok(Level::HmacOnly),
        Some(_) => Err(Refusal::invalid("invalid level: use sealed or hmac-only")),
    }
}

fn check_embedder(text: Option<&str>) -> Answer<()> {
    match text {
        None | Some("hash") => Ok(()),
        Some(other) if other.starts_with("external:") => Err(Refusal::not_implemented("embedder external")),
        Some(_) => Err(Refusal::invalid("invalid embedder: use hash")),
    }
}
