//! Counts about one vault.

use axum::Json;

use super::errors::Answer;
use super::vault_route::VaultRoute;
use crate::reply::VaultStats;

pub(super) async fn stats(vault: VaultRoute) -> Answer<Json<VaultStats>> {
    let handle = vault.open().await?;
    let stats = handle.read(|vault| vault.stats()).await?;
    Ok(Json(VaultStats::of(stats, vault.app.options.audit_ceiling)))
}
