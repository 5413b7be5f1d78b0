//! Keys, sealing, tags, chain arithmetic, the vault manifest and durable file replacement.
//!
//! This crate turns bytes into bytes. It owns every cryptographic format of the product, and no other crate
//! names a cipher, a MAC or a hash. It never talks SQL or HTTP, and it takes randomness only through
//! [`Entropy`]. The byte tables are in `docs/formats/keys-and-seals.md` and `docs/formats/segment.md`, and tests
//! compare them with the constants here.

pub mod blind;
pub mod chain;
pub mod derive;
pub mod draw;
pub mod durable;
pub mod entropy;
pub mod error;
pub mod frame;
pub mod ids;
pub mod kit;
pub mod manifest;
pub mod master;
pub mod regular;
pub mod seal;
pub mod segment;
pub mod tag;

mod keyed;
mod layout;
mod secret;

#[cfg(test)]
mod fixture;
#[cfg(test)]
mod format_doc_test;
#[cfg(test)]
mod golden_test;
#[cfg(test)]
mod redaction_test;

pub use blind::{BlindColumn, BlindKey, LabelKey};
pub use chain::{ChainKey, ChainState, witness_digest};
pub use derive::{NonceKey, Purpose, SampleKey, SegmentKey, VaultKeys};
pub use draw::SeedStream;
pub use entropy::{Entropy, OsEntropy, SeededEntropy};
pub use error::{Error, ErrorClass};
pub use ids::{Blind, Digest, Head, Height, KdfSalt, KeyGeneration, ProposalId, Salt, SealId, Tag};
pub use kit::KitSecret;
pub use manifest::{Anchor, EmbedderIdentity, Level, Manifest, ManifestKey, UnverifiedManifest};
pub use master::MasterKey;
pub use seal::{SealContext, SealDomain, SealKey};
pub use segment::{Codec, Segment, SegmentHeader};
pub use tag::{MacKey, TagDomain};
