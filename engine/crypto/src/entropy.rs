//! Where random bytes come from: the operating system, or a seed in tests and simulation.
//!
//! Nothing else in the engine draws randomness, so a run with [`SeededEntropy`] can be repeated exactly.

use std::sync::atomic::{AtomicU64, Ordering};

use sha2::{Digest, Sha256};

/// A source of random bytes, shared between threads.
pub trait Entropy: Send + Sync {
    /// Fills `out` completely. It cannot fail: see [`OsEntropy`] for why.
    fn fill(&self, out: &mut [u8]);
}

/// The operating system's generator: the only source for keys, salts and nonces outside tests.
#[derive(Debug, Clone, Copy, Default)]
pub struct OsEntropy;

impl Entropy for OsEntropy {
    /// # Panics
    /// When the operating system has no randomness to give. That happens in a broken sandbox or a damaged
    /// system, never under load. A store that cannot draw a nonce can seal nothing safely, and an error value
    /// here would invite a caller to carry on with zeros, so stopping at once is the safe answer.
    fn fill(&self, out: &mut [u8]) {
        if let Err(error) = getrandom::fill(out) {
            panic!(
                "the operating system gives no random bytes ({error}): nothing can be sealed safely without them"
            );
        }
    }
}

/// A repeatable source: block `n` is SHA-256 over a seed and `n`.
///
/// **Never for keys, salts or nonces of real data.** Whoever knows the seed knows every byte. It exists so that
/// tests and simulations replay exactly; a call with an odd length drops the rest of its last block.
#[derive(Debug)]
pub struct SeededEntropy {
    seed: u64,
    next_block: AtomicU64,
}

impl SeededEntropy {
    /// A source whose whole output follows from `seed` (and from the order of the calls).
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self { seed, next_block: AtomicU64::new(0) }
    }
}

impl Entropy for SeededEntropy {
    fn fill(&self, out: &mut [u8]) {
        for chunk in out.chunks_mut(32) {
            let block = self.next_block.fetch_add(1, Ordering::Relaxed);
            let mut hash = Sha256::new();
            hash.update(b"undercroft/seeded-entropy/1\0");
            hash.update(self.seed.to_le_bytes());
            hash.update(block.to_le_bytes());
            chunk.copy_from_slice(&hash.finalize()[..chunk.len()]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draw(source: &dyn Entropy, len: usize) -> Vec<u8> {
        let mut out = vec![0; len];
        source.fill(&mut out);
        out
    }

    #[test]
    fn one_seed_gives_one_sequence() {
        let (a, b) = (SeededEntropy::new(7), SeededEntropy::new(7));
        assert_eq!(draw(&a, 100), draw(&b, 100));
        assert_eq!(draw(&a, 24), draw(&b, 24));
    }

    #[test]
    fn seeds_and_successive_draws_differ() {
        let source = SeededEntropy::new(7);
        let first = draw(&source, 32);
        assert_ne!(first, draw(&source, 32));
        assert_ne!(first, draw(&SeededEntropy::new(8), 32));
    }

    #[test]
    fn the_operating_system_does_not_repeat_itself() {
        assert_ne!(draw(&OsEntropy, 32), draw(&OsEntropy, 32));
    }
}
