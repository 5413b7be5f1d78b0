//! Wings and rooms, and what was filed last.

use axum::Json;
use serde::Deserialize;
use undercroft_vault::Taxonomy;
use undercroft_vault::limits::WAKE_UP_DRAWERS;
use utoipa::IntoParams;

use super::body::Params;
use super::drawers::check_review_door;
use super::errors::Answer;
use super::vault_route::VaultRoute;
use crate::reply::WakeUp;

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub(super) struct Of {
    /// Only this wing.
    #[param(nullable = false)]
    wing: Option<String>,
}

pub(super) async fn taxonomy(vault: VaultRoute) -> Answer<Json<Taxonomy>> {
    let handle = vault.open().await?;
    Ok(Json(handle.read(|vault| vault.taxonomy()).await?))
}

/// The newest drawers; who the palace serves is the installation's and not told here.
pub(super) async fn wake_up(vault: VaultRoute, Params(of): Params<Of>) -> Answer<Json<WakeUp>> {
    check_review_door(&vault, of.wing.as_deref())?;
    let handle = vault.open().await?;
    let drawers = handle.read(move |vault| vault.recent(of.wing.as_deref(), WAKE_UP_DRAWERS)).await?;
    Ok(Json(drawers.as_slice().into()))
}
