//! Search over one vault.

use std::time::Instant;

use axum::Json;
use serde::Deserialize;
use undercroft_text::morphology::Language;
use undercroft_vault::{Kind, SearchReply};
use utoipa::ToSchema;
use utoipa::openapi::schema::{Object, ObjectBuilder, SchemaType, Type};

use super::body::{Body, Unbuilt, refuse_unbuilt};
use super::drawers::check_review_door;
use super::errors::{Answer, Refusal};
use super::vault_route::{VaultRoute, segment};

/// Hits when none are asked for, and when 0 are.
const LIMIT: usize = 5;
const LIMIT_OF_ZERO: usize = 10;

/// What to look for, where, and which ranks to answer.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SearchRequest {
    /// The question, any text.
    #[schema(max_length = 400_000)]
    query: String,
    /// Only this wing.
    wing: Option<String>,
    /// Only this room.
    room: Option<String>,
    /// Only this declared kind.
    #[schema(value_type = Option<Kind>)]
    kind: Option<String>,
    /// Ranks; 5 when absent, 10 for 0. With `offset` at most 10000.
    #[schema(maximum = 10_000)]
    limit: Option<usize>,
    /// Ranks skipped.
    #[schema(maximum = 10_000)]
    offset: Option<usize>,
    /// The instant that recency is measured from; now when absent. Pages of one ranking name the same one.
    #[schema(format = DateTime)]
    ranked_at: Option<String>,
    /// Hits that each room gives before any gives more.
    room_cap: Option<usize>,
    /// Language of the words, for their forms; found out for each text when absent.
    #[schema(schema_with = languages, required = false)]
    language: Option<String>,
    #[serde(default)]
    min_trust: Unbuilt,
    #[serde(default)]
    as_of: Unbuilt,
    #[serde(default)]
    week_start: Unbuilt,
    #[serde(default)]
    date_order: Unbuilt,
    #[serde(default)]
    calendar: Unbuilt,
    #[serde(default)]
    vector: Unbuilt,
    #[serde(default)]
    when: Unbuilt,
    #[serde(default)]
    when_from_query: Unbuilt,
    #[serde(default)]
    slack: Unbuilt,
}

pub(super) async fn search(vault: VaultRoute, Body(body): Body<SearchRequest>) -> Answer<Json<SearchReply>> {
    check_review_door(&vault, body.wing.as_deref())?;
    let request = body.into_request()?;
    let handle = vault.open().await?;
    let started = Instant::now();
    let reply = handle.read(move |vault| vault.search(&request)).await?;
    vault.app.metrics.search(vault.app.options.fusion, started.elapsed(), reply.hits.len());
    Ok(Json(reply))
}

impl SearchRequest {
    fn into_request(self) -> Answer<undercroft_vault::SearchRequest> {
        refuse_unbuilt(&[
            ("min_trust", &self.min_trust),
            ("as_of", &self.as_of),
            ("week_start", &self.week_start),
            ("date_order", &self.date_order),
            ("calendar", &self.calendar),
            ("vector", &self.vector),
            ("when", &self.when),
            ("when_from_query", &self.when_from_query),
            ("slack", &self.slack),
        ])?;
        Ok(undercroft_vault::SearchRequest {
            kind: self.kind.as_deref().map(segment).transpose()?,
            language: self.language.as_deref().map(language).transpose()?,
            query: self.query,
            wing: self.wing,
            room: self.room,
            limit: match self.limit {
                None => LIMIT,
                Some(0) => LIMIT_OF_ZERO,
                Some(limit) => limit,
            },
            offset: self.offset.unwrap_or(0),
            ranked_at: self.ranked_at,
            room_cap: self.room_cap,
        })
    }
}

fn language(text: &str) -> Answer<Language> {
    Language::parse(text).ok_or_else(|| {
        let known = Language::ALL.map(|(_, code, _)| code).join(", ");
        Refusal::invalid(format!("invalid language: use one of {known}"))
    })
}

fn languages() -> Object {
    let words = Language::ALL.map(|(_, code, _)| serde_json::Value::from(code));
    let words = words.into_iter().chain([serde_json::Value::Null]);
    let either = SchemaType::Array(vec![Type::String, Type::Null]);
    ObjectBuilder::new().schema_type(either).enum_values(Some(words)).build()
}
