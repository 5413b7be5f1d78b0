//! Outcomes that are kept for a day, so that a request which is asked again is answered again and not done again.

use std::collections::{BTreeMap, VecDeque};

use serde::{Deserialize, Serialize};

use super::{Outcome, Refusal, Request};
use crate::limits;

/// The outcomes of requests, by their id.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Requests {
    known: BTreeMap<[u8; 32], ([u8; 32], Outcome)>,
    /// In the order in which they were kept, with the time of it.
    order: VecDeque<(u64, [u8; 32])>,
}

impl Requests {
    /// How many outcomes are kept.
    #[must_use]
    pub fn len(&self) -> usize {
        self.known.len()
    }

    /// Whether none is kept.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    /// The outcome to give without doing anything; `None` for a request that is new.
    #[must_use]
    pub fn recall(&self, request: &Request) -> Option<Outcome> {
        let (digest, outcome) = self.known.get(&request.id)?;
        let same = *digest == request.digest;
        Some(if same { outcome.clone() } else { Outcome::Refused(Refusal::RequestReused) })
    }

    /// Keeps an outcome. Refusals are not kept: what was in the way may be gone when it is asked again.
    pub(super) fn keep(&mut self, now: u64, request: &Request, outcome: &Outcome) {
        if outcome.refusal().is_none() {
            self.known.insert(request.id, (request.digest, outcome.clone()));
            self.order.push_back((now, request.id));
        }
    }

    /// Forgets what is too old or too much, a few at a time.
    pub(super) fn forget(&mut self, now: u64) {
        for _ in 0..limits::FORGOTTEN_A_STEP {
            let Some((at, id)) = self.order.front().copied() else { return };
            if now.saturating_sub(at) < limits::REMEMBERED_MS && self.order.len() <= limits::REMEMBERED {
                return;
            }
            self.order.pop_front();
            self.known.remove(&id);
        }
    }
}
