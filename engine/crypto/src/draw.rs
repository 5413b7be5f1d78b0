//! Repeatable randomness for what several replicas must make alike, from a key and a seed that no log entry holds.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::derive::NonceKey;
use crate::entropy::Entropy;

/// The domain of each block.
pub(crate) const DRAW_DOMAIN: &str = "undercroft/draw/1";

/// An [`Entropy`] whose output follows from a vault's nonce key and a seed: HMAC(nonce key, domain ‖ 0x00 ‖ lp(seed) ‖ block
/// u64), one block after the other from 0. Without the master key it cannot be told from chance.
///
/// Two streams of one key and seed give the same bytes: a seed is used for one making of one vault.
pub struct SeedStream<'k> {
    key: &'k NonceKey,
    seed: [u8; 32],
    next_block: AtomicU64,
}

impl<'k> SeedStream<'k> {
    /// A stream at its beginning.
    #[must_use]
    pub const fn new(key: &'k NonceKey, seed: &[u8; 32]) -> Self {
        Self { key, seed: *seed, next_block: AtomicU64::new(0) }
    }
}

impl std::fmt::Debug for SeedStream<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SeedStream(..)")
    }
}

impl Drop for SeedStream<'_> {
    fn drop(&mut self) {
        zeroize::Zeroize::zeroize(&mut self.seed);
    }
}

impl Entropy for SeedStream<'_> {
    fn fill(&self, out: &mut [u8]) {
        for chunk in out.chunks_mut(32) {
            let block = self.next_block.fetch_add(1, Ordering::Relaxed);
            let mut running = self.key.start(DRAW_DOMAIN);
            running.lp(&self.seed).raw(&block.to_le_bytes());
            chunk.copy_from_slice(&running.finish()[..chunk.len()]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;
    use crate::{SealId, VaultKeys};

    fn draw(keys: &VaultKeys, seed: [u8; 32]) -> [u8; 70] {
        let stream = SeedStream::new(keys.nonce(), &seed);
        let mut out = [0; 70];
        stream.fill(&mut out);
        out
    }

    #[test]
    fn one_key_and_seed_give_one_sequence_and_any_other_another() {
        let drawn = draw(&fixture::keys(), [1; 32]);
        assert_eq!(drawn, draw(&fixture::keys(), [1; 32]));
        assert_ne!(drawn, draw(&fixture::keys(), [2; 32]));
        let other = SealId::from_bytes([9; 16]);
        let keys = VaultKeys::derive(&fixture::master(), &other, fixture::generation(3), &fixture::salt());
        assert_ne!(drawn, draw(&keys, [1; 32]));
        assert_ne!(drawn[..32], drawn[32..64]);
    }

    #[test]
    fn its_debug_form_shows_no_seed() {
        assert_eq!(format!("{:?}", SeedStream::new(fixture::keys().nonce(), &[7; 32])), "SeedStream(..)");
    }
}
