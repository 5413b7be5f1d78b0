//! What a key generation is made from. It reaches a copy beside the log, sealed to those who hold the fleet's master key: no
//! entry of a log holds any of it.

use undercroft_crypto::{KeyGeneration, Salt, SealId};
use zeroize::Zeroize as _;

/// One key generation of one vault.
pub struct Generation {
    /// Its number.
    pub number: KeyGeneration,
    /// The vault's identity in every cipher.
    pub seal_id: SealId,
    /// The salt of its keys.
    pub salt: Salt,
    /// What copies draw from where they must draw alike.
    pub seed: [u8; 32],
}

impl std::fmt::Debug for Generation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Generation").field("number", &self.number).finish_non_exhaustive()
    }
}

impl Drop for Generation {
    fn drop(&mut self) {
        self.seed.zeroize();
    }
}
