//! Search over one vault.

use std::time::Instant;

use axum::Json;
use axum::response::IntoResponse as _;
use serde::Deserialize;
use undercroft_text::morphology::Language;
use undercroft_vault::SearchRequest;

use super::body::{Body, Unbuilt, refuse_unbuilt};
use super::drawers::check_review_door;
use super::errors::{Answer, Refusal};
use super::vault_route::{VaultRoute, segment};

/// Hits when none are asked for, and when 0 are.
const LIMIT: usize = 5;
const LIMIT_OF_ZERO: usize = 10;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Search {
    query: String,
    wing: Option<String>,
    room: Option<String>,
    kind: Option<String>,
    limit: Option<usize>,
    offset: Option<usize>,
    ranked_at: Option<String>,
    room_cap: Option<usize>,
    language: Option<String>,
    min_trust: Unbuilt,
    as_of: Unbuilt,
    week_start: Unbuilt,
    date_order: Unbuilt,
    calendar: Unbuilt,
    vector: Unbuilt,
    when: Unbuilt,
    when_from_query: Unbuilt,
    slack: Unbuilt,
}

pub(super) async fn search(vault: VaultRoute, Body(body): Body<Search>) -> Answer {
    check_review_door(&vault, body.wing.as_deref())?;
    let request = body.into_request()?;
    let handle = vault.open().await?;
    let started = Instant::now();
    let reply = handle.read(move |vault| vault.search(&request)).await?;
    vault.app.metrics.search(vault.app.options.fusion, started.elapsed(), reply.hits.len());
    Ok(Json(reply).into_response())
}

impl Search {
    fn into_request(self) -> Answer<SearchRequest> {
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
        Ok(SearchRequest {
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
