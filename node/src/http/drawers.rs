//! Drawers: keep, list, read, change, destroy, look for copies.

use axum::Json;
use axum::extract::Path;
use serde::Deserialize;
use std::collections::HashMap;
use undercroft_palace::ErrorClass;
use undercroft_vault::{
    AddedBy, Change, Claims, DedupReport, DrawerId, Kind, NewDrawer, Outcome, WriteRequest,
};
use utoipa::openapi::schema::{
    AnyOfBuilder, KnownFormat, Object, ObjectBuilder, Schema, SchemaFormat, SchemaType, Type,
};
use utoipa::{IntoParams, PartialSchema as _, ToSchema};

use super::body::{Body, OptionalBody, Params, Unbuilt, refuse_unbuilt};
use super::contract::{Asks, Draft, NAME, named};
use super::errors::{Answer, Refusal};
use super::once::{Keyed, NoBody};
use super::vault_route::{VaultRoute, segment};
use crate::reply::{Deleted, DrawerList, Duplicate, FoundDrawer, Saved, SourceDeleted, Updated};

/// Wing of texts that await a ruling.
const REVIEW_WING: &str = "quarantine-pending";

/// A text to keep, where, and what is said about it.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SaveRequest {
    /// The words, at most 100000 bytes and something to read among them; they are kept byte for byte.
    #[schema(min_length = 1, max_length = 100_000)]
    text: String,
    /// Person or project; `general` when absent.
    #[schema(schema_with = name, required = false)]
    wing: Option<String>,
    /// Topic; `inbox` when absent.
    #[schema(schema_with = name, required = false)]
    room: Option<String>,
    /// What kind of statement it is.
    #[schema(value_type = Option<Kind>)]
    kind: Option<String>,
    /// The day the words are about: `YYYY-MM-DD`, or an RFC 3339 time.
    #[schema(schema_with = content_date, required = false)]
    content_date: Option<String>,
    /// The drawer that this one updates.
    #[schema(value_type = Option<DrawerId>)]
    supersedes: Option<String>,
    /// The agent that says it wrote this.
    #[schema(schema_with = name, required = false)]
    agent: Option<String>,
    /// The channel it came through.
    #[schema(schema_with = name, required = false)]
    channel: Option<String>,
    /// The conversation it belongs to.
    #[schema(schema_with = name, required = false)]
    session: Option<String>,
    #[serde(default)]
    vector: Unbuilt,
    #[serde(default)]
    dedup_threshold: Unbuilt,
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub(super) struct Listing {
    /// Only this wing.
    #[param(nullable = false)]
    wing: Option<String>,
    /// Only this room.
    #[param(nullable = false)]
    room: Option<String>,
    /// Drawers of the page; 50 when absent.
    #[param(nullable = false, minimum = 1, maximum = 500)]
    limit: Option<usize>,
    /// Drawers skipped.
    #[param(nullable = false)]
    offset: Option<usize>,
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub(super) struct Reading {
    /// `quarantine-pending`, to read what awaits a ruling.
    #[param(nullable = false)]
    wing: Option<String>,
}

/// Words.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct TextRequest {
    /// The words, at most 100000 bytes and something to read among them.
    #[schema(min_length = 1, max_length = 100_000)]
    text: String,
}

/// Words to look for.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct CopyRequest {
    /// The words, as they may be filed.
    text: String,
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub(super) struct Source {
    /// The source file, as it stands in its drawers.
    source: String,
}

/// Whether copies are removed, or counted only.
#[derive(Deserialize, Default, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct DedupRequest {
    /// Remove them.
    apply: bool,
}

pub(super) async fn save(vault: VaultRoute, asked: Keyed<Body<SaveRequest>>) -> Answer<Json<Saved>> {
    let change = Change::Save(asked.body.0.into_drawer()?);
    let handle = vault.open().await?;
    match handle.write(WriteRequest { change, idempotency: asked.key }).await? {
        Outcome::Saved(saved) => Ok(Json(saved.into())),
        other => Err(unexpected(&other)),
    }
}

