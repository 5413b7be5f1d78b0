//! Which drawers update which, and whether the receipts hold.

use axum::Json;
use undercroft_vault::Supersessions;

use super::errors::Answer;
use super::vault_route::VaultRoute;

pub(super) async fn list(vault: VaultRoute) -> Answer<Json<Supersessions>> {
    let (place, handle) = vault.open_for_long().await?;
    Ok(Json(handle.work(place, |vault| vault.supersessions()).await?))
}
