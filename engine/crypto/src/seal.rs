//! Sealing of stored fields: XChaCha20-Poly1305 with everything that names the place as associated data.
//!
//! A sealed value opens only in the vault, generation, record and field it was made for. This file never
//! compresses (see [`crate::frame`]) and never decides what is sealed.

use chacha20poly1305::aead::{AeadInOut, KeyInit};
use chacha20poly1305::{Key, Tag as PolyTag, XChaCha20Poly1305, XNonce};

use crate::derive::NonceKey;
use crate::entropy::Entropy;
use crate::error::Error;
use crate::ids::{KeyGeneration, SealId};
use crate::layout::{NONCE_LEN, POLY_LEN, put_domain, put_lp};
use crate::secret::{Secret, redacted_debug};

/// The domain at the head of the associated data.
pub(crate) const SEAL_DOMAIN: &str = "undercroft/seal/1";

/// How many bytes sealing adds: nonce and authenticator.
pub const SEAL_OVERHEAD: usize = NONCE_LEN + POLY_LEN;

/// Which field of a record is sealed. The byte string is part of the associated data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SealDomain {
    /// The text of a drawer, in its content frame.
    DrawerContent,
    /// The metadata record of a drawer.
    DrawerMeta,
    /// The embedding of a drawer.
    DrawerEmbedding,
    /// The audit label, kept for showing.
    AuditLabel,
    /// The key of audit labels.
    LabelKey,
    /// A settings record of the vault.
    Meta,
    /// A fact of the knowledge graph.
    Fact,
    /// An entity of the knowledge graph.
    Entity,
    /// A tunnel between rooms.
    Tunnel,
    /// The kept outcome of a request with an idempotency key.
    Outcome,
    /// An image of the in-memory index.
    IndexImage,
    /// The check value that tells which generation a database holds.
    Keycheck,
}

impl SealDomain {
    /// Every domain.
    pub const ALL: [Self; 12] = [
        Self::DrawerContent,
        Self::DrawerMeta,
        Self::DrawerEmbedding,
        Self::AuditLabel,
        Self::LabelKey,
        Self::Meta,
        Self::Fact,
        Self::Entity,
        Self::Tunnel,
        Self::Outcome,
        Self::IndexImage,
        Self::Keycheck,
    ];

    /// The domain as it enters the associated data.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::DrawerContent => "drawer/content",
            Self::DrawerMeta => "drawer/meta",
            Self::DrawerEmbedding => "drawer/embedding",
            Self::AuditLabel => "audit/label",
            Self::LabelKey => "label-key",
            Self::Meta => "meta",
            Self::Fact => "fact",
            Self::Entity => "entity",
            Self::Tunnel => "tunnel",
            Self::Outcome => "outcome",
            Self::IndexImage => "index-image",
            Self::Keycheck => "keycheck",
        }
    }
}

/// The place of a sealed value. All four parts must be equal to open it.
#[derive(Debug, Clone, Copy)]
pub struct SealContext<'a> {
    /// The vault.
    pub seal_id: &'a SealId,
    /// The generation of the key.
    pub generation: KeyGeneration,
    /// The record's blind id as stored, or an empty slice where there is only one.
    pub record: &'a [u8],
    /// The field.
    pub domain: SealDomain,
}

impl SealContext<'_> {
    /// domain ‖ 0x00 ‖ lp(seal id) ‖ generation u32 ‖ lp(record) ‖ lp(field).
    pub(crate) fn associated_data(&self) -> Vec<u8> {
        let mut aad = Vec::with_capacity(96 + self.record.len());
        put_domain(&mut aad, SEAL_DOMAIN);
        put_lp(&mut aad, self.seal_id.as_bytes());
        aad.extend_from_slice(&self.generation.get().to_le_bytes());
        put_lp(&mut aad, self.record);
        put_lp(&mut aad, self.domain.as_str().as_bytes());
        aad
    }
}

/// The key for stored fields of one generation.
pub struct SealKey(Cipher);

redacted_debug!(SealKey, Cipher);

impl SealKey {
    pub(crate) fn from_secret(secret: &Secret) -> Self {
        Self(Cipher::new(secret))
    }

