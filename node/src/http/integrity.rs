//! Verify, repair, anchor. A verification that finds something is an answer and not an error: 200 with `ok: false`.

use axum::Json;
use axum::response::IntoResponse as _;
use serde_json::json;

use super::errors::Answer;
use super::stats::{merge, to_value};
use super::vault_route::VaultRoute;

pub(super) async fn verify(vault: VaultRoute) -> Answer {
    let handle = vault.open().await?;
    let report = handle.work(|vault| vault.verify(&mut |_| {})).await?;
    handle.was_verified(report.ok, report.bad_records.len());
    let mut reply = to_value(&report)?;
    // This version keeps no facts, so there are no receipts of facts either.
    let none = json!({ "verified": 0, "source_changed": 0, "dangling": 0, "unreceipted": 0, "tampered": 0 });
    merge(&mut reply, json!({ "receipts": none, "bad_receipts": [] }));
    Ok(Json(reply).into_response())
}

pub(super) async fn repair(vault: VaultRoute) -> Answer {
    let handle = vault.open().await?;
    let report = handle.work(|vault| vault.repair(&mut |_| {})).await?;
    handle.catch_up().await?;
    if report.ok {
        handle.is_whole();
    }
    Ok(Json(report).into_response())
}

/// The first one after the vault was opened also reports the lag that opening it healed.
pub(super) async fn anchor(vault: VaultRoute) -> Answer {
    let handle = vault.open().await?;
    let mut report = handle.read(|vault| vault.anchor()).await?;
    report.behind_by += handle.take_healed_lag();
    Ok(Json(report).into_response())
}
