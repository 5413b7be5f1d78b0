//! `vault.json`: what must be known to open a vault, authenticated by a key that it helps to derive.
//!
//! Reading has two steps that cannot be swapped: [`UnverifiedManifest`] gives what key derivation needs and
//! nothing else, and only its `verify` gives a [`Manifest`]. The MAC covers a canonical encoding of every field,
//! not the JSON text. Where the file lies and when it is written is decided elsewhere.

mod canonical;
mod json;

#[cfg(test)]
pub(crate) use canonical::MANIFEST_DOMAIN;

use crate::error::Error;
use crate::ids::{Head, Height, KeyGeneration, Salt, SealId, Tag};
use crate::keyed::Keyed;
use crate::secret::{Secret, redacted_debug};

/// The only version of the format.
pub const MANIFEST_VERSION: u32 = 1;
/// Longest `vault.json`, in bytes.
pub const MANIFEST_MAX_BYTES: usize = 16 * 1024;
/// Longest vault name, in bytes.
pub const NAME_MAX_BYTES: usize = 255;
/// Longest embedder name, in bytes.
pub const EMBEDDER_NAME_MAX_BYTES: usize = 255;
/// Longest time of creation, in bytes.
pub const CREATED_AT_MAX_BYTES: usize = 64;
/// Longest log id, in bytes.
pub const LOG_ID_MAX_BYTES: usize = 128;
/// Most generations: two while keys rotate.
pub const GENERATIONS_MAX: usize = 2;

/// What the files of a vault show to somebody without the key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Level {
    /// Nothing but sizes, times and equality.
    Sealed,
    /// Text and metadata are readable on purpose; tags and chain are the same.
    HmacOnly,
}

impl Level {
    /// `sealed` or `hmac-only`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Sealed => "sealed",
            Self::HmacOnly => "hmac-only",
        }
    }

    /// Reads what a person typed: `sealed`, `hmac-only` or `hmac_only`.
    ///
    /// # Errors
    /// [`Error::Level`] for anything else.
    pub fn parse(text: &str) -> Result<Self, Error> {
        match text {
            "sealed" => Ok(Self::Sealed),
            "hmac-only" | "hmac_only" => Ok(Self::HmacOnly),
            _ => Err(Error::Level),
        }
    }
}

impl std::fmt::Display for Level {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

impl std::str::FromStr for Level {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        Self::parse(text)
    }
}

/// Which embedder made a vault's vectors. Vectors of two embedders cannot be compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EmbedderIdentity {
    /// Its name, 1 to 255 bytes.
    pub name: String,
    /// Numbers in a vector.
    pub dimension: u32,
}

/// A position of the audit chain that the manifest vouches for. It may lag the database and never leads it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Anchor {
    /// How many rows there were.
    pub height: Height,
    /// The head after them.
    pub head: Head,
}

/// A manifest that was verified, or is about to be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Manifest {
    /// [`MANIFEST_VERSION`].
    pub version: u32,
    /// The vault's name, 1 to 255 bytes.
    pub name: String,
    /// What its files show.
    pub level: Level,
    /// Its identity in every cipher.
    pub seal_id: SealId,
    /// One generation, or two while keys rotate; strictly rising, so the last is the newest. The MAC is under the
    /// newest one's manifest key.
    pub generations: Vec<(KeyGeneration, Salt)>,
    /// Which embedder made the vectors, once there is one.
    pub embedder: Option<EmbedderIdentity>,
    /// When the vault was made, as text that this crate does not interpret (at most 64 bytes).
    pub created_at: String,
    /// A position of the audit chain.
    pub anchor: Anchor,
    /// The position in the replicated log, in a cluster (1 to 128 bytes).
    pub log_id: Option<String>,
}

