//! What a router hands a node with a request: proof that a router of this fleet allowed it, for one vault and one route.
//!
//! There is no time in it. Freshness comes from the TLS session: the assertion is bound to the router's certificate, which
//! the node sees for itself, so a stolen one is of no use on another connection and a wrong clock breaks nothing.

use std::fmt;
use std::str::FromStr;

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use subtle::ConstantTimeEq;
use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::text::{decimal, hex_bytes};
use crate::{Epoch, Error, Incarnation, VaultId};

/// Separates this use of the key from any other, and one version of the recipe from the next.
const PURPOSE: &[u8] = b"undercroft/assertion/1\x1f";

/// What an assertion allows, to the letter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Claim<'a> {
    /// The vault.
    pub vault: VaultId,
    /// Which life of it.
    pub incarnation: Incarnation,
    /// Which ownership of it the router knew.
    pub epoch: Epoch,
    /// The method, upper case.
    pub method: &'a str,
    /// Path and query as the node sees them.
    pub path: &'a str,
    /// SHA-256 of the certificate with which the router opened the connection.
    pub certificate: [u8; 32],
}

/// A key for assertions. Keys are numbered, so that a new one can be handed out before the old one is withdrawn.
#[derive(Zeroize, ZeroizeOnDrop)]
pub struct AssertionKey {
    id: u32,
    bytes: [u8; 32],
}

impl AssertionKey {
    /// The key of this number.
    #[must_use]
    pub const fn new(id: u32, bytes: [u8; 32]) -> Self {
        Self { id, bytes }
    }

    /// Number of the key.
    #[must_use]
    pub const fn id(&self) -> u32 {
        self.id
    }

    /// The assertion that allows exactly this.
    #[must_use]
    pub fn mint(&self, claim: &Claim<'_>) -> Assertion {
        Assertion { key: self.id, mac: self.mac(claim) }
    }

    /// Checks that the assertion was minted with this key for exactly this claim.
    ///
    /// # Errors
    /// [`Error::Assertion`], which never says what differs.
    pub fn check(&self, assertion: &Assertion, claim: &Claim<'_>) -> Result<(), Error> {
        let same = self.mac(claim).ct_eq(&assertion.mac);
        if assertion.key == self.id && bool::from(same) { Ok(()) } else { Err(Error::Assertion) }
    }

    /// Each variable part is preceded by its length, so no two claims give the same bytes.
    fn mac(&self, claim: &Claim<'_>) -> [u8; 32] {
        #[expect(clippy::unwrap_used, reason = "HMAC takes a key of any length")]
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.bytes).unwrap();
        mac.update(PURPOSE);
        mac.update(&self.id.to_le_bytes());
        mac.update(&claim.vault.as_u128().to_le_bytes());
        mac.update(&claim.incarnation.get().to_le_bytes());
        mac.update(&claim.epoch.get().to_le_bytes());
        mac.update(&claim.certificate);
        for text in [claim.method, claim.path] {
            mac.update(&(text.len() as u64).to_le_bytes());
            mac.update(text.as_bytes());
        }
        mac.finalize().into_bytes().into()
    }
}

impl fmt::Debug for AssertionKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "AssertionKey({}, …)", self.id)
    }
}

/// An assertion as it travels, printed `<key id>:<64 hex digits>`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Assertion {
    key: u32,
    mac: [u8; 32],
}

impl Assertion {
    /// Number of the key that it names.
    #[must_use]
    pub const fn key(&self) -> u32 {
        self.key
    }
}

impl fmt::Display for Assertion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.key, hex::encode(self.mac))
    }
}

impl FromStr for Assertion {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let wrong = Error::Secret { what: "an assertion", expected: "<key id>:<64 lower-case hex digits>" };
        let parts = text.split_once(':').and_then(|(key, mac)| {
            let key = decimal(key).and_then(|key| u32::try_from(key).ok())?;
            Some(Self { key, mac: hex_bytes(mac)? })
        });
        parts.ok_or(wrong)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Assertion, AssertionKey, Claim};
    use crate::{Epoch, Error, ErrorClass, Incarnation, VaultId};

    fn claim<'a>(method: &'a str, path: &'a str) -> Claim<'a> {
        Claim {
            vault: VaultId::from_u128(5),
            incarnation: Incarnation::new(1),
            epoch: Epoch::new(3),
            method,
            path,
            certificate: [9; 32],
        }
    }

    proptest! {
        #[test]
        fn an_assertion_holds_for_its_claim_in_its_printed_form(id in any::<u32>(), path in ".{0,40}") {
            let key = AssertionKey::new(id, [4; 32]);
            let printed = key.mint(&claim("GET", &path)).to_string();
            let read: Assertion = printed.parse().unwrap();
            prop_assert_eq!(read.to_string(), printed);
            prop_assert_eq!(key.check(&read, &claim("GET", &path)), Ok(()));
        }

        #[test]
        fn text_moved_between_method_and_path_is_another_claim(text in "[a-z]{2,12}", at in 1_usize..2) {
            let key = AssertionKey::new(1, [4; 32]);
            let minted = key.mint(&claim(&text[..at], &text[at..]));
            prop_assert!(key.check(&minted, &claim(&text, "")).is_err());
            prop_assert!(key.check(&minted, &claim("", &text)).is_err());
        }

        #[test]
        fn any_text_that_reads_as_an_assertion_is_its_only_text(text in "[0-9]{0,3}:?[0-9a-fA-F]{60,68}") {
            if let Ok(read) = text.parse::<Assertion>() {
                prop_assert_eq!(read.to_string(), text);
            }
        }
    }

    #[test]
    fn an_assertion_holds_for_nothing_else() {
        let key = AssertionKey::new(1, [4; 32]);
        let right = claim("GET", "/v1/vaults/x/drawers");
        let minted = key.mint(&right);
        let others = [
            Claim { vault: VaultId::from_u128(6), ..right },
            Claim { incarnation: Incarnation::new(2), ..right },
            Claim { epoch: Epoch::new(4), ..right },
            Claim { method: "POST", ..right },
            Claim { path: "/v1/vaults/x/drawers?limit=1", ..right },
            Claim { certificate: [8; 32], ..right },
        ];
        for other in others {
            assert_eq!(key.check(&minted, &other), Err(Error::Assertion), "{other:?}");
        }
        assert!(AssertionKey::new(2, [4; 32]).check(&minted, &right).is_err(), "another number");
        assert!(AssertionKey::new(1, [5; 32]).check(&minted, &right).is_err(), "another key");
        assert_eq!(Error::Assertion.class(), ErrorClass::Denied);
    }
}
