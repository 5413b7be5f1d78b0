//! Copies of one vault: made, listed, brought back. Paths of this machine are not told.

use axum::Json;
use serde::Deserialize;
use utoipa::ToSchema;

use super::body::Body;
use super::errors::Answer;
use super::vault_route::VaultRoute;
use crate::reply::{BackupList, BackupMade, Restored};

/// Which copy to bring back.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RestoreRequest {
    /// Its name, as the list of copies tells it.
    name: String,
}

pub(super) async fn create(vault: VaultRoute) -> Answer<Json<BackupMade>> {
    let made = vault.app.serving.back_up(&vault.id).await?;
    vault.note_if_open().await;
    let name = made.path.file_name().map(|name| name.to_string_lossy().into_owned());
    Ok(Json(BackupMade {
        name: name.unwrap_or_default(),
        records: made.info.records,
        chain_records: made.info.chain_records,
        dropped: made.dropped,
    }))
}

pub(super) async fn list(vault: VaultRoute) -> Answer<Json<BackupList>> {
    let copies = vault.app.serving.backups(&vault.id).await?;
    // Of a damaged vault too: its copies are what is left.
    vault.note_if_open().await;
    Ok(Json(copies.into()))
}

pub(super) async fn restore(vault: VaultRoute, Body(body): Body<RestoreRequest>) -> Answer<Json<Restored>> {
    vault.app.serving.restore(&vault.id, &body.name).await?;
    vault.note_if_open().await;
    Ok(Json(Restored::of(body.name, vault.id)))
}
