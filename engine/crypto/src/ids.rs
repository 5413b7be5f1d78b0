//! Small typed values: identifiers, salts, blind values, tags, chain positions.
//!
//! None of them is a secret, none dereferences to its bytes, and none has a default: a value exists because
//! somebody made or read it.

use subtle::ConstantTimeEq;

use crate::entropy::Entropy;
use crate::error::Error;

macro_rules! byte_value {
    ($(#[$doc:meta])* $name:ident, $len:literal, $what:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy)]
        pub struct $name([u8; $len]);

        impl $name {
            /// Length in bytes.
            pub const LEN: usize = $len;

            /// Wraps bytes that have the right length by type.
            #[must_use]
            pub const fn from_bytes(bytes: [u8; $len]) -> Self {
                Self(bytes)
            }

            /// Reads a value from a column or a buffer.
            ///
            /// # Errors
            /// [`Error::Length`] unless there are exactly [`Self::LEN`] bytes.
            pub fn from_slice(bytes: &[u8]) -> Result<Self, Error> {
                let found = bytes.len();
                bytes.try_into().map(Self).map_err(|_| Error::Length { what: $what, expected: $len, found })
            }

            /// Reads lower-case hexadecimal, the only form that [`Self::to_hex`] writes.
            ///
            /// # Errors
            /// [`Error::Hex`] for another length, another digit or an upper-case one.
            pub fn from_hex(text: &str) -> Result<Self, Error> {
                let refused = || Error::Hex { what: $what, expected: 2 * $len };
                if text.bytes().any(|b| b.is_ascii_uppercase()) {
                    return Err(refused());
                }
                let mut bytes = [0; $len];
                hex::decode_to_slice(text, &mut bytes).map_err(|_| refused())?;
                Ok(Self(bytes))
            }

            /// The bytes as stored.
            #[must_use]
            pub const fn as_bytes(&self) -> &[u8; $len] {
                &self.0
            }

            /// Lower-case hexadecimal.
            #[must_use]
            pub fn to_hex(&self) -> String {
                hex::encode(self.0)
            }
        }

        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, "{}({})", stringify!($name), self.to_hex())
            }
        }
    };
}

macro_rules! compared_by_value {
    ($($name:ident),+) => {$(
        impl PartialEq for $name {
            fn eq(&self, other: &Self) -> bool {
                self.0 == other.0
            }
        }
        impl Eq for $name {}
        impl std::hash::Hash for $name {
            fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
                self.0.hash(state);
            }
        }
        impl PartialOrd for $name {
            fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
                Some(self.cmp(other))
            }
        }
        impl Ord for $name {
            fn cmp(&self, other: &Self) -> std::cmp::Ordering {
                self.0.cmp(&other.0)
            }
        }
    )+};
}

macro_rules! drawn_at_random {
    ($($name:ident),+) => {$(
        impl $name {
            /// Draws a fresh value.
            #[must_use]
            pub fn generate(entropy: &dyn Entropy) -> Self {
                let mut bytes = [0; Self::LEN];
                entropy.fill(&mut bytes);
                Self(bytes)
            }
        }
    )+};
}

byte_value! {
    /// The vault's identity inside every cipher and key: 16 random bytes, never its name, so a name can be used
    /// again without old bytes ever opening.
    SealId, 16, "seal id"
}
byte_value! {
    /// The salt of one key generation. Whoever destroys every copy of it has destroyed what was sealed under it.
    Salt, 16, "generation salt"
}
byte_value! {
    /// The salt of a passphrase, kept beside the vaults in clear.
    KdfSalt, 16, "passphrase salt"
}
byte_value! {
    /// Drawn for each proposal of a segment: tells two attempts at one base apart.
    ProposalId, 16, "proposal id"
}
byte_value! {
    /// What stands in a column instead of a value: equal values of one column give equal bytes within a key
    /// generation, and nothing else can be read from it.
    Blind, 16, "blind value"
}
byte_value! {
    /// An HMAC-SHA256 over the fields of a row. Compared in constant time; not hashable, so that it is not used
    /// as a lookup key by accident.
    Tag, 32, "tag"
}
byte_value! {
    /// The keyed head of the audit chain.
    Head, 32, "chain head"
}
byte_value! {
    /// The plain running digest of the audit chain, unchanged by key rotation.
    Digest, 32, "chain digest"
}

compared_by_value!(SealId, Salt, KdfSalt, ProposalId, Blind, Head, Digest);
drawn_at_random!(SealId, Salt, KdfSalt, ProposalId);

impl PartialEq for Tag {
    fn eq(&self, other: &Self) -> bool {
        self.0.ct_eq(&other.0).into()
    }
}

impl Eq for Tag {}

/// Which set of keys: 1 for the first, one more with each rotation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct KeyGeneration(u32);

impl KeyGeneration {
    /// The generation a vault is created with.
    #[must_use]
    pub const fn first() -> Self {
        Self(1)
    }

    /// Reads a stored generation.
    ///
    /// # Errors
    /// [`Error::Generation`] for 0.
    pub const fn from_u32(number: u32) -> Result<Self, Error> {
        if number == 0 { Err(Error::Generation) } else { Ok(Self(number)) }
    }

    /// The generation after this one. It stays at `u32::MAX`, which four billion rotations would reach; the
    /// caller then finds a generation that exists already instead of one that wrapped round to an old key.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }

    /// The number.
    #[must_use]
    pub const fn get(self) -> u32 {
        self.0
    }
}

/// A position in the audit chain: the number of rows before and at it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Height(u64);

impl Height {
    /// The height of an empty chain.
    pub const GENESIS: Self = Self(0);

    /// Wraps a stored height.
    #[must_use]
    pub const fn new(rows: u64) -> Self {
        Self(rows)
    }

    /// The height of an empty chain.
    #[must_use]
    pub const fn genesis() -> Self {
        Self::GENESIS
    }

    /// The height after one more row. It stays at `u64::MAX`, which no chain reaches by counting, so a forged
    /// height fails on a row that exists already instead of wrapping round to the beginning.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }

    /// The number of rows.
    #[must_use]
    pub const fn get(self) -> u64 {
        self.0
    }
}

impl std::fmt::Display for KeyGeneration {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

impl std::fmt::Display for Height {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
#[path = "ids_test.rs"]
mod ids_test;