    /// Seals `plain` under a random nonce: nonce(24) ‖ ciphertext (as long as `plain`) ‖ authenticator(16).
    #[must_use]
    pub fn seal(&self, ctx: &SealContext<'_>, plain: &[u8], entropy: &dyn Entropy) -> Vec<u8> {
        self.0.seal(&ctx.associated_data(), plain, entropy)
    }

    /// Seals `plain` under a nonce that follows from it and from `seed`, so that every replica that reseals a
    /// vault writes the same bytes. The layout is that of [`SealKey::seal`].
    #[must_use]
    pub fn reseal(&self, ctx: &SealContext<'_>, plain: &[u8], nonces: &NonceKey, seed: &[u8; 32]) -> Vec<u8> {
        let nonce = nonces.nonce(seed, ctx, plain);
        self.0.seal_with(&nonce, &ctx.associated_data(), plain)
    }

    /// Opens what [`SealKey::seal`] made in the same place.
    ///
    /// # Errors
    /// [`Error::Open`], whatever the cause.
    pub fn open(&self, ctx: &SealContext<'_>, sealed: &[u8]) -> Result<Vec<u8>, Error> {
        let mut out = Vec::new();
        self.open_into(ctx, sealed, &mut out)?;
        Ok(out)
    }

    /// As [`SealKey::open`], into a buffer that keeps its capacity. What the buffer held is replaced; after an
    /// error it is empty.
    ///
    /// # Errors
    /// [`Error::Open`], whatever the cause.
    pub fn open_into(&self, ctx: &SealContext<'_>, sealed: &[u8], out: &mut Vec<u8>) -> Result<(), Error> {
        self.0.open_into(&ctx.associated_data(), sealed, out)
    }
}

/// XChaCha20-Poly1305 (draft-irtf-cfrg-xchacha) with a fixed key, nonce in front.
pub(crate) struct Cipher(Box<XChaCha20Poly1305>);

impl Cipher {
    pub(crate) fn new(secret: &Secret) -> Self {
        Self(Box::new(XChaCha20Poly1305::new(<&Key>::from(secret.expose()))))
    }

    pub(crate) fn seal(&self, aad: &[u8], plain: &[u8], entropy: &dyn Entropy) -> Vec<u8> {
        // 24 random bytes: after 2^64 values under one key a repeated nonce is still less likely than 2^-64.
        let mut nonce = [0; NONCE_LEN];
        entropy.fill(&mut nonce);
        self.seal_with(&nonce, aad, plain)
    }

    fn seal_with(&self, nonce: &[u8; NONCE_LEN], aad: &[u8], plain: &[u8]) -> Vec<u8> {
        let mut sealed = Vec::with_capacity(SEAL_OVERHEAD + plain.len());
        sealed.extend_from_slice(nonce);
        sealed.extend_from_slice(plain);
        let body = &mut sealed[NONCE_LEN..];
        #[expect(
            clippy::expect_used,
            reason = "the cipher refuses only messages above 256 GiB, which no slice here is"
        )]
        let tag = self
            .0
            .encrypt_inout_detached(<&XNonce>::from(nonce), aad, body.into())
            .expect("the message is far below the cipher's limit");
        sealed.extend_from_slice(&tag);
        sealed
    }

    pub(crate) fn open_into(&self, aad: &[u8], sealed: &[u8], out: &mut Vec<u8>) -> Result<(), Error> {
        out.clear();
        let (nonce, rest) = sealed.split_first_chunk::<NONCE_LEN>().ok_or(Error::Open)?;
        let (body, tag) = rest.split_last_chunk::<POLY_LEN>().ok_or(Error::Open)?;
        out.extend_from_slice(body);
        let opened = self.0.decrypt_inout_detached(
            <&XNonce>::from(nonce),
            aad,
            out.as_mut_slice().into(),
            <&PolyTag>::from(tag),
        );
        opened.map_err(|_| {
            out.clear();
            Error::Open
        })
    }
}

#[cfg(test)]
#[path = "seal_test.rs"]
mod seal_test;
