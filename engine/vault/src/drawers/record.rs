//! A drawer as callers see it, and the metadata record as it is sealed.

use serde::{Deserialize, Serialize};

use super::id::DrawerId;
use super::provenance::{AddedBy, Kind};
use super::receipt::Receipt;

/// A further day on which the same text was recorded.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct Occurrence {
    /// The day the words were about, then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(nullable = false))]
    pub content_date: Option<String>,
    /// When that copy was filed (RFC 3339).
    pub filed_at: String,
}

/// The metadata of a drawer, in the order in which every surface shows it. Absent fields are left out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct DrawerMeta {
    /// Person or project.
    pub wing: String,
    /// Topic.
    pub room: String,
    /// The source, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(nullable = false))]
    pub source_file: Option<String>,
    /// Position in the source, or the append index of a direct save.
    pub chunk_index: u32,
    /// The surface that filed it.
    pub added_by: AddedBy,
    /// When it was filed (RFC 3339); the retention clock.
    pub filed_at: String,
    /// Version of the normalising rule that went into the id.
    pub normalize_version: u32,
    /// Name of the id's recipe.
    pub id_recipe: String,
    /// First line in the source, 1-based.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(nullable = false))]
    pub line_start: Option<u32>,
    /// Last line in the source, 1-based.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(nullable = false))]
    pub line_end: Option<u32>,
    /// The day the words are about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(nullable = false))]
    pub content_date: Option<String>,
    /// Declared kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(nullable = false))]
    pub kind: Option<Kind>,
    /// The drawer that this one updates.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(nullable = false))]
    pub supersedes: Option<DrawerId>,
    /// Claimed author.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(nullable = false))]
    pub agent: Option<String>,
    /// Claimed channel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(nullable = false))]
    pub channel: Option<String>,
    /// Claimed conversation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(nullable = false))]
    pub session: Option<String>,
    /// Further days on which the same text was recorded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub occurrences: Vec<Occurrence>,
}

/// One drawer, verified and opened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Drawer {
    /// Its id.
    pub id: DrawerId,
    /// The words, byte for byte.
    pub content: String,
    /// Everything else.
    pub meta: DrawerMeta,
}

/// The metadata record as it is sealed: what callers see, and what only the engine needs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct StoredMeta {
    /// The id that clients see; on disk it stands only in here.
    pub(crate) id: DrawerId,
    /// What callers see.
    pub(crate) meta: DrawerMeta,
    /// When the words last changed, microseconds since the epoch.
    pub(crate) updated_at: i64,
    /// When they were first filed, microseconds since the epoch: `filed_at` without parsing.
    pub(crate) filed_micros: i64,
    /// Receipt of the supersession link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) receipt: Option<Receipt>,
}

impl DrawerMeta {
    /// Own date and further days, sorted, one for each distinct content date.
    #[must_use]
    pub fn all_occurrences(&self) -> Vec<Occurrence> {
        let own = Occurrence { content_date: self.content_date.clone(), filed_at: self.filed_at.clone() };
        let mut all: Vec<Occurrence> = self.occurrences.iter().cloned().chain([own]).collect();
        all.sort();
        all.dedup_by(|later, earlier| later.content_date == earlier.content_date);
        all
    }
}
