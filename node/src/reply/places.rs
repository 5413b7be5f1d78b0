//! Replies about where things are filed.

use serde::Serialize;
use undercroft_text::snippet::snippet;
use undercroft_vault::{Drawer, DrawerId};
use utoipa::ToSchema;

/// Characters of a drawer's preview.
const PREVIEW: usize = 120;

/// What was filed last.
#[derive(Debug, Serialize, ToSchema)]
pub struct WakeUp {
    /// The newest drawers, the newest first.
    pub drawers: Vec<WakeUpDrawer>,
}

/// One of the newest drawers.
#[derive(Debug, Serialize, ToSchema)]
pub struct WakeUpDrawer {
    /// Its id.
    pub id: DrawerId,
    /// Its wing.
    pub wing: String,
    /// Its room.
    pub room: String,
    /// Start of the words, on one line.
    pub preview: String,
    /// When it was filed (RFC 3339).
    pub filed_at: String,
}

impl From<&[Drawer]> for WakeUp {
    fn from(drawers: &[Drawer]) -> Self {
        Self { drawers: drawers.iter().map(WakeUpDrawer::from).collect() }
    }
}

impl From<&Drawer> for WakeUpDrawer {
    fn from(drawer: &Drawer) -> Self {
        Self {
            id: drawer.id,
            wing: drawer.meta.wing.clone(),
            room: drawer.meta.room.clone(),
            preview: snippet(&drawer.content, "", PREVIEW),
            filed_at: drawer.meta.filed_at.clone(),
        }
    }
}
