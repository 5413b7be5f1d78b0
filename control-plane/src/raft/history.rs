//! The newest deltas of the map, kept once for all watchers, within bounds.

use std::collections::VecDeque;
use std::sync::Arc;

use super::Since;
use crate::limits;
use crate::state::Delta;

/// Deltas without a gap up to the newest version.
#[derive(Debug, Default)]
pub(super) struct History {
    deltas: VecDeque<Arc<Delta>>,
    changes: usize,
}

impl History {
    pub(super) fn push(&mut self, delta: Delta) {
        self.changes += delta.changes.len();
        self.deltas.push_back(Arc::new(delta));
        while self.deltas.len() > limits::WATCH_DELTAS || self.changes > limits::WATCH_CHANGES {
            let Some(oldest) = self.deltas.pop_front() else { return };
            self.changes -= oldest.changes.len();
        }
    }

    /// What came after `version`, when the newest is `newest`.
    pub(super) fn since(&self, version: u64, newest: u64) -> Since {
        if version > newest {
            return Since::Ahead;
        }
        let missing = (newest - version) as usize;
        match self.deltas.len().checked_sub(missing) {
            Some(first) => Since::Deltas(self.deltas.range(first..).cloned().collect()),
            None => Since::Forgotten,
        }
    }
}

#[cfg(test)]
mod tests {
    use undercroft_proto::NodeId;

    use super::{History, Since};
    use crate::limits;
    use crate::state::{Delta, MapChange};

    fn delta(version: u64, changes: usize) -> Delta {
        Delta { version, changes: vec![MapChange::NodeGone(NodeId::FIRST); changes] }
    }

    fn versions(since: Since) -> Option<Vec<u64>> {
        match since {
            Since::Deltas(deltas) => Some(deltas.iter().map(|delta| delta.version).collect()),
            Since::Forgotten | Since::Ahead => None,
        }
    }

    #[test]
    fn what_came_after_a_version_is_told_without_a_gap() {
        let mut history = History::default();
        for version in 8..=10 {
            history.push(delta(version, 1));
        }
        assert_eq!(versions(history.since(8, 10)), Some(vec![9, 10]));
        assert_eq!(versions(history.since(10, 10)), Some(vec![]));
        assert_eq!(versions(history.since(7, 10)), Some(vec![8, 9, 10]));
        assert_eq!(history.since(6, 10), Since::Forgotten);
        assert_eq!(history.since(11, 10), Since::Ahead);
        assert_eq!(History::default().since(0, 3), Since::Forgotten);
    }

    #[test]
    fn memory_is_bounded_by_changes_and_by_deltas() {
        let mut history = History::default();
        for version in 1..=300 {
            history.push(delta(version, 1000));
        }
        assert!(history.changes <= limits::WATCH_CHANGES);
        assert_eq!(history.since(1, 300), Since::Forgotten);
        assert_eq!(versions(history.since(299, 300)), Some(vec![300]));
        for version in 301..=10_000 {
            history.push(delta(version, 1));
        }
        assert_eq!(history.deltas.len(), limits::WATCH_DELTAS);
        assert_eq!(history.changes, limits::WATCH_DELTAS);
    }
}
