//! The arithmetic of the audit chain: a keyed head and a plain running digest, one step per row.
//!
//! The head proves that nobody without the key wrote or dropped a row. The digest is over bytes that rotation
//! never changes, so a witness of it stays comparable for ever. Rows are stored and replayed elsewhere.

use sha2::{Digest as _, Sha256};

use crate::ids::{Blind, Digest, Head, Height, Tag};
use crate::keyed::Keyed;
use crate::layout::{KEY_LEN, prefix};
use crate::secret::{Secret, redacted_debug};

/// The domain of the keyed step.
pub(crate) const STEP_DOMAIN: &str = "undercroft/chain/1";

/// Where a chain stands after `height` rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChainState {
    /// How many rows there are.
    pub height: Height,
    /// The keyed head.
    pub head: Head,
    /// The plain running digest D(height).
    pub digest: Digest,
}

impl ChainState {
    /// The empty chain: height 0, head and digest all zeros.
    #[must_use]
    pub const fn genesis() -> Self {
        Self {
            height: Height::GENESIS,
            head: Head::from_bytes([0; KEY_LEN]),
            digest: Digest::from_bytes([0; KEY_LEN]),
        }
    }

    /// What a witness keeps of this state: see [`witness_digest`].
    #[must_use]
    pub fn witness(&self) -> [u8; KEY_LEN] {
        witness_digest(self.height, &self.digest)
    }
}

/// Steps the chain within one key generation.
pub struct ChainKey(Keyed);

redacted_debug!(ChainKey);

impl ChainKey {
    pub(crate) fn from_secret(secret: &Secret) -> Self {
        Self(Keyed::new(secret))
    }

    /// The state after one more row. `at_micros` is the row's time in microseconds since the Unix epoch.
    #[must_use]
    pub fn step(&self, state: &ChainState, label: &Blind, tag: &Tag, at_micros: i64) -> ChainState {
        ChainState {
            height: state.height.next(),
            head: self.step_head(&state.head, label, tag, at_micros),
            digest: step_digest(&state.digest, label, tag, at_micros),
        }
    }

    /// The head alone: HMAC-SHA256(chain key, domain ‖ 0x00 ‖ lp(previous head) ‖ lp(label) ‖ lp(tag) ‖ lp(time
    /// i64)). For a replay that needs no digest.
    #[must_use]
    pub fn step_head(&self, previous: &Head, label: &Blind, tag: &Tag, at_micros: i64) -> Head {
        let mut running = self.0.start(STEP_DOMAIN);
        running.lp(previous.as_bytes()).lp(label.as_bytes()).lp(tag.as_bytes()).lp(&at_micros.to_le_bytes());
        Head::from_bytes(running.finish())
    }
}

/// The digest alone, which needs no key: D(n) = SHA-256(D(n−1) ‖ lp(row)), where row = lp(label) ‖ lp(tag) ‖
/// lp(time i64).
#[must_use]
pub fn step_digest(previous: &Digest, label: &Blind, tag: &Tag, at_micros: i64) -> Digest {
    let time = at_micros.to_le_bytes();
    let fields: [&[u8]; 3] = [label.as_bytes(), tag.as_bytes(), &time];
    let row_len: usize = fields.iter().map(|field| prefix(field).len() + field.len()).sum();
    let mut hash = Sha256::new();
    hash.update(previous.as_bytes());
    hash.update((row_len as u64).to_le_bytes());
    for field in fields {
        hash.update(prefix(field));
        hash.update(field);
    }
    Digest::from_bytes(hash.finalize().into())
}

/// What is reported to witnesses: SHA-256(height u64 ‖ D(height)). It tells nothing of the rows and does not
/// change when keys rotate.
#[must_use]
pub fn witness_digest(height: Height, digest: &Digest) -> [u8; KEY_LEN] {
    let mut hash = Sha256::new();
    hash.update(height.get().to_le_bytes());
    hash.update(digest.as_bytes());
    hash.finalize().into()
}

#[cfg(test)]
#[path = "chain_test.rs"]
mod chain_test;
