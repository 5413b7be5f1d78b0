//! The audit chain, newest first.

use axum::Json;
use axum::response::IntoResponse as _;
use serde::Deserialize;
use serde_json::json;

use super::body::Params;
use super::errors::Answer;
use super::vault_route::VaultRoute;

/// Records of a page when none are asked for.
const LIMIT: usize = 50;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Page {
    subject: Option<String>,
    limit: Option<usize>,
    offset: Option<usize>,
}

pub(super) async fn history(vault: VaultRoute, Params(page): Params<Page>) -> Answer {
    let handle = vault.open().await?;
    let records = handle
        .read(move |vault| {
            vault.history(page.subject.as_deref(), page.limit.unwrap_or(LIMIT), page.offset.unwrap_or(0))
        })
        .await?;
    let count = records.len();
    Ok(Json(json!({ "records": records, "count": count, "scope": "operator" })).into_response())
}
