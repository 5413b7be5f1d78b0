//! Who else is served at the same time. A vault that is used alone may use the machine; beside others it makes do with half
//! of its places. Where the cores are few that is not enough: a vault that keeps clients waiting beside one that does not
//! is paced as well, so that it leaves the other a part of every core. Owns what it remembers, never a permit.

use std::time::{Duration, Instant};

use parking_lot::Mutex;

use crate::limits;

/// Notes who is used.
#[derive(Debug)]
pub(super) struct Crowd {
    since: Instant,
    /// Whether the cores are so few that one busy vault takes them all.
    few_cores: bool,
    seen: Mutex<Seen>,
}

/// What is remembered; times are since the start.
#[derive(Debug, Default)]
struct Seen {
    /// Number that the last open vault is known by.
    numbers: u64,
    /// Who was used last.
    last: u64,
    /// When another one than before was used last.
    changed: Option<Duration>,
    /// Who was used last with nobody waiting, and the last other one.
    light: [Option<(u64, Duration)>; 2],
}

/// What a vault may take now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Turn {
    /// How many of its places a read takes.
    pub(super) places: u32,
    /// Whether it pauses for what it worked, before it works again.
    pub(super) paced: bool,
}

impl Crowd {
    pub(super) fn new(cores: usize) -> Self {
        Self { since: Instant::now(), few_cores: cores < limits::ENOUGH_CORES, seen: Mutex::default() }
    }

    /// A number for an open vault.
    pub(super) fn number(&self) -> u64 {
        let mut seen = self.seen.lock();
        seen.numbers += 1;
        seen.numbers
    }

    /// Notes that this vault is used, while others of its clients wait or not, and says what it may take.
    pub(super) fn turn(&self, vault: u64, others_wait: bool) -> Turn {
        let now = self.since.elapsed();
        let mut turn = self.seen.lock().turn(vault, others_wait, now);
        turn.paced &= self.few_cores;
        turn
    }
}

impl Seen {
    fn turn(&mut self, vault: u64, others_wait: bool, now: Duration) -> Turn {
        let lately = |at: Duration| now.saturating_sub(at) < limits::CROWD_MEMORY;
        let before = std::mem::replace(&mut self.last, vault);
        if before != vault && before != 0 {
            self.changed = Some(now);
        }
        if !others_wait {
            if self.light[0].is_none_or(|(last, _)| last != vault) {
                self.light[1] = self.light[0];
            }
            self.light[0] = Some((vault, now));
        }
        let beside_light = self.light.iter().flatten().any(|(other, at)| *other != vault && lately(*at));
        let crowded = self.changed.is_some_and(lately);
        Turn { places: if crowded { 2 } else { 1 }, paced: others_wait && beside_light }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALONE: Turn = Turn { places: 1, paced: false };
    const BESIDE: Turn = Turn { places: 2, paced: false };
    const PACED: Turn = Turn { places: 2, paced: true };

    fn ms(count: u64) -> Duration {
        Duration::from_millis(count)
    }

    #[test]
    fn a_vault_that_is_used_alone_takes_one_place_and_two_beside_others() {
        let memory = limits::CROWD_MEMORY;
        let mut seen = Seen::default();
        assert_eq!([1, 2, 3].map(|now| seen.turn(1, false, ms(now))), [ALONE; 3]);
        assert_eq!((seen.turn(2, false, ms(10)), seen.turn(1, false, ms(11))), (BESIDE, BESIDE));
        assert_eq!(seen.turn(1, false, ms(10) + memory), BESIDE, "the last change was at 11");
        assert_eq!(seen.turn(1, false, ms(11) + memory), ALONE);
    }

    #[test]
    fn only_a_vault_whose_clients_wait_is_paced_and_only_beside_one_whose_do_not() {
        let mut seen = Seen::default();
        assert_eq!(seen.turn(1, true, ms(1)), ALONE);
        assert_eq!(seen.turn(2, true, ms(2)), BESIDE, "two busy vaults share");
        assert_eq!(seen.turn(3, false, ms(3)), BESIDE);
        assert_eq!((seen.turn(1, true, ms(4)), seen.turn(2, true, ms(5))), (PACED, PACED));
        assert_eq!(seen.turn(3, false, ms(6)), BESIDE);
        let later = ms(6) + limits::CROWD_MEMORY;
        assert_eq!(seen.turn(1, true, later), BESIDE, "the light one is gone");
    }

    #[test]
    fn a_busy_vault_that_once_has_nobody_waiting_is_not_its_own_reason_to_pause() {
        let mut seen = Seen::default();
        seen.turn(1, false, ms(1));
        assert_eq!(seen.turn(1, true, ms(2)), ALONE);
        seen.turn(2, false, ms(3));
        seen.turn(1, false, ms(4));
        assert_eq!(seen.turn(1, true, ms(5)), PACED, "the other light one is remembered");
    }

    #[test]
    fn numbers_differ_and_enough_cores_pace_nobody() {
        let crowd = Crowd::new(limits::ENOUGH_CORES);
        let (one, two) = (crowd.number(), crowd.number());
        assert_ne!(one, two);
        crowd.turn(two, false);
        assert!(!crowd.turn(one, true).paced);
        let crowd = Crowd::new(limits::ENOUGH_CORES - 1);
        crowd.turn(two, false);
        assert!(crowd.turn(one, true).paced);
    }
}
