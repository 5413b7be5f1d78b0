//! Challenges that were given out: each is good once, and for a minute.

use std::collections::VecDeque;

use parking_lot::Mutex;

use crate::limits;
use crate::ports::Ports;

/// The challenges that wait for their answer, oldest first.
#[derive(Default)]
pub(super) struct Challenges(Mutex<VecDeque<(u64, [u8; 32])>>);

impl Challenges {
    /// A new one. Past the bound the oldest is void.
    pub(super) fn give(&self, ports: &Ports) -> [u8; 32] {
        let challenge = ports.random();
        let mut waiting = self.0.lock();
        if waiting.len() >= limits::CHALLENGES {
            waiting.pop_front();
        }
        waiting.push_back((ports.clock.elapsed_ms(), challenge));
        challenge
    }

    /// Whether a challenge waits for its answer. It does not any more.
    pub(super) fn take(&self, ports: &Ports, challenge: &[u8; 32]) -> bool {
        let now = ports.clock.elapsed_ms();
        let mut waiting = self.0.lock();
        waiting.retain(|(at, _)| now.saturating_sub(*at) < limits::CHALLENGE_MS);
        let found = waiting.iter().position(|(_, known)| known == challenge);
        found.and_then(|at| waiting.remove(at)).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::Challenges;
    use crate::limits;
    use crate::ports::test::{manual, ports};

    #[test]
    fn a_challenge_is_good_once_and_for_a_minute() {
        let clock = manual();
        let (ports, challenges) = (ports(clock.clone()), Challenges::default());
        let first = challenges.give(&ports);
        assert!(!challenges.take(&ports, &[0; 32]), "never given");
        assert!(challenges.take(&ports, &first) && !challenges.take(&ports, &first), "once");
        let late = challenges.give(&ports);
        clock.advance(limits::CHALLENGE_MS);
        assert!(!challenges.take(&ports, &late), "too late");
    }

    #[test]
    fn past_the_bound_the_oldest_is_void() {
        let (ports, challenges) = (ports(manual()), Challenges::default());
        let first = challenges.give(&ports);
        let second = challenges.give(&ports);
        for _ in 1..limits::CHALLENGES {
            challenges.give(&ports);
        }
        assert!(!challenges.take(&ports, &first) && challenges.take(&ports, &second));
    }
}
