//! Drawers: keep, list, read, change, destroy, look for copies.

use axum::Json;
use axum::extract::Path;
use axum::response::IntoResponse as _;
use serde::Deserialize;
use serde_json::json;
use std::collections::HashMap;
use undercroft_palace::ErrorClass;
use undercroft_vault::{AddedBy, Change, Claims, DrawerId, NewDrawer, Outcome, WriteRequest};

use super::body::{Body, OptionalBody, Params, Unbuilt, refuse_unbuilt};
use super::errors::{Answer, Refusal};
use super::once::{Keyed, NoBody};
use super::vault_route::{VaultRoute, segment};

/// Wing of texts that await a ruling.
const REVIEW_WING: &str = "quarantine-pending";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Save {
    text: String,
    wing: Option<String>,
    room: Option<String>,
    kind: Option<String>,
    content_date: Option<String>,
    supersedes: Option<String>,
    agent: Option<String>,
    channel: Option<String>,
    session: Option<String>,
    vector: Unbuilt,
    dedup_threshold: Unbuilt,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Listing {
    wing: Option<String>,
    room: Option<String>,
    limit: Option<usize>,
    offset: Option<usize>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Reading {
    wing: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Text {
    text: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Source {
    source: String,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Dedup {
    apply: bool,
}

pub(super) async fn save(vault: VaultRoute, asked: Keyed<Body<Save>>) -> Answer {
    let change = Change::Save(asked.body.0.into_drawer()?);
    let handle = vault.open().await?;
    match handle.write(WriteRequest { change, idempotency: asked.key }).await? {
        Outcome::Saved(saved) => {
            let reply = json!({
                "id": saved.id, "created": saved.created, "deduped": false, "quarantined": false
            });
            Ok(Json(reply).into_response())
        }
        other => Err(unexpected(&other)),
    }
}

pub(super) async fn list(vault: VaultRoute, Params(listing): Params<Listing>) -> Answer {
    check_review_door(&vault, listing.wing.as_deref())?;
    let Listing { wing, room, limit, offset } = listing;
    let handle = vault.open().await?;
    let drawers = handle
        .read(move |vault| {
            vault.list(wing.as_deref(), room.as_deref(), limit.unwrap_or(50), offset.unwrap_or(0))
        })
        .await?;
    Ok(Json(json!({ "drawers": drawers })).into_response())
}

pub(super) async fn get(vault: VaultRoute, Id(id): Id, Params(reading): Params<Reading>) -> Answer {
    check_review_door(&vault, reading.wing.as_deref())?;
    let handle = vault.open().await?;
    let drawer = handle.read(move |vault| vault.get(id)).await?;
    Ok(Json(json!({ "drawer": drawer })).into_response())
}

pub(super) async fn update(vault: VaultRoute, Id(id): Id, asked: Keyed<Body<Text>>) -> Answer {
    let change = Change::Update { id, text: asked.body.0.text };
    let handle = vault.open().await?;
    handle.write(WriteRequest { change, idempotency: asked.key }).await?;
    Ok(Json(json!({ "id": id, "updated": true })).into_response())
}

pub(super) async fn delete(vault: VaultRoute, Id(id): Id, asked: Keyed<NoBody>) -> Answer {
    let handle = vault.open().await?;
    handle.write(WriteRequest { change: Change::Delete(id), idempotency: asked.key }).await?;
    Ok(Json(json!({ "id": id, "deleted": true })).into_response())
}

pub(super) async fn delete_source(
    vault: VaultRoute,
    Params(of): Params<Source>,
    asked: Keyed<NoBody>,
) -> Answer {
    let handle = vault.open().await?;
    let change = Change::DeleteSource(of.source.clone());
    match handle.write(WriteRequest { change, idempotency: asked.key }).await? {
        Outcome::Deleted(ids) => {
            Ok(Json(json!({ "source": of.source, "deleted": ids.len(), "ids": ids })).into_response())
        }
        other => Err(unexpected(&other)),
    }
}

pub(super) async fn check_duplicate(vault: VaultRoute, Body(body): Body<Text>) -> Answer {
    let handle = vault.open().await?;
    let found = handle.read(move |vault| vault.find_duplicate(&body.text)).await?;
    Ok(Json(json!({ "duplicate": found.is_some(), "id": found })).into_response())
}

pub(super) async fn dedup(vault: VaultRoute, asked: Keyed<OptionalBody<Dedup>>) -> Answer {
    let apply = asked.body.0.apply;
    if !apply && asked.key.is_some() {
        return Err(Refusal::invalid(
            "invalid Idempotency-Key: without apply nothing changes; send it without",
        ));
    }
    let handle = vault.open().await?;
    if !apply {
        let report = handle.work(|vault| vault.dedup(false)).await?;
        return Ok(Json(report).into_response());
    }
    match handle.write(WriteRequest { change: Change::Dedup, idempotency: asked.key }).await? {
        Outcome::Deduplicated(report) => Ok(Json(report).into_response()),
        other => Err(unexpected(&other)),
    }
}

impl Save {
    fn into_drawer(self) -> Answer<NewDrawer> {
        refuse_unbuilt(&[("vector", &self.vector), ("dedup_threshold", &self.dedup_threshold)])?;
        let wing = self.wing.as_deref().unwrap_or("general");
        let room = self.room.as_deref().unwrap_or("inbox");
        Ok(NewDrawer {
            kind: self.kind.as_deref().map(segment).transpose()?,
            content_date: self.content_date,
            supersedes: self.supersedes.as_deref().map(segment).transpose()?,
            claims: Claims { agent: self.agent, channel: self.channel, session: self.session },
            ..NewDrawer::direct(wing, room, &self.text, AddedBy::Rest)
        })
    }
}

/// A drawer's id in the path.
pub(super) struct Id(DrawerId);

impl<S: Send + Sync> axum::extract::FromRequestParts<S> for Id {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut axum::http::request::Parts, state: &S) -> Result<Self, Refusal> {
        let Path(segments) = Path::<HashMap<String, String>>::from_request_parts(parts, state)
            .await
            .map_err(|_| Refusal::invalid("the path: it must be percent-encoded UTF-8"))?;
        let id = segments.get("drawer_id").map(String::as_str).unwrap_or_default();
        segment(id).map(Self)
    }
}

/// What awaits a ruling is the operator's to see, not the holder's of one vault's assertion.
pub(super) fn check_review_door(vault: &VaultRoute, wing: Option<&str>) -> Answer<()> {
    if wing.map(str::trim) == Some(REVIEW_WING) && vault.app.options.assertions.is_some() {
        return Err(Refusal::denied(format!(
            "wing '{REVIEW_WING}' is not read with an assertion of one vault"
        )));
    }
    Ok(())
}

/// A change answers with the outcome of its own kind; anything else is a fault of the engine.
pub(super) fn unexpected(_outcome: &Outcome) -> Refusal {
    Refusal::of(ErrorClass::Internal, "internal: the change answered with another kind of outcome")
}
