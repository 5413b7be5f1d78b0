//! Wings and rooms, and what was filed last.

use axum::Json;
use axum::response::IntoResponse as _;
use serde::Deserialize;
use serde_json::{Value, json};
use undercroft_text::snippet::snippet;
use undercroft_vault::Drawer;
use undercroft_vault::limits::WAKE_UP_DRAWERS;

use super::body::Params;
use super::drawers::check_review_door;
use super::errors::Answer;
use super::vault_route::VaultRoute;

/// Characters of a drawer's preview.
const PREVIEW: usize = 120;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WakeUp {
    wing: Option<String>,
}

pub(super) async fn taxonomy(vault: VaultRoute) -> Answer {
    let handle = vault.open().await?;
    Ok(Json(handle.read(|vault| vault.taxonomy()).await?).into_response())
}

/// The newest drawers; who the palace serves is the installation's and not told here.
pub(super) async fn wake_up(vault: VaultRoute, Params(of): Params<WakeUp>) -> Answer {
    check_review_door(&vault, of.wing.as_deref())?;
    let handle = vault.open().await?;
    let drawers = handle.read(move |vault| vault.recent(of.wing.as_deref(), WAKE_UP_DRAWERS)).await?;
    Ok(Json(json!({ "drawers": drawers.iter().map(line).collect::<Vec<_>>() })).into_response())
}

fn line(drawer: &Drawer) -> Value {
    json!({
        "id": drawer.id,
        "wing": drawer.meta.wing,
        "room": drawer.meta.room,
        "preview": snippet(&drawer.content, "", PREVIEW),
        "filed_at": drawer.meta.filed_at,
    })
}