impl Manifest {
    /// Checks every bound that reading enforces, so that nothing is written which cannot be read again.
    ///
    /// # Errors
    /// [`Error::ManifestField`] names the first field that is out of bounds.
    pub fn check(&self) -> Result<(), Error> {
        let bound =
            |ok: bool, field, remedy| if ok { Ok(()) } else { Err(Error::ManifestField { field, remedy }) };
        let sized = |text: &str, max: usize| (1..=max).contains(&text.len());
        let rising = self.generations.windows(2).all(|pair| pair[0].0 < pair[1].0);
        let counted = (1..=GENERATIONS_MAX).contains(&self.generations.len());
        bound(self.version == MANIFEST_VERSION, "version", "only 1 exists")?;
        bound(sized(&self.name, NAME_MAX_BYTES), "name", "1 to 255 bytes")?;
        bound(counted && rising, "generations", "one, or two of rising number")?;
        if let Some(embedder) = &self.embedder {
            bound(sized(&embedder.name, EMBEDDER_NAME_MAX_BYTES), "embedder.name", "1 to 255 bytes")?;
            bound(embedder.dimension > 0, "embedder.dimension", "at least 1")?;
        }
        bound(sized(&self.created_at, CREATED_AT_MAX_BYTES), "created_at", "1 to 64 bytes")?;
        let log_id = self.log_id.as_deref();
        bound(log_id.is_none_or(|text| sized(text, LOG_ID_MAX_BYTES)), "log_id", "1 to 128 bytes")
    }

    /// The text of `vault.json`, with the MAC under `key`, which must be the newest generation's.
    ///
    /// Call [`Manifest::check`] first where a field came from outside: what breaks a bound is written all the
    /// same, and refused when it is read.
    #[must_use]
    pub fn to_json(&self, key: &ManifestKey) -> String {
        json::render(self, &key.mac(self))
    }
}

/// Authenticates `vault.json` within one key generation.
pub struct ManifestKey(Keyed);

redacted_debug!(ManifestKey);

impl ManifestKey {
    pub(crate) fn from_secret(secret: &Secret) -> Self {
        Self(Keyed::new(secret))
    }

    fn mac(&self, manifest: &Manifest) -> Tag {
        let mut running = self.0.start(canonical::MANIFEST_DOMAIN);
        running.raw(&canonical::encode(manifest));
        Tag::from_bytes(running.finish())
    }
}

/// A manifest as read: well formed, but nothing in it is believed yet.
#[derive(Debug)]
pub struct UnverifiedManifest {
    claims: Manifest,
    mac: Tag,
    newest: (KeyGeneration, Salt),
}

impl UnverifiedManifest {
    /// Reads the text of `vault.json`.
    ///
    /// # Errors
    /// [`Error::ManifestForm`] for text that is too long, is no JSON object of this version, misses a field, has
    /// an unknown or repeated one, or breaks a bound.
    pub fn parse(text: &str) -> Result<Self, Error> {
        if text.len() > MANIFEST_MAX_BYTES {
            return Err(Error::ManifestForm { detail: format!("longer than {MANIFEST_MAX_BYTES} bytes") });
        }
        let form = |error: Error| Error::ManifestForm { detail: error.to_string() };
        let (claims, mac) = json::parse(text)?;
        claims.check().map_err(form)?;
        let Some(&newest) = claims.generations.last() else {
            return Err(form(Error::Generation));
        };
        Ok(Self { claims, mac, newest })
    }

    /// The claimed seal id, for deriving keys.
    #[must_use]
    pub const fn seal_id(&self) -> &SealId {
        &self.claims.seal_id
    }

    /// The claimed generations, oldest first, for deriving keys.
    #[must_use]
    pub fn generations(&self) -> &[(KeyGeneration, Salt)] {
        &self.claims.generations
    }

    /// The newest claimed generation, under whose manifest key this manifest must verify.
    #[must_use]
    pub const fn newest(&self) -> &(KeyGeneration, Salt) {
        &self.newest
    }

    /// The claimed name, for messages.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.claims.name
    }

    /// Whether it claims a position in a replicated log: such a vault is written by its cluster alone.
    #[must_use]
    pub const fn is_of_cluster(&self) -> bool {
        self.claims.log_id.is_some()
    }

    /// Checks the MAC and gives the manifest.
    ///
    /// # Errors
    /// [`Error::ManifestMac`]; a wrong key and a changed field look alike.
    pub fn verify(&self, key: &ManifestKey) -> Result<Manifest, Error> {
        if key.mac(&self.claims) == self.mac { Ok(self.claims.clone()) } else { Err(Error::ManifestMac) }
    }
}

#[cfg(test)]
#[path = "manifest_test.rs"]
mod manifest_test;
