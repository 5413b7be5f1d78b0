//! Timings of one sort of step, and their percentiles.

use std::time::{Duration, Instant};

/// Collects durations.
#[derive(Debug, Default, Clone)]
pub struct Timings(Vec<Duration>);

impl Timings {
    /// Runs and times one step.
    pub fn time<T>(&mut self, work: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let value = work();
        self.0.push(start.elapsed());
        value
    }

    /// Adds a step that was timed elsewhere.
    pub fn push(&mut self, took: Duration) {
        self.0.push(took);
    }

    /// Adds all steps of another.
    pub fn join(&mut self, other: Self) {
        self.0.extend(other.0);
    }

    /// How many steps there were.
    #[must_use]
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// The duration below which `percent` of the steps stayed, in milliseconds.
    #[must_use]
    pub fn percentile_ms(&self, percent: usize) -> f64 {
        let mut sorted = self.0.clone();
        sorted.sort();
        let at = (sorted.len() * percent / 100).min(sorted.len().saturating_sub(1));
        sorted.get(at).map_or(f64::NAN, |time| time.as_secs_f64() * 1e3)
    }

    /// The mean, in milliseconds.
    #[must_use]
    pub fn mean_ms(&self) -> f64 {
        self.0.iter().sum::<Duration>().as_secs_f64() * 1e3 / self.0.len().max(1) as f64
    }

    /// All steps together, in seconds.
    #[must_use]
    pub fn total_secs(&self) -> f64 {
        self.0.iter().sum::<Duration>().as_secs_f64()
    }
}
