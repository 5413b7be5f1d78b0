//! What comes from outside: time and randomness. Tests give their own; nothing else here reads a clock or draws a number.

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use futures_util::future::BoxFuture;

/// Time.
pub trait Clock: Send + Sync {
    /// Milliseconds since 1970, for people and for ids. It may jump.
    fn now_ms(&self) -> u64;
    /// Milliseconds since some moment before. It never jumps, so silence is measured by it.
    fn elapsed_ms(&self) -> u64;
    /// Resolves after this long.
    fn pause(&self, how_long: Duration) -> BoxFuture<'static, ()>;
}

/// Random bytes.
pub trait Entropy: Send + Sync {
    /// Fills `out` completely.
    fn fill(&self, out: &mut [u8]);
}

/// The machine's time and randomness, or others.
#[derive(Clone)]
pub struct Ports {
    /// Time.
    pub clock: Arc<dyn Clock>,
    /// Random bytes.
    pub entropy: Arc<dyn Entropy>,
}

impl Ports {
    /// Those of this machine.
    #[must_use]
    pub fn of_this_machine() -> Self {
        Self { clock: Arc::new(SystemClock(Instant::now())), entropy: Arc::new(SystemEntropy) }
    }

    /// Random bytes, `N` of them.
    #[must_use]
    pub fn random<const N: usize>(&self) -> [u8; N] {
        let mut bytes = [0; N];
        self.entropy.fill(&mut bytes);
        bytes
    }
}

struct SystemClock(Instant);

impl Clock for SystemClock {
    fn now_ms(&self) -> u64 {
        // A clock before 1970 is wrong; the cluster's time goes on from where it was.
        SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64)
    }

    fn elapsed_ms(&self) -> u64 {
        self.0.elapsed().as_millis() as u64
    }

    fn pause(&self, how_long: Duration) -> BoxFuture<'static, ()> {
        Box::pin(tokio::time::sleep(how_long))
    }
}

struct SystemEntropy;

impl Entropy for SystemEntropy {
    /// # Panics
    /// When the operating system has no randomness to give, which happens in a broken sandbox and never under load: a token
    /// of zeros would open a vault to everybody.
    fn fill(&self, out: &mut [u8]) {
        if let Err(error) = getrandom::fill(out) {
            panic!("the operating system gives no random bytes ({error}): no token is safe without them");
        }
    }
}

/// Time that stands until it is moved, and random bytes that repeat from run to run.
#[cfg(test)]
pub(crate) mod test {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::time::Duration;

    use futures_util::future::BoxFuture;
    use sha2::{Digest, Sha256};
    use tokio::sync::watch;

    use super::{Clock, Entropy, Ports};

    /// A clock that stands.
    pub(crate) struct ManualClock(watch::Sender<u64>);

    impl ManualClock {
        pub(crate) fn advance(&self, by_ms: u64) {
            self.0.send_modify(|now| *now += by_ms);
        }
    }

    impl Clock for ManualClock {
        fn now_ms(&self) -> u64 {
            *self.0.borrow()
        }

        fn elapsed_ms(&self) -> u64 {
            *self.0.borrow()
        }

        fn pause(&self, how_long: Duration) -> BoxFuture<'static, ()> {
            let until = *self.0.borrow() + how_long.as_millis() as u64;
            let mut moved = self.0.subscribe();
            Box::pin(async move {
                // Who drops the clock ends every pause.
                let _ = moved.wait_for(|now| *now >= until).await;
            })
        }
    }

    struct Counted(AtomicU64);

    impl Entropy for Counted {
        fn fill(&self, out: &mut [u8]) {
            for piece in out.chunks_mut(32) {
                let number = self.0.fetch_add(1, Ordering::SeqCst);
                piece.copy_from_slice(&Sha256::digest(number.to_le_bytes())[..piece.len()]);
            }
        }
    }

    pub(crate) fn manual() -> Arc<ManualClock> {
        Arc::new(ManualClock(watch::Sender::new(1_800_000_000_000)))
    }

    pub(crate) fn ports(clock: Arc<ManualClock>) -> Ports {
        Ports { clock, entropy: Arc::new(Counted(AtomicU64::new(0))) }
    }
}
