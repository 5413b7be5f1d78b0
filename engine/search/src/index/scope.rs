//! Owns which slots compete under a filter. It never touches a score.

use super::documents::Documents;
use super::names::{NONE, NameId};
use crate::query::Filter;

/// A filter, resolved to numbers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scope {
    /// By place: whether its drawers compete.
    places: Vec<bool>,
    /// The kind demanded; `Some(None)` when no drawer has it.
    kind: Option<Option<NameId>>,
}

impl Scope {
    /// Resolves a filter against the names of an index.
    pub(crate) fn resolve(documents: &Documents, filter: &Filter<'_>) -> Self {
        let wings: Vec<bool> = documents.wings.iter().map(|wing| wing_competes(filter, wing)).collect();
        let rooms: Vec<bool> =
            documents.rooms.iter().map(|room| filter.room.is_none_or(|wanted| wanted == room)).collect();
        let place = |(wing, room): &(NameId, NameId)| wings[*wing as usize] && rooms[*room as usize];
        Self {
            places: documents.place_names.iter().map(place).collect(),
            kind: filter.kind.map(|kind| documents.kind_names.find(kind)),
        }
    }

    /// Whether a live slot competes.
    #[inline]
    pub(crate) fn admits(&self, documents: &Documents, slot: usize) -> bool {
        self.places[documents.places[slot] as usize]
            && self.kind.is_none_or(|wanted| wanted == Some(documents.kinds[slot]))
    }

    /// Whether a live slot is left out for having no kind, and for nothing else.
    #[inline]
    pub(crate) fn is_unlabeled(&self, documents: &Documents, slot: usize) -> bool {
        self.places[documents.places[slot] as usize] && documents.kinds[slot] == NONE
    }

    /// Whether a kind is demanded.
    pub(crate) fn has_kind(&self) -> bool {
        self.kind.is_some()
    }
}

fn wing_competes(filter: &Filter<'_>, wing: &str) -> bool {
    let admitted = match filter.wing {
        Some(wanted) => wanted == wing,
        None => !filter.excluded_wings.contains(&wing),
    };
    admitted && filter.allowed_wings.is_none_or(|allowed| allowed.contains(&wing))
}
