//! The keys of one open vault and everything done with them: sealing fields, blinding columns, tagging rows,
//! stepping the chain. Owns no row and no SQL; nothing outside this file chooses a domain's associated data.

use std::fmt;
use std::sync::Arc;

use undercroft_crypto::{
    Blind, BlindColumn, ChainState, Entropy, KeyGeneration, LabelKey, Level, MacKey, SealContext, SealDomain,
    SealId, Tag, TagDomain, VaultKeys,
};

use crate::audit::Label;
use crate::drawers::DrawerId;
use crate::error::Result;

/// The keys of one open vault.
pub(crate) struct Keyring {
    keys: VaultKeys,
    label_key: LabelKey,
    seal_id: SealId,
    generation: KeyGeneration,
    level: Level,
    entropy: Arc<dyn Entropy>,
}

impl fmt::Debug for Keyring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Keyring").field("level", &self.level).finish_non_exhaustive()
    }
}

impl Keyring {
    pub(crate) fn new(
        keys: VaultKeys,
        label_key: LabelKey,
        seal_id: SealId,
        generation: KeyGeneration,
        level: Level,
        entropy: Arc<dyn Entropy>,
    ) -> Self {
        Self { keys, label_key, seal_id, generation, level, entropy }
    }

    pub(crate) fn level(&self) -> Level {
        self.level
    }

    pub(crate) fn seal_id(&self) -> &SealId {
        &self.seal_id
    }

    pub(crate) fn generation(&self) -> KeyGeneration {
        self.generation
    }

    pub(crate) fn keys(&self) -> &VaultKeys {
        &self.keys
    }

    pub(crate) fn mac(&self) -> &MacKey {
        self.keys.mac()
    }

    pub(crate) fn entropy(&self) -> &dyn Entropy {
        self.entropy.as_ref()
    }

    /// A field as it goes to disk: sealed, or as it is in an `hmac-only` vault.
    pub(crate) fn seal_field(&self, domain: SealDomain, record: &[u8], plain: &[u8]) -> Vec<u8> {
        match self.level {
            Level::Sealed => self.seal_always(domain, record, plain),
            Level::HmacOnly => plain.to_vec(),
        }
    }

    /// The inverse of [`Keyring::seal_field`].
    pub(crate) fn open_field(&self, domain: SealDomain, record: &[u8], stored: &[u8]) -> Result<Vec<u8>> {
        match self.level {
            Level::Sealed => self.open_always(domain, record, stored),
            Level::HmacOnly => Ok(stored.to_vec()),
        }
    }

    /// As [`Keyring::open_field`], into a buffer that keeps its capacity.
    pub(crate) fn open_field_into(
        &self,
        domain: SealDomain,
        record: &[u8],
        stored: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<()> {
        match self.level {
            Level::Sealed => Ok(self.keys.enc().open_into(&self.context(domain, record), stored, out)?),
            Level::HmacOnly => {
                out.clear();
                out.extend_from_slice(stored);
                Ok(())
            }
        }
    }

    /// Seals at either level: derived data and key material are never readable.
    pub(crate) fn seal_always(&self, domain: SealDomain, record: &[u8], plain: &[u8]) -> Vec<u8> {
        self.keys.enc().seal(&self.context(domain, record), plain, self.entropy.as_ref())
    }

    /// The inverse of [`Keyring::seal_always`].
    pub(crate) fn open_always(&self, domain: SealDomain, record: &[u8], sealed: &[u8]) -> Result<Vec<u8>> {
        Ok(self.keys.enc().open(&self.context(domain, record), sealed)?)
    }

    fn context<'a>(&'a self, domain: SealDomain, record: &'a [u8]) -> SealContext<'a> {
        SealContext { seal_id: &self.seal_id, generation: self.generation, record, domain }
    }

    /// The blind form of a column's value.
    pub(crate) fn blind(&self, column: BlindColumn, value: &[u8]) -> Blind {
        self.keys.blind().blind(column, value)
    }

    /// The record id of a drawer as stored.
    pub(crate) fn record_id(&self, id: &DrawerId) -> Blind {
        self.blind(BlindColumn::Record, id.as_bytes())
    }

    /// The blind label of an audit record; survives rotations.
    pub(crate) fn label(&self, label: &Label) -> Blind {
        self.label_key.blind(&label.to_string())
    }

    /// Blind label of any text found where a label should be.
    pub(crate) fn label_text(&self, text: &str) -> Blind {
        self.label_key.blind(text)
    }

    pub(crate) fn tag(&self, domain: TagDomain, fields: &[&[u8]]) -> Tag {
        self.keys.mac().tag(domain, fields)
    }

    pub(crate) fn step(&self, state: &ChainState, label: &Blind, tag: &Tag, at_micros: i64) -> ChainState {
        self.keys.chain().step(state, label, tag, at_micros)
    }
}
