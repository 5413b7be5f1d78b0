//! Blind values: what stands in a column that must be compared, instead of the value itself.
//!
//! Two keys: the [`BlindKey`] belongs to a key generation, so rotation recomputes every blind column; the
//! [`LabelKey`] outlives rotations, because audit rows must never change, and is kept sealed in the database.

use crate::entropy::Entropy;
use crate::error::Error;
use crate::ids::{Blind, KeyGeneration, SealId};
use crate::keyed::Keyed;
use crate::layout::KEY_LEN;
use crate::seal::{SealContext, SealDomain, SealKey};
use crate::secret::{Secret, redacted_debug};

/// The domain of audit labels under the [`LabelKey`].
pub(crate) const LABEL_DOMAIN: &str = "undercroft/blind-label/1";

/// Which column a blind value stands in. Equal values in two columns give unrelated bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BlindColumn {
    /// A record's id.
    Record,
    /// A wing's name.
    Wing,
    /// A room's name.
    Room,
    /// A source path.
    Source,
    /// The fingerprint of a content.
    Content,
    /// The id of the record that is superseded.
    Supersedes,
    /// A term of the knowledge graph.
    Term,
    /// A fact's id.
    Fact,
    /// An entity's id.
    Entity,
    /// A tunnel's id.
    Tunnel,
    /// A counter's name.
    Counter,
    /// An idempotency key.
    Idempotency,
}

impl BlindColumn {
    /// Every column.
    pub const ALL: [Self; 12] = [
        Self::Record,
        Self::Wing,
        Self::Room,
        Self::Source,
        Self::Content,
        Self::Supersedes,
        Self::Term,
        Self::Fact,
        Self::Entity,
        Self::Tunnel,
        Self::Counter,
        Self::Idempotency,
    ];

    /// The domain string of the column.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Record => "undercroft/blind/record/1",
            Self::Wing => "undercroft/blind/wing/1",
            Self::Room => "undercroft/blind/room/1",
            Self::Source => "undercroft/blind/source/1",
            Self::Content => "undercroft/blind/content/1",
            Self::Supersedes => "undercroft/blind/supersedes/1",
            Self::Term => "undercroft/blind/term/1",
            Self::Fact => "undercroft/blind/fact/1",
            Self::Entity => "undercroft/blind/entity/1",
            Self::Tunnel => "undercroft/blind/tunnel/1",
            Self::Counter => "undercroft/blind/counter/1",
            Self::Idempotency => "undercroft/blind/idempotency/1",
        }
    }
}

/// Blinds columns within one key generation.
pub struct BlindKey(Keyed);

redacted_debug!(BlindKey, LabelKey);

impl BlindKey {
    pub(crate) fn from_secret(secret: &Secret) -> Self {
        Self(Keyed::new(secret))
    }

    /// The first 16 bytes of HMAC-SHA256(key, domain ‖ 0x00 ‖ value).
    #[must_use]
    pub fn blind(&self, column: BlindColumn, value: &[u8]) -> Blind {
        let mut running = self.0.start(column.as_str());
        running.raw(value);
        Blind::from_bytes(running.finish_short())
    }
}

/// Blinds audit labels for the whole life of a vault.
pub struct LabelKey {
    secret: Secret,
    keyed: Keyed,
}

impl LabelKey {
    /// Draws the label key of a new vault.
    #[must_use]
    pub fn generate(entropy: &dyn Entropy) -> Self {
        Self::from_secret(Secret::fill_with(|out| entropy.fill(out)))
    }

    fn from_secret(secret: Secret) -> Self {
        let keyed = Keyed::new(&secret);
        Self { secret, keyed }
    }

    /// Seals the key for keeping in the database, in the layout of [`SealKey::seal`] (72 bytes). Rotation opens it
    /// under the old generation and seals it under the new one.
    #[must_use]
    pub fn seal_under(
        &self,
        key: &SealKey,
        seal_id: &SealId,
        generation: KeyGeneration,
        entropy: &dyn Entropy,
    ) -> Vec<u8> {
        key.seal(&place(seal_id, generation), self.secret.expose(), entropy)
    }

    /// Opens what [`LabelKey::seal_under`] made.
    ///
    /// # Errors
    /// [`Error::Open`], whatever the cause.
    pub fn open_from(
        key: &SealKey,
        seal_id: &SealId,
        generation: KeyGeneration,
        sealed: &[u8],
    ) -> Result<Self, Error> {
        let opened = zeroize::Zeroizing::new(key.open(&place(seal_id, generation), sealed)?);
        let bytes: &[u8; KEY_LEN] = opened.as_slice().try_into().map_err(|_| Error::Open)?;
        Ok(Self::from_secret(Secret::fill_with(|out| out.copy_from_slice(bytes))))
    }

    /// The first 16 bytes of HMAC-SHA256(label key, domain ‖ 0x00 ‖ label).
    #[must_use]
    pub fn blind(&self, label: &str) -> Blind {
        let mut running = self.keyed.start(LABEL_DOMAIN);
        running.raw(label.as_bytes());
        Blind::from_bytes(running.finish_short())
    }
}

/// There is one label key in a vault, so it needs no record id.
const fn place(seal_id: &SealId, generation: KeyGeneration) -> SealContext<'_> {
    SealContext { seal_id, generation, record: &[], domain: SealDomain::LabelKey }
}

#[cfg(test)]
#[path = "blind_test.rs"]
mod blind_test;