pub(super) async fn list(vault: VaultRoute, Params(listing): Params<Listing>) -> Answer<Json<DrawerList>> {
    check_review_door(&vault, listing.wing.as_deref())?;
    let Listing { wing, room, limit, offset } = listing;
    let handle = vault.open().await?;
    let drawers = handle
        .read(move |vault| {
            vault.list(wing.as_deref(), room.as_deref(), limit.unwrap_or(50), offset.unwrap_or(0))
        })
        .await?;
    Ok(Json(DrawerList { drawers }))
}

pub(super) async fn get(
    vault: VaultRoute,
    Id(id): Id,
    Params(reading): Params<Reading>,
) -> Answer<Json<FoundDrawer>> {
    check_review_door(&vault, reading.wing.as_deref())?;
    let handle = vault.open().await?;
    let drawer = handle.read(move |vault| vault.get(id)).await?;
    Ok(Json(FoundDrawer { drawer }))
}

pub(super) async fn update(
    vault: VaultRoute,
    Id(id): Id,
    asked: Keyed<Body<TextRequest>>,
) -> Answer<Json<Updated>> {
    let change = Change::Update { id, text: asked.body.0.text };
    let handle = vault.open().await?;
    handle.write(WriteRequest { change, idempotency: asked.key }).await?;
    Ok(Json(Updated::of(id)))
}

pub(super) async fn delete(vault: VaultRoute, Id(id): Id, asked: Keyed<NoBody>) -> Answer<Json<Deleted>> {
    let handle = vault.open().await?;
    handle.write(WriteRequest { change: Change::Delete(id), idempotency: asked.key }).await?;
    Ok(Json(Deleted::of(id)))
}

pub(super) async fn delete_source(
    vault: VaultRoute,
    Params(of): Params<Source>,
    asked: Keyed<NoBody>,
) -> Answer<Json<SourceDeleted>> {
    let handle = vault.open().await?;
    let change = Change::DeleteSource(of.source.clone());
    match handle.write(WriteRequest { change, idempotency: asked.key }).await? {
        Outcome::Deleted(ids) => Ok(Json(SourceDeleted::of(of.source, ids))),
        other => Err(unexpected(&other)),
    }
}

pub(super) async fn check_duplicate(
    vault: VaultRoute,
    Body(body): Body<CopyRequest>,
) -> Answer<Json<Duplicate>> {
    let handle = vault.open().await?;
    let found = handle.read(move |vault| vault.find_duplicate(&body.text)).await?;
    Ok(Json(found.into()))
}

pub(super) async fn dedup(
    vault: VaultRoute,
    asked: Keyed<OptionalBody<DedupRequest>>,
) -> Answer<Json<DedupReport>> {
    let apply = asked.body.0.apply;
    if !apply && asked.key.is_some() {
        return Err(Refusal::invalid(
            "invalid Idempotency-Key: without apply nothing changes; send it without",
        ));
    }
    if !apply {
        let (place, handle) = vault.open_for_long().await?;
        let report = handle.work(place, |vault| vault.dedup(false)).await?;
        return Ok(Json(report));
    }
    let handle = vault.open().await?;
    match handle.write(WriteRequest { change: Change::Dedup, idempotency: asked.key }).await? {
        Outcome::Deduplicated(report) => Ok(Json(report)),
        other => Err(unexpected(&other)),
    }
}

impl SaveRequest {
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

impl Asks for Id {
    fn ask(draft: &mut Draft) {
        draft.segment("drawer_id", "The drawer's id.", DrawerId::schema());
    }
}

/// A day or a time, which may be missing.
fn content_date() -> Schema {
    let text = |format| {
        ObjectBuilder::new().schema_type(Type::String).format(Some(SchemaFormat::KnownFormat(format)))
    };
    AnyOfBuilder::new()
        .item(text(KnownFormat::Date))
        .item(text(KnownFormat::DateTime))
        .item(ObjectBuilder::new().schema_type(Type::Null))
        .build()
        .into()
}

/// A name that may be missing.
fn name() -> Object {
    let mut name = named(NAME);
    name.schema_type = SchemaType::Array(vec![Type::String, Type::Null]);
    name
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
