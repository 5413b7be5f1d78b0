//! Copies of one vault: made, listed, brought back. Paths of this machine are not told.

use axum::Json;
use axum::response::IntoResponse as _;
use serde::Deserialize;
use serde_json::json;

use super::body::Body;
use super::errors::Answer;
use super::vault_route::VaultRoute;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Restore {
    name: String,
}

pub(super) async fn create(vault: VaultRoute) -> Answer {
    let made = vault.app.serving.back_up(&vault.id).await?;
    let name = made.path.file_name().map(|name| name.to_string_lossy().into_owned());
    Ok(Json(json!({
        "name": name,
        "records": made.info.records,
        "chain_records": made.info.chain_records,
        "dropped": made.dropped,
    }))
    .into_response())
}

pub(super) async fn list(vault: VaultRoute) -> Answer {
    let found = vault.app.serving.backups(&vault.id).await?;
    let rows: Vec<_> = found.iter().map(|b| json!({ "name": b.name, "vault": b.vault })).collect();
    Ok(Json(json!({ "backups": rows })).into_response())
}

pub(super) async fn restore(vault: VaultRoute, Body(body): Body<Restore>) -> Answer {
    vault.app.serving.restore(&vault.id, &body.name).await?;
    vault.note(vault.app.serving.vault(&vault.id).await?);
    Ok(Json(json!({ "backup": body.name, "vault": vault.id, "restored": true })).into_response())
}
