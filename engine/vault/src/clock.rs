//! Time comes in through a trait, so that tests and simulations decide it. Owns the reading of the system clock.

use std::sync::atomic::{AtomicI64, Ordering};

/// Source of wall-clock time.
pub trait Clock: Send + Sync {
    /// Microseconds since the Unix epoch.
    fn now_micros(&self) -> i64;
}

/// The machine's clock.
#[derive(Debug, Default, Clone, Copy)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now_micros(&self) -> i64 {
        jiff::Timestamp::now().as_microsecond()
    }
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
