//! The ids of a fleet: one type for each, so that none can stand where another is meant.
//!
//! Ids are minted by the control plane and never used again. No type here mints one from a clock or at random.

use std::fmt;
use std::str::FromStr;

use crate::Error;
use crate::text::{counting, serde_as_text};

/// Digits of Crockford's base 32, in which a ULID is printed.
const CROCKFORD: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
/// Characters of a printed ULID: 26 × 5 bits hold 128 with two to spare.
const ULID_LENGTH: usize = 26;

/// A vault's id: a ULID, that is 48 bits of milliseconds since 1970 and 80 bits of randomness.
///
/// Printed as 26 upper-case characters (<https://github.com/ulid/spec>). Ids sort by the time at which they were minted.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct VaultId(u128);

impl VaultId {
    const EXPECTED: &'static str =
        "26 characters of Crockford's base 32, upper case, for example 01J9ZK3T5Q8RZXW2M4N6P7V0AB";

    /// The id of these milliseconds and these random bits (the upper 48 of `random` are not used).
    #[must_use]
    pub const fn from_parts(milliseconds: u64, random: u128) -> Self {
        Self(((milliseconds as u128) << 80) | (random & ((1 << 80) - 1)))
    }

    /// The id as a number; what [`VaultId::from_u128`] reads.
    #[must_use]
    pub const fn as_u128(self) -> u128 {
        self.0
    }

    /// The id of a number.
    #[must_use]
    pub const fn from_u128(number: u128) -> Self {
        Self(number)
    }

    /// When it was minted, in milliseconds since 1970, by the clock of who minted it.
    #[must_use]
    pub const fn milliseconds(self) -> u64 {
        (self.0 >> 80) as u64
    }

    /// The id that sorts right behind this one; `None` behind the last.
    #[must_use]
    pub fn next(self) -> Option<Self> {
        self.0.checked_add(1).map(Self)
    }
}

impl fmt::Display for VaultId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut digits = [0_u8; ULID_LENGTH];
        for (at, digit) in digits.iter_mut().rev().enumerate() {
            *digit = CROCKFORD[(self.0 >> (5 * at) & 31) as usize];
        }
        f.pad(std::str::from_utf8(&digits).unwrap_or_default())
    }
}

impl fmt::Debug for VaultId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "VaultId({self})")
    }
}

impl FromStr for VaultId {
    type Err = Error;

    /// Reads the printed form and no other: the same id in lower case would be a second name of one vault.
    fn from_str(text: &str) -> Result<Self, Error> {
        let wrong = || Error::text("a vault id", Self::EXPECTED, text);
        // The first digit holds the three bits that are left of 128.
        if text.len() != ULID_LENGTH || text.as_bytes()[0] > b'7' {
            return Err(wrong());
        }
        text.bytes()
            .try_fold(0_u128, |number, byte| {
                let digit = CROCKFORD.iter().position(|digit| *digit == byte).ok_or_else(wrong)?;
                Ok(number << 5 | digit as u128)
            })
            .map(Self)
    }
}

serde_as_text!(VaultId, u128);

/// A tenant's id: 64 bits, printed as 16 lower-case hex digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TenantId(u64);

impl TenantId {
    /// The id of the tenant that was the `count`th to be created in the cluster of this salt.
    ///
    /// The count is mixed by a bijection (the finalizer of splitmix64, <https://prng.di.unimi.it/splitmix64.c>), so two
    /// counts never give one id, and an id tells nobody how many tenants there are.
    #[must_use]
    pub const fn from_count(count: u64, salt: u64) -> Self {
        let mut mixed = count.wrapping_add(salt);
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        Self(mixed ^ (mixed >> 31))
    }

    /// The id as a number; what [`TenantId::from_u64`] reads.
    #[must_use]
    pub const fn as_u64(self) -> u64 {
        self.0
    }

    /// The id of a number.
    #[must_use]
    pub const fn from_u64(number: u64) -> Self {
        Self(number)
    }
}

impl fmt::Display for TenantId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

impl fmt::Debug for TenantId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TenantId({self})")
    }
}

impl FromStr for TenantId {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let bytes = crate::text::hex_bytes::<8>(text);
        let wrong = || Error::text("a tenant id", "16 lower-case hex digits", text);
        bytes.map(|bytes| Self(u64::from_be_bytes(bytes))).ok_or_else(wrong)
    }
}

serde_as_text!(TenantId, u64);

/// Declares an id that counts up from 1 and is printed as a decimal number.
macro_rules! counted_id {
    ($(#[$doc:meta])* $name:ident, $number:ty, $what:literal) => {
        counting!($(#[$doc])* $name, $number, $what);

        impl $name {
            /// The first id that is given out.
            pub const FIRST: Self = Self(1);
        }
    };
}

counted_id!(
    /// One life of a node's journal. A node whose journal was lost gets a new id, and the old one never votes again.
    NodeId, u64, "a node id"
);
counted_id!(
    /// A member of the control group, by the life of its log.
    MemberId, u64, "a member id"
);
counted_id!(
    /// One Raft group that replicates the vaults placed in it.
    ShardId, u32, "a shard id"
);
counted_id!(
    /// One piece of work that somebody asked for and that takes longer than a call.
    JobId, u64, "a job id"
);
counted_id!(
    /// One attempt to move a vault from one shard to another.
    MoveId, u64, "a move id"
);

#[cfg(test)]
#[path = "ids_test.rs"]
mod ids_test;
