//! Whether several vaults are read at the same time. One that is read alone may use the machine; beside others it makes do with
//! half of its places, so that a vault with many readers does not keep every core from the rest.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use crate::limits;

/// Notes who reads.
#[derive(Debug)]
pub(super) struct Crowd {
    since: Instant,
    /// Number that the next vault is known by.
    next: AtomicU64,
    /// Who read last.
    last: AtomicU64,
    /// When another one than before read last, in microseconds; 0 is never.
    changed: AtomicU64,
}

impl Crowd {
    pub(super) fn new() -> Self {
        let [next, last, changed] = [1, 0, 0].map(AtomicU64::new);
        Self { since: Instant::now(), next, last, changed }
    }

    /// A number for an open vault.
    pub(super) fn number(&self) -> u64 {
        self.next.fetch_add(1, Ordering::Relaxed)
    }

    /// How many of its places a read of this vault takes now.
    pub(super) fn places(&self, reader: u64) -> u32 {
        let now = u64::try_from(self.since.elapsed().as_micros()).unwrap_or(u64::MAX).max(1);
        self.seen(reader, now)
    }

    fn seen(&self, reader: u64, now: u64) -> u32 {
        let before = self.last.swap(reader, Ordering::Relaxed);
        if before != reader && before != 0 {
            self.changed.store(now, Ordering::Relaxed);
        }
        let changed = self.changed.load(Ordering::Relaxed);
        let memory = u64::try_from(limits::CROWD_MEMORY.as_micros()).unwrap_or(u64::MAX);
        if changed != 0 && now.saturating_sub(changed) < memory { 2 } else { 1 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_vault_that_is_read_alone_takes_one_place_and_two_beside_others() {
        let memory = u64::try_from(limits::CROWD_MEMORY.as_micros()).unwrap();
        let crowd = Crowd::new();
        let (one, two) = (crowd.number(), crowd.number());
        assert_ne!(one, two);
        assert_eq!([1, 2, 3].map(|now| crowd.seen(one, now)), [1, 1, 1]);
        assert_eq!((crowd.seen(two, 10), crowd.seen(one, 11)), (2, 2));
        assert_eq!(crowd.seen(one, 10 + memory), 2, "the last change was at 11");
        assert_eq!(crowd.seen(one, 11 + memory), 1);
    }
}
