//! What became of one message: an answer, or a change that has to be made before there is one.

use serde_json::Value;
use undercroft_vault::{Change, Outcome};

use super::protocol::{Answer, called};
use super::tools::Finish;

/// How far a message was carried out.
pub enum Step {
    /// It is answered.
    Done(Answer),
    /// Make this change, durably, and tell what came of it.
    Write(Change, Pending),
}

/// A call that waits for its change.
pub struct Pending {
    pub(super) id: Value,
    pub(super) finish: Finish,
}

impl Pending {
    /// The answer, once the change was made or refused.
    #[must_use]
    pub fn finish(self, outcome: crate::Result<Outcome>) -> Answer {
        let Self { id, finish } = self;
        called(&id, outcome.map_err(Into::into).and_then(finish))
    }
}

impl Step {
    /// The answer, with a change made by `write`. Blocks as long as that does.
    #[must_use]
    pub fn answer(self, write: impl FnOnce(Change) -> crate::Result<Outcome>) -> Answer {
        match self {
            Self::Done(answer) => answer,
            Self::Write(change, pending) => pending.finish(write(change)),
        }
    }
}
