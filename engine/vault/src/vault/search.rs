//! Search over one vault: rank on the index, then open what is returned through the read door.

use rusqlite::Connection;
use serde::Serialize;
use undercroft_crypto::Blind;
use undercroft_search::{Filter, FusionConfig, Gate, Hit, Page, Query, Ranked};
use undercroft_text::entities::entities;
use undercroft_text::morphology::Language;

use super::{Opened, Vault, validate};
use crate::clock::{parse_rfc3339, rfc3339};
use crate::drawers::table;
use crate::drawers::{DrawerId, Kind, Occurrence};
use crate::error::{Error, Result};
use crate::limits;

/// What is looked for, where, and which ranks are wanted.
#[derive(Debug, Clone, Default)]
pub struct SearchRequest {
    /// The question, any text.
    pub query: String,
    /// Only this wing.
    pub wing: Option<String>,
    /// Only this room.
    pub room: Option<String>,
    /// Only this declared kind.
    pub kind: Option<Kind>,
    /// Ranks wanted (at least 1).
    pub limit: usize,
    /// Ranks skipped.
    pub offset: usize,
    /// The instant that recency is measured from (RFC 3339); now when absent. Pages of one ranking name the same one.
    pub ranked_at: Option<String>,
    /// Hits each room gives before any gives more.
    pub room_cap: Option<usize>,
    /// Language of the words, for their forms; found out per text when absent.
    pub language: Option<Language>,
}

/// One found drawer. Fields that depend on readings which this version does not make are null.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct SearchHit {
    /// Drawer id.
    pub id: DrawerId,
    /// The words, byte for byte.
    pub content: String,
    /// Its wing.
    pub wing: String,
    /// Its room.
    pub room: String,
    /// The day the words are about.
    #[cfg_attr(feature = "schema", schema(required))]
    pub content_date: Option<String>,
    /// When it was filed.
    pub filed_at: String,
    /// Further days on which the same words were recorded.
    pub occurrences: Vec<Occurrence>,
    /// Dates read out of the text; this version reads none.
    #[cfg_attr(feature = "schema", schema(required, value_type = Option<Vec<String>>))]
    pub time_mentions: Option<Vec<()>>,
    /// Whether a reading of dates differs from the sealed one; this version reads none.
    #[cfg_attr(feature = "schema", schema(required))]
    pub mentions_restated: Option<bool>,
    /// Names found in the words.
    pub entities: Vec<String>,
    /// Days between the content date and the asked instant; this version computes none.
    #[cfg_attr(feature = "schema", schema(required))]
    pub elapsed_days: Option<i64>,
    /// The same in weeks.
    #[cfg_attr(feature = "schema", schema(required))]
    pub elapsed_weeks: Option<i64>,
    /// The same in months.
    #[cfg_attr(feature = "schema", schema(required))]
    pub elapsed_months: Option<i64>,
    /// The same in words.
    #[cfg_attr(feature = "schema", schema(required))]
    pub elapsed: Option<String>,
    /// Whether both carry the same offset.
    #[cfg_attr(feature = "schema", schema(required))]
    pub same_frame: Option<bool>,
    /// Fused score.
    pub score: f32,
    /// Likeness of meaning.
    pub semantic: f32,
    /// All evidence of words.
    pub lexical: f32,
    /// Words as typed.
    pub lexical_exact: f32,
    /// Words in another form.
    pub lexical_morph: f32,
}

/// The answer to a search.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct SearchReply {
    /// The page, best first.
    pub hits: Vec<SearchHit>,
    /// Offset of the next page.
    pub next_offset: usize,
    /// The instant of this ranking: pass it on to get the next page of the same one.
    pub ranked_at: String,
    /// With a kind asked for: drawers in scope that declare none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(nullable = false))]
    pub unlabeled_excluded: Option<usize>,
}

