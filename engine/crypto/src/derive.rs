//! One master key in, the eight keys of one vault's generation out.
//!
//! HKDF-SHA256 (RFC 5869) with the generation's salt; the info binds the seal id, the generation and the
//! purpose, so no two keys of an installation are related. The purposes stand in one table, [`Purpose`].

use hkdf::Hkdf;
use sha2::Sha256;
use zeroize::Zeroize;

use crate::blind::BlindKey;
use crate::chain::ChainKey;
use crate::entropy::Entropy;
use crate::error::Error;
use crate::ids::{Blind, KeyGeneration, Salt, SealId};
use crate::keyed::{Keyed, Running};
use crate::layout::{NONCE_LEN, put_domain, put_lp};
use crate::manifest::ManifestKey;
use crate::master::MasterKey;
use crate::seal::{Cipher, SealContext, SealKey};
use crate::secret::{Secret, redacted_debug};
use crate::tag::MacKey;

/// The domain at the head of every derivation's info.
pub(crate) const DERIVE_DOMAIN: &str = "undercroft/derive/1";
/// The domain of [`NonceKey`]'s MAC.
pub(crate) const NONCE_DOMAIN: &str = "undercroft/nonce/1";
/// The domain of [`SampleKey`]'s MAC.
pub(crate) const SAMPLE_DOMAIN: &str = "undercroft/sample/1";

/// What a derived key is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Purpose {
    /// Sealing stored fields.
    Enc,
    /// Tags over rows.
    Mac,
    /// The MAC of `vault.json`.
    Manifest,
    /// The head of the audit chain.
    Chain,
    /// Blind columns.
    Blind,
    /// Choosing records for spot checks.
    Sample,
    /// Sealing replication segments.
    Segment,
    /// Repeatable nonces for resealing.
    Nonce,
}

impl Purpose {
    /// Every purpose.
    pub const ALL: [Self; 8] = [
        Self::Enc,
        Self::Mac,
        Self::Manifest,
        Self::Chain,
        Self::Blind,
        Self::Sample,
        Self::Segment,
        Self::Nonce,
    ];

    /// The purpose as it enters the derivation.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Enc => "enc",
            Self::Mac => "mac",
            Self::Manifest => "manifest",
            Self::Chain => "chain",
            Self::Blind => "blind",
            Self::Sample => "sample",
            Self::Segment => "segment",
            Self::Nonce => "nonce",
        }
    }
}

/// The keys of one generation of one vault. Shared by reference between threads; never cloned.
pub struct VaultKeys {
    enc: SealKey,
    mac: MacKey,
    manifest: ManifestKey,
    chain: ChainKey,
    blind: BlindKey,
    sample: SampleKey,
    segment: SegmentKey,
    nonce: NonceKey,
}

redacted_debug!(VaultKeys, SampleKey, SegmentKey, NonceKey);

impl VaultKeys {
    /// Derives all keys: HKDF-SHA256(salt, ikm = master key, info), with info = domain ‖ lp(seal id) ‖ generation
    /// u32 ‖ lp(purpose).
    #[must_use]
    pub fn derive(master: &MasterKey, seal_id: &SealId, generation: KeyGeneration, salt: &Salt) -> Self {
        let expander = extract(master, salt);
        let key = |purpose| expand(&expander, seal_id, generation, purpose);
        Self {
            enc: SealKey::from_secret(&key(Purpose::Enc)),
            mac: MacKey::from_secret(&key(Purpose::Mac)),
            manifest: ManifestKey::from_secret(&key(Purpose::Manifest)),
            chain: ChainKey::from_secret(&key(Purpose::Chain)),
            blind: BlindKey::from_secret(&key(Purpose::Blind)),
            sample: SampleKey(Keyed::new(&key(Purpose::Sample))),
            segment: SegmentKey(Cipher::new(&key(Purpose::Segment))),
            nonce: NonceKey(Keyed::new(&key(Purpose::Nonce))),
        }
    }

    /// Seals and opens stored fields.
    #[must_use]
    pub const fn enc(&self) -> &SealKey {
        &self.enc
    }

    /// Tags rows.
    #[must_use]
    pub const fn mac(&self) -> &MacKey {
        &self.mac
    }

    /// Authenticates `vault.json`.
    #[must_use]
    pub const fn manifest(&self) -> &ManifestKey {
        &self.manifest
    }

    /// Steps the audit chain.
    #[must_use]
    pub const fn chain(&self) -> &ChainKey {
        &self.chain
    }

    /// Blinds columns.
    #[must_use]
    pub const fn blind(&self) -> &BlindKey {
        &self.blind
    }

