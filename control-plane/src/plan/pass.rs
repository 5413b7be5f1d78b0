//! One pass: every part of the plan in its order, within the bound of an entry.

use super::sketch::Sketch;
use super::{Observed, changes, health, leaders, replicas};
use crate::limits;
use crate::state::{Command, State};

/// What should be decided next, most needed first; empty when everything is as it should be.
///
/// `now` is in milliseconds by the clock that [`Observed`] was kept with. What a node is called, live or dead, is decided
/// first and acted on in the next pass, so that every replacement follows from an entry of the log.
#[must_use]
pub fn plan(state: &State, observed: &Observed, now: u64) -> Vec<Command> {
    let Some(settings) = state.cluster().settings() else { return Vec::new() };
    let mut moves = Vec::new();
    health::moves(state, observed, now, &mut moves);
    if !moves.is_empty() {
        return moves;
    }
    let mut sketch = Sketch::new(state);
    changes::moves(&sketch, observed, &mut moves);
    replicas::moves(&mut sketch, settings.replicas.into(), &mut moves);
    leaders::moves(&sketch, &mut moves);
    moves.truncate(limits::MOVES);
    moves
}

#[cfg(test)]
#[path = "pass_test.rs"]
mod pass_test;