impl Vault {
    /// Finds drawers by meaning and by word.
    ///
    /// # Errors
    /// An invalid field; an integrity error when a drawer that would be returned fails its check.
    pub fn search(&self, request: &SearchRequest) -> Result<SearchReply> {
        let now = check(request, self.now())?;
        let vector = self.embed(&request.query)?;
        let query = Query {
            text: &request.query,
            vector: Some(vector),
            language: request.language,
            now_micros: now,
            fusion: self.fusion(),
        };
        let filter = Filter {
            wing: request.wing.as_deref().map(str::trim),
            room: request.room.as_deref().map(str::trim),
            kind: request.kind.map(Kind::as_str),
            excluded_wings: &[validate::REVIEW_WING],
            allowed_wings: None,
        };
        let page = Page { limit: request.limit, offset: request.offset, room_cap: request.room_cap };
        let (current, snapshot) = self.index.current(self)?;
        let Ranked { hits, unlabeled_excluded, .. } = current.index.search(&query, &filter, &page);
        drop(current);
        let mut room = limits::MAX_SEARCH_TEXT_BYTES;
        let hits = snapshot.with(|conn| {
            let full = |hit: &Hit| {
                let found = self.hydrate(conn, hit)?;
                room = room.checked_sub(found.content.len()).ok_or_else(too_much_text)?;
                Ok(found)
            };
            hits.iter().map(full).collect::<Result<Vec<_>>>()
        })?;
        Ok(SearchReply {
            next_offset: request.offset + hits.len(),
            hits,
            ranked_at: rfc3339(now),
            unlabeled_excluded,
        })
    }

    fn fusion(&self) -> FusionConfig {
        let config = &self.options.config;
        let embedder = &self.options.embedder;
        FusionConfig {
            mode: config.fusion,
            semantic_weight: config.semantic_weight,
            gate: config.gate.unwrap_or(Gate::At(embedder.gate())),
            floor: config.floor.unwrap_or_else(|| embedder.floor()),
        }
    }

    fn hydrate(&self, conn: &Connection, hit: &Hit) -> Result<SearchHit> {
        let rid = Blind::from_bytes(*hit.key.as_bytes());
        let row = table::by_rid(conn, &rid)?.ok_or_else(|| {
            Error::record("drawer row", hit.seq, "the index knows it, but its row is missing")
        })?;
        let Opened { stored, text, .. } = self.open_row(conn, row)?;
        let meta = stored.meta;
        Ok(SearchHit {
            id: stored.id,
            entities: entities(&text),
            content: text,
            wing: meta.wing,
            room: meta.room,
            content_date: meta.content_date,
            filed_at: meta.filed_at,
            occurrences: meta.occurrences,
            time_mentions: None,
            mentions_restated: None,
            elapsed_days: None,
            elapsed_weeks: None,
            elapsed_months: None,
            elapsed: None,
            same_frame: None,
            score: hit.score,
            semantic: hit.semantic,
            lexical: hit.lexical,
            lexical_exact: hit.lexical_exact,
            lexical_morph: hit.lexical_morph,
        })
    }
}

fn too_much_text() -> Error {
    let reason = format!(
        "the texts of so many hits are over {} bytes; ask for fewer, and for the next ones with offset",
        limits::MAX_SEARCH_TEXT_BYTES
    );
    Error::invalid("limit", reason)
}

/// Checks the request and gives the instant of the ranking.
fn check(request: &SearchRequest, now: i64) -> Result<i64> {
    if request.query.len() > limits::MAX_QUERY_BYTES {
        let reason = format!(
            "{} bytes is over the limit of {}; shorten it",
            request.query.len(),
            limits::MAX_QUERY_BYTES
        );
        return Err(Error::invalid("query", reason));
    }
    if request.limit == 0 {
        return Err(Error::invalid("limit", "ask for at least 1 hit"));
    }
    if request.limit.saturating_add(request.offset) > limits::MAX_SEARCH_DEPTH {
        let reason =
            format!("limit + offset is over {}; narrow the search instead", limits::MAX_SEARCH_DEPTH);
        return Err(Error::invalid("limit", reason));
    }
    match &request.ranked_at {
        None => Ok(now),
        Some(text) => parse_rfc3339(text).ok_or_else(|| {
            Error::invalid("ranked_at", format!("'{text}' is not RFC 3339; use the one of the first page"))
        }),
    }
}