    /// Orders records for spot checks.
    #[must_use]
    pub const fn sample(&self) -> &SampleKey {
        &self.sample
    }

    /// Seals replication segments.
    #[must_use]
    pub const fn segment(&self) -> &SegmentKey {
        &self.segment
    }

    /// Makes repeatable nonces for resealing.
    #[must_use]
    pub const fn nonce(&self) -> &NonceKey {
        &self.nonce
    }
}

fn extract(master: &MasterKey, salt: &Salt) -> Hkdf<Sha256> {
    let (mut prk, expander) = Hkdf::<Sha256>::extract(Some(salt.as_bytes()), master.secret().expose());
    prk.as_mut_slice().zeroize();
    expander
}

/// One derived key as bytes, for the tests that compare it with known ones.
#[cfg(test)]
pub(crate) fn derive_secret(
    master: &MasterKey,
    seal_id: &SealId,
    generation: KeyGeneration,
    salt: &Salt,
    purpose: Purpose,
) -> Secret {
    expand(&extract(master, salt), seal_id, generation, purpose)
}

fn expand(hkdf: &Hkdf<Sha256>, seal_id: &SealId, generation: KeyGeneration, purpose: Purpose) -> Secret {
    let mut info = Vec::with_capacity(96);
    put_domain(&mut info, DERIVE_DOMAIN);
    put_lp(&mut info, seal_id.as_bytes());
    info.extend_from_slice(&generation.get().to_le_bytes());
    put_lp(&mut info, purpose.as_str().as_bytes());
    Secret::fill_with(|out| {
        #[expect(clippy::expect_used, reason = "RFC 5869 allows up to 255 hash lengths, and this is one")]
        hkdf.expand(&info, out).expect("32 bytes are one hash length");
    })
}

/// Orders records by a value that only the key holder can compute, so that an editor of the files cannot guess
/// which records a spot check will read.
pub struct SampleKey(Keyed);

impl SampleKey {
    /// The rank of a record in one round of checks: the first 8 bytes, little-endian, of HMAC(sample key, domain ‖
    /// round u64 ‖ lp(record)). A check reads the records of lowest rank.
    #[must_use]
    pub fn rank(&self, round: u64, record: &Blind) -> u64 {
        let mut running = self.0.start(SAMPLE_DOMAIN);
        running.raw(&round.to_le_bytes()).lp(record.as_bytes());
        let mac = running.finish_short();
        let mut low = [0; 8];
        low.copy_from_slice(&mac[..8]);
        u64::from_le_bytes(low)
    }
}

/// Seals the bodies of replication segments; what a segment is, its codec decides.
pub struct SegmentKey(Cipher);

impl SegmentKey {
    /// Seals `body` with `header` as associated data: nonce(24) ‖ ciphertext ‖ authenticator(16).
    #[must_use]
    pub fn seal(&self, header: &[u8], body: &[u8], entropy: &dyn Entropy) -> Vec<u8> {
        self.0.seal(header, body, entropy)
    }

    /// Opens a body sealed under the same header.
    ///
    /// # Errors
    /// [`Error::Open`], whatever the cause.
    pub fn open(&self, header: &[u8], sealed: &[u8]) -> Result<Vec<u8>, Error> {
        let mut out = Vec::new();
        self.0.open_into(header, sealed, &mut out)?;
        Ok(out)
    }
}

/// Derives nonces from what is sealed, so that replicas that reseal the same vault get the same bytes.
///
/// Equal plaintext in an equal place gives an equal nonce, and everything else gives an unrelated one: the
/// synthetic-nonce construction of RFC 5297 with HMAC-SHA256 in place of S2V. The seed belongs to one rotation.
pub struct NonceKey(Keyed);

impl NonceKey {
    pub(crate) fn start(&self, domain: &str) -> Running {
        self.0.start(domain)
    }

    /// HMAC(nonce key, domain ‖ lp(seed) ‖ lp(associated data of `ctx`) ‖ lp(SHA-256(plain))), first 24 bytes.
    #[must_use]
    pub fn nonce(&self, seed: &[u8; 32], ctx: &SealContext<'_>, plain: &[u8]) -> [u8; NONCE_LEN] {
        use sha2::Digest as _;
        let fingerprint = Sha256::digest(plain);
        let mut running = self.0.start(NONCE_DOMAIN);
        running.lp(seed).lp(&ctx.associated_data()).lp(&fingerprint);
        let mac = running.finish();
        let mut nonce = [0; NONCE_LEN];
        nonce.copy_from_slice(&mac[..NONCE_LEN]);
        nonce
    }
}

#[cfg(test)]
#[path = "derive_test.rs"]
mod derive_test;
