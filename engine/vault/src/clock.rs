//! Time comes in through a trait, so that tests and simulations decide it. Owns the reading of the system clock.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

/// Source of wall-clock time.
pub trait Clock: Send + Sync {
    /// Microseconds since the Unix epoch.
    fn now_micros(&self) -> i64;
}

/// What is written with four digits of a year: from the beginning of the year 0 to an hour before the last
/// moment that calendars here know, so that what is counted from it can be written too.
const WRITABLE: std::ops::RangeInclusive<i64> = -62_167_219_200_000_000..=253_402_203_599_999_999;

/// The machine's clock. One that is set to a moment which cannot be written stands at the nearest that can.
#[derive(Debug, Default, Clone, Copy)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now_micros(&self) -> i64 {
        micros_of(SystemTime::now())
    }
}

fn micros_of(moment: SystemTime) -> i64 {
    let micros = match moment.duration_since(UNIX_EPOCH) {
        Ok(since) => i64::try_from(since.as_micros()).unwrap_or(i64::MAX),
        Err(before) => i64::try_from(before.duration().as_micros()).map_or(i64::MIN, |micros| -micros),
    };
    micros.clamp(*WRITABLE.start(), *WRITABLE.end())
}

/// A clock that stands where it was put; for tests and simulations.
#[derive(Debug)]
pub struct ManualClock(AtomicI64);

impl ManualClock {
    /// Starts at `micros` since the Unix epoch.
    #[must_use]
    pub fn new(micros: i64) -> Self {
        Self(AtomicI64::new(micros))
    }

    /// Moves the clock by `micros`, either way.
    pub fn advance(&self, micros: i64) {
        self.0.fetch_add(micros, Ordering::SeqCst);
    }
}

impl Clock for ManualClock {
    fn now_micros(&self) -> i64 {
        self.0.load(Ordering::SeqCst)
    }
}

/// Renders microseconds since the epoch as RFC 3339 in UTC.
#[must_use]
pub fn rfc3339(micros: i64) -> String {
    jiff::Timestamp::from_microsecond(micros).map_or_else(|_| String::from("invalid time"), |t| t.to_string())
}

/// Parses RFC 3339 into microseconds since the epoch.
#[must_use]
pub fn parse_rfc3339(text: &str) -> Option<i64> {
    text.parse::<jiff::Timestamp>().ok().map(jiff::Timestamp::as_microsecond)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_clock_that_is_set_to_no_year_of_four_digits_stands_at_the_nearest() {
        let second = Duration::from_secs(1);
        assert_eq!(micros_of(UNIX_EPOCH + second), 1_000_000);
        assert_eq!(micros_of(UNIX_EPOCH - second), -1_000_000);
        for seconds in [253_402_207_200, 253_402_300_800, 1_000_000_000_000, i64::MAX as u64] {
            let moment = UNIX_EPOCH.checked_add(Duration::from_secs(seconds)).unwrap();
            assert_eq!(rfc3339(micros_of(moment)), "9999-12-30T20:59:59.999999Z", "{seconds}");
        }
        for seconds in [62_167_219_201, 377_705_116_800, i64::MAX as u64] {
            let moment = UNIX_EPOCH.checked_sub(Duration::from_secs(seconds)).unwrap();
            assert_eq!(rfc3339(micros_of(moment)), "0000-01-01T00:00:00Z", "{seconds}");
        }
    }
}
