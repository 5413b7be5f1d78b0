//! What a paced vault owes: a pause for its work. Short debts are gathered, since the clock of a pause is coarse.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::limits;

/// The pause that one vault owes.
#[derive(Debug, Default)]
pub(super) struct Pace(AtomicU64);

impl Pace {
    /// Notes work of a vault that is paced.
    pub(super) fn owe(&self, worked: Duration) {
        // Beyond the longest pause it does not matter.
        let micros = u64::try_from(worked.min(limits::PAUSE_AT_MOST).as_micros()).unwrap_or(u64::MAX);
        self.0.fetch_add(micros * limits::PAUSE_PERCENT / 100, Ordering::Relaxed);
    }

    /// The pause to make now, if it is worth one. It is owed no more.
    pub(super) fn due(&self) -> Option<Duration> {
        let owed = Duration::from_micros(self.0.load(Ordering::Relaxed));
        if owed < limits::PAUSE_AT_LEAST {
            return None;
        }
        // Whatever is owed beyond the longest pause is let off: nobody waits for minutes because of one long work.
        Some(Duration::from_micros(self.0.swap(0, Ordering::Relaxed)).min(limits::PAUSE_AT_MOST))
    }

    /// Forgets what is owed: nobody is there to pause for.
    pub(super) fn forgive(&self) {
        self.0.store(0, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debts_are_gathered_paid_once_and_bounded() {
        let pace = Pace::default();
        let worked = limits::PAUSE_AT_LEAST * 100 / u32::try_from(limits::PAUSE_PERCENT).unwrap();
        pace.owe(worked / 2);
        assert_eq!(pace.due(), None);
        pace.owe(worked);
        let due = pace.due().expect("enough for a pause");
        assert!(due >= limits::PAUSE_AT_LEAST && due < limits::PAUSE_AT_LEAST * 2, "{due:?}");
        assert_eq!(pace.due(), None, "paid");
        pace.owe(limits::PAUSE_AT_MOST * 3);
        assert_eq!((pace.due(), pace.due()), (Some(limits::PAUSE_AT_MOST), None));
        pace.owe(limits::PAUSE_AT_LEAST);
        pace.forgive();
        assert_eq!(pace.due(), None);
    }
}
