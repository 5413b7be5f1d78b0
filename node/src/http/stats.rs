//! Counts about one vault.

use axum::Json;
use axum::response::IntoResponse as _;
use serde_json::{Value, json};
use undercroft_palace::ErrorClass;
use undercroft_vault::Stats;

use super::errors::{Answer, Refusal};
use super::vault_route::VaultRoute;

pub(super) async fn stats(vault: VaultRoute) -> Answer {
    let handle = vault.open().await?;
    let stats = handle.read(|vault| vault.stats()).await?;
    Ok(Json(object(&stats, vault.app.options.audit_ceiling)?).into_response())
}

/// The vault's counts with what only the installation knows. Parts that this version does not have count nothing.
fn object(stats: &Stats, ceiling: Option<u64>) -> Answer<Value> {
    let mut reply = to_value(stats)?;
    let more = json!({
        "codebooks": [],
        "embed_failures": 0,
        "rerank_failures": 0,
        "late_failures": 0,
        "chain_ceiling": ceiling,
        "chain_over_ceiling": ceiling.is_some_and(|most| stats.chain_records > most),
        "chain_replays": 0,
    });
    merge(&mut reply, more);
    Ok(reply)
}

/// A reply of the engine as an object that can be added to.
pub(super) fn to_value(reply: &impl serde::Serialize) -> Answer<Value> {
    serde_json::to_value(reply).map_err(|error| Refusal::of(ErrorClass::Internal, error.to_string()))
}

/// Adds the fields of one object to another.
pub(super) fn merge(reply: &mut Value, more: Value) {
    if let (Some(fields), Value::Object(more)) = (reply.as_object_mut(), more) {
        fields.extend(more);
    }
}
