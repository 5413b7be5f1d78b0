//! Replies about drawers.

use serde::Serialize;
use undercroft_vault::{Drawer, DrawerId, ListedDrawer};
use utoipa::ToSchema;

/// A text was kept.
#[derive(Debug, Serialize, ToSchema)]
pub struct Saved {
    /// The drawer that holds it.
    pub id: DrawerId,
    /// A drawer was made; otherwise one of the same id was there.
    pub created: bool,
    /// A drawer that was alike was refreshed instead; this version refreshes none.
    pub deduped: bool,
    /// The screen holds it back; this version has none.
    pub quarantined: bool,
}

impl From<undercroft_vault::Saved> for Saved {
    fn from(saved: undercroft_vault::Saved) -> Self {
        Self { id: saved.id, created: saved.created, deduped: false, quarantined: false }
    }
}

/// A page of drawers, newest filed first.
#[derive(Debug, Serialize, ToSchema)]
pub struct DrawerList {
    /// The page.
    pub drawers: Vec<ListedDrawer>,
}

/// One drawer.
#[derive(Debug, Serialize, ToSchema)]
pub struct FoundDrawer {
    /// With its words and everything that is known of it.
    pub drawer: Drawer,
}

/// A drawer holds other words now.
#[derive(Debug, Serialize, ToSchema)]
pub struct Updated {
    /// Which one.
    pub id: DrawerId,
    /// Always true.
    pub updated: bool,
}

impl Updated {
    /// Of one drawer.
    #[must_use]
    pub fn of(id: DrawerId) -> Self {
        Self { id, updated: true }
    }
}

/// A drawer is destroyed.
#[derive(Debug, Serialize, ToSchema)]
pub struct Deleted {
    /// Which one.
    pub id: DrawerId,
    /// Always true.
    pub deleted: bool,
}

impl Deleted {
    /// Of one drawer.
    #[must_use]
    pub fn of(id: DrawerId) -> Self {
        Self { id, deleted: true }
    }
}

/// Every drawer of a source is destroyed.
#[derive(Debug, Serialize, ToSchema)]
pub struct SourceDeleted {
    /// The source, as it was asked for.
    pub source: String,
    /// How many drawers it had.
    pub deleted: usize,
    /// Which.
    pub ids: Vec<DrawerId>,
}

impl SourceDeleted {
    /// What was destroyed of one source.
    #[must_use]
    pub fn of(source: String, ids: Vec<DrawerId>) -> Self {
        Self { source, deleted: ids.len(), ids }
    }
}

/// Whether a text is filed already.
#[derive(Debug, Serialize, ToSchema)]
pub struct Duplicate {
    /// It is.
    pub duplicate: bool,
    /// The drawer that holds it.
    #[schema(required)]
    pub id: Option<DrawerId>,
}

impl From<Option<DrawerId>> for Duplicate {
    fn from(found: Option<DrawerId>) -> Self {
        Self { duplicate: found.is_some(), id: found }
    }
}
