//! The audit chain, newest first.

use axum::Json;
use serde::Deserialize;
use utoipa::IntoParams;

use super::body::Params;
use super::errors::Answer;
use super::vault_route::VaultRoute;
use crate::reply::History;

/// Records of a page when none are asked for.
const LIMIT: usize = 50;

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub(super) struct Page {
    /// Only this drawer's records.
    #[param(nullable = false)]
    subject: Option<String>,
    /// Records of the page; 50 when absent.
    #[param(nullable = false, minimum = 1, maximum = 1000)]
    limit: Option<usize>,
    /// Records skipped.
    #[param(nullable = false)]
    offset: Option<usize>,
}

pub(super) async fn history(vault: VaultRoute, Params(page): Params<Page>) -> Answer<Json<History>> {
    let handle = vault.open().await?;
    let records = handle
        .read(move |vault| {
            vault.history(page.subject.as_deref(), page.limit.unwrap_or(LIMIT), page.offset.unwrap_or(0))
        })
        .await?;
    Ok(Json(records.into()))
}
