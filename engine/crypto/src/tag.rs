//! Tags: one MAC over every stored field of a row, so that no field can change alone or move to another row.
//!
//! Which fields a row has, and in which order, is decided where the row is stored.

use crate::error::Error;
use crate::ids::Tag;
use crate::keyed::Keyed;
use crate::secret::{Secret, redacted_debug};

/// What kind of row a tag covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TagDomain {
    /// A drawer.
    Drawer,
    /// What stays of a deleted drawer.
    DrawerTombstone,
    /// That one record supersedes another.
    Supersession,
    /// A settings record of the vault.
    Meta,
    /// A counter.
    Counter,
    /// The stored state of the audit chain.
    ChainState,
    /// The check value that tells which generation a database holds.
    Keycheck,
    /// A fact of the knowledge graph.
    Fact,
    /// What stays of a deleted fact.
    FactTombstone,
    /// An entity of the knowledge graph.
    Entity,
    /// A tunnel between rooms.
    Tunnel,
    /// What stays of a deleted tunnel.
    TunnelTombstone,
    /// The kept outcome of a request with an idempotency key.
    Outcome,
    /// An event that writes no row besides its audit row.
    Event,
    /// The keyed fingerprint of a text, carried by receipts.
    ContentFingerprint,
}

impl TagDomain {
    /// Every domain.
    pub const ALL: [Self; 15] = [
        Self::Drawer,
        Self::DrawerTombstone,
        Self::Supersession,
        Self::Meta,
        Self::Counter,
        Self::ChainState,
        Self::Keycheck,
        Self::Fact,
        Self::FactTombstone,
        Self::Entity,
        Self::Tunnel,
        Self::TunnelTombstone,
        Self::Outcome,
        Self::Event,
        Self::ContentFingerprint,
    ];

    /// The domain string of the row kind.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Drawer => "undercroft/tag/drawer/1",
            Self::DrawerTombstone => "undercroft/tag/drawer-tombstone/1",
            Self::Supersession => "undercroft/tag/supersession/1",
            Self::Meta => "undercroft/tag/meta/1",
            Self::Counter => "undercroft/tag/counter/1",
            Self::ChainState => "undercroft/tag/chain-state/1",
            Self::Keycheck => "undercroft/tag/keycheck/1",
            Self::Fact => "undercroft/tag/fact/1",
            Self::FactTombstone => "undercroft/tag/fact-tombstone/1",
            Self::Entity => "undercroft/tag/entity/1",
            Self::Tunnel => "undercroft/tag/tunnel/1",
            Self::TunnelTombstone => "undercroft/tag/tunnel-tombstone/1",
            Self::Outcome => "undercroft/tag/outcome/1",
            Self::Event => "undercroft/tag/event/1",
            Self::ContentFingerprint => "undercroft/tag/content-fingerprint/1",
        }
    }
}

/// Tags rows within one key generation.
pub struct MacKey(Keyed);

redacted_debug!(MacKey);

impl MacKey {
    pub(crate) fn from_secret(secret: &Secret) -> Self {
        Self(Keyed::new(secret))
    }

    /// HMAC-SHA256(key, domain ‖ 0x00 ‖ number of fields u64 ‖ lp(field) for each field).
    #[must_use]
    pub fn tag(&self, domain: TagDomain, fields: &[&[u8]]) -> Tag {
        let count = (fields.len() as u64).to_le_bytes();
        let mut running = self.0.start(domain.as_str());
        running.raw(&count);
        for field in fields {
            running.lp(field);
        }
        Tag::from_bytes(running.finish())
    }

    /// Recomputes a tag and compares it in constant time.
    ///
    /// # Errors
    /// [`Error::TagMismatch`] unless it is equal.
    pub fn verify(&self, domain: TagDomain, fields: &[&[u8]], tag: &Tag) -> Result<(), Error> {
        if self.tag(domain, fields) == *tag { Ok(()) } else { Err(Error::TagMismatch) }
    }
}

#[cfg(test)]
#[path = "tag_test.rs"]
mod tag_test;
