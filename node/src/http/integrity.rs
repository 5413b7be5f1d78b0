//! Verify, repair, anchor. A verification that finds something is an answer and not an error: 200 with `ok: false`.

use axum::Json;
use undercroft_vault::{AnchorReport, RepairReport};

use super::errors::Answer;
use super::vault_route::VaultRoute;
use crate::reply::Verified;

pub(super) async fn verify(vault: VaultRoute) -> Answer<Json<Verified>> {
    let (place, handle) = vault.open_for_long().await?;
    let report = handle.work(place, |vault| vault.verify(&mut |_| {})).await?;
    handle.was_verified(report.ok, report.bad_records.len());
    Ok(Json(report.into()))
}

pub(super) async fn repair(vault: VaultRoute) -> Answer<Json<RepairReport>> {
    let (place, handle) = vault.open_for_long().await?;
    let report = handle.work(place, |vault| vault.repair(&mut |_| {})).await?;
    handle.catch_up().await?;
    if report.ok {
        handle.is_whole();
    }
    Ok(Json(report))
}

/// The first one after the vault was opened also reports the lag that opening it healed.
pub(super) async fn anchor(vault: VaultRoute) -> Answer<Json<AnchorReport>> {
    let handle = vault.open().await?;
    let mut report = handle.read(|vault| vault.anchor()).await?;
    report.behind_by += handle.take_healed_lag();
    Ok(Json(report))
}
