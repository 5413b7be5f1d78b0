//! What a caller hands to the write door. Owns the shapes; the door validates them.

use super::id::DrawerId;
use super::provenance::{AddedBy, Claims, Kind};

/// Where a text stands in the source it was taken from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    /// The source as the caller names it (a path, a URL).
    pub source: String,
    /// Position of this text among the texts of the source.
    pub chunk: u32,
    /// First line, 1-based, where known.
    pub line_start: Option<u32>,
    /// Last line, 1-based, where known.
    pub line_end: Option<u32>,
}

/// One text to be kept.
#[derive(Debug, Clone)]
pub struct NewDrawer {
    /// The words, kept byte for byte (at most 100,000 bytes).
    pub text: String,
    /// Person or project.
    pub wing: String,
    /// Topic.
    pub room: String,
    /// Its place in a source; `None` for a direct save, which always makes a new drawer.
    pub origin: Option<Origin>,
    /// The surface that files it.
    pub added_by: AddedBy,
    /// Declared kind.
    pub kind: Option<Kind>,
    /// RFC 3339 or YYYY-MM-DD: the day the words are about, anchor of relative dates.
    pub content_date: Option<String>,
    /// The drawer that this one updates; that one stays.
    pub supersedes: Option<DrawerId>,
    /// Unchecked provenance.
    pub claims: Claims,
}

impl NewDrawer {
    /// A direct save into a room, everything else absent.
    #[must_use]
    pub fn direct(wing: &str, room: &str, text: &str, added_by: AddedBy) -> Self {
        Self {
            text: text.to_owned(),
            wing: wing.to_owned(),
            room: room.to_owned(),
            origin: None,
            added_by,
            kind: None,
            content_date: None,
            supersedes: None,
            claims: Claims::default(),
        }
    }

    /// A text of a source.
    #[must_use]
    pub fn from_source(wing: &str, room: &str, text: &str, added_by: AddedBy, origin: Origin) -> Self {
        Self { origin: Some(origin), ..Self::direct(wing, room, text, added_by) }
    }
}

/// A part of one source's drawers, filed in one transaction. The last part removes what the source no longer has.
#[derive(Debug, Clone)]
pub struct SourceBatch {
    /// The source, as in every drawer's origin.
    pub source: String,
    /// The wing that the source is filed into.
    pub wing: String,
    /// The surface that files it, as in every drawer: what other surfaces filed from the source is not this batch's.
    pub added_by: AddedBy,
    /// Consecutive texts of the source.
    pub drawers: Vec<NewDrawer>,
    /// `Some(n)` in the last part: the source now has `n` texts, and drawers of this source, wing and surface at
    /// positions `n` and above are destroyed in the same transaction.
    pub total: Option<u32>,
    /// What the caller saw of the source. When that is no longer so, nothing of the part is filed.
    pub expects: Option<SourceState>,
}

/// What is filed from a source at a moment, in every wing: another one after each write to any of its drawers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SourceState {
    /// How many drawers.
    pub(crate) drawers: i64,
    /// Position in the audit chain of the newest version among them.
    pub(crate) newest: i64,
}
