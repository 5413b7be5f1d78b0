//! The master key: the one secret from which every key of every vault follows.
//!
//! It comes from 32 bytes of a key file, from a passphrase (Argon2id, RFC 9106) or from the entropy source. Where
//! the file lies and who asks for the passphrase is the caller's business.

use argon2::{Algorithm, Argon2, Block, Params, Version};
use zeroize::Zeroize;

use crate::entropy::Entropy;
use crate::error::Error;
use crate::ids::KdfSalt;
use crate::layout::KEY_LEN;
use crate::secret::{Secret, redacted_debug};

/// Argon2id memory in KiB: 64 MiB.
pub const KDF_MEMORY_KIB: u32 = 64 * 1024;
/// Argon2id passes over that memory.
pub const KDF_PASSES: u32 = 3;
/// Argon2id lanes.
pub const KDF_LANES: u32 = 1;

/// The root of all keys. It cannot be cloned or printed, and is zeroed when dropped.
pub struct MasterKey(Secret);

redacted_debug!(MasterKey);

impl MasterKey {
    /// Takes the 32 bytes of a key file. The caller zeroes its own buffer.
    ///
    /// # Errors
    /// [`Error::Length`] unless there are exactly 32 bytes.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        let bytes: &[u8; KEY_LEN] = bytes.try_into().map_err(|_| Error::Length {
            what: "master key",
            expected: KEY_LEN,
            found: bytes.len(),
        })?;
        Ok(Self(Secret::fill_with(|out| out.copy_from_slice(bytes))))
    }

    /// Draws a fresh master key.
    #[must_use]
    pub fn generate(entropy: &dyn Entropy) -> Self {
        Self(Secret::fill_with(|out| entropy.fill(out)))
    }

    /// Derives the master key from a passphrase: Argon2id version 1.3, 64 MiB, 3 passes, 1 lane, 32 bytes. Takes
    /// a fraction of a second, on purpose; its working memory is zeroed.
    ///
    /// # Errors
    /// [`Error::Kdf`] when the memory is not to be had.
    pub fn from_passphrase(passphrase: &[u8], salt: &KdfSalt) -> Result<Self, Error> {
        let failed = |detail: String| Error::Kdf { detail };
        let params = Params::new(KDF_MEMORY_KIB, KDF_PASSES, KDF_LANES, Some(KEY_LEN))
            .map_err(|e| failed(e.to_string()))?;
        let mut memory: Vec<Block> = Vec::new();
        memory.try_reserve_exact(params.block_count()).map_err(|e| failed(e.to_string()))?;
        memory.resize(params.block_count(), Block::default());
        let argon = Argon2::new(Algorithm::Argon2id, Version::V0x13, params);
        let mut outcome = Ok(());
        let key = Secret::fill_with(|out| {
            outcome = argon.hash_password_into_with_memory(passphrase, salt.as_bytes(), out, &mut memory);
        });
        memory.iter_mut().for_each(Zeroize::zeroize);
        outcome.map_err(|e| failed(e.to_string()))?;
        Ok(Self(key))
    }

    /// The raw bytes, for writing the key file and for deriving a fleet's join key, and for nothing else.
    #[must_use]
    pub fn expose_to_key_file(&self) -> &[u8; KEY_LEN] {
        self.0.expose()
    }

    /// The input of the key derivation.
    pub(crate) fn secret(&self) -> &Secret {
        &self.0
    }
}

#[cfg(test)]
#[path = "master_test.rs"]
mod master_test;
