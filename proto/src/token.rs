//! A tenant's token: 32 random bytes that are shown once, and the HMAC that is kept in their place.
//!
//! No token is minted here: the random bytes come from the caller. No token is ever printed by `Debug`.

use std::fmt;

use hmac::{Hmac, KeyInit, Mac};
use serde::{Deserialize, Serialize};
use sha2::Sha256;
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

use crate::Error;
use crate::text::hex_bytes;

/// Separates this use of the key from any other.
const PURPOSE: &[u8] = b"orch-token\x1f";

/// A tenant's token. Its printed form is 64 lower-case hex digits.
#[derive(Zeroize, ZeroizeOnDrop)]
pub struct Token([u8; 32]);

impl Token {
    /// The token of 32 random bytes.
    #[must_use]
    pub const fn new(random: [u8; 32]) -> Self {
        Self(random)
    }

    /// Reads the printed form.
    ///
    /// # Errors
    /// [`Error::Secret`] for anything but 64 lower-case hex digits; the text is not repeated.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let wrong = Error::Secret { what: "a tenant token", expected: "64 lower-case hex digits" };
        hex_bytes(text).map(Self).ok_or(wrong)
    }

    /// The printed form, to be shown once to whom it belongs.
    #[must_use]
    pub fn reveal(&self) -> Zeroizing<String> {
        Zeroizing::new(hex::encode(self.0))
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(…)")
    }
}

/// The key under which tokens are kept. Only control plane and routers hold it.
#[derive(Zeroize, ZeroizeOnDrop)]
pub struct TokenKey([u8; 32]);

impl TokenKey {
    /// The key of these bytes.
    #[must_use]
    pub const fn new(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// What is kept of a token: `HMAC-SHA256(key, "orch-token" ‖ 0x1f ‖ printed form)`.
    ///
    /// The keeper looks tokens up by this value. That needs no constant time: without the key nobody can choose it.
    #[must_use]
    pub fn mac(&self, token: &Token) -> TokenMac {
        #[expect(clippy::unwrap_used, reason = "HMAC takes a key of any length")]
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.0).unwrap();
        mac.update(PURPOSE);
        mac.update(token.reveal().as_bytes());
        TokenMac(mac.finalize().into_bytes().into())
    }
}

impl fmt::Debug for TokenKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TokenKey(…)")
    }
}

/// What is kept of a token: enough to recognise it, not enough to use it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct TokenMac([u8; 32]);

impl TokenMac {
    /// The value of these bytes, as it was kept.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The bytes to keep.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Debug for TokenMac {
    /// Four bytes, to tell two apart in a log.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TokenMac({}…)", hex::encode(&self.0[..4]))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Token, TokenKey};

    proptest! {
        #[test]
        fn every_token_reads_back_and_has_one_mac_a_key(random in any::<[u8; 32]>()) {
            let token = Token::new(random);
            let again = Token::parse(&token.reveal()).unwrap();
            let (key, other) = (TokenKey::new([1; 32]), TokenKey::new([2; 32]));
            prop_assert_eq!(key.mac(&token), key.mac(&again));
            prop_assert_ne!(key.mac(&token), other.mac(&token));
        }

        #[test]
        fn what_is_not_the_printed_form_is_refused_without_repeating_it(text in ".{0,70}|[0-9a-fA-F]{60,68}") {
            match Token::parse(&text) {
                Ok(token) => {
                    let printed = token.reveal();
                    prop_assert_eq!(printed.as_str(), text.as_str());
                }
                Err(error) => prop_assert!(text.len() < 8 || !error.to_string().contains(&text)),
            }
        }
    }

    #[test]
    fn the_kept_value_is_the_recipe() {
        // Reckoned with another implementation: HMAC-SHA256, key 32 × 0x0b, "orch-token" 0x1f and 64 × "0".
        let mac = TokenKey::new([0x0b; 32]).mac(&Token::new([0; 32]));
        assert_eq!(
            hex::encode(mac.as_bytes()),
            "b4e026a685f29cfeeec4ae3e44659a25e33a5e8f1f05c8189fa679e05afea736"
        );
    }

    #[test]
    fn a_token_in_upper_case_is_refused() {
        assert!(Token::parse(&"AB".repeat(32)).is_err());
        assert!(Token::parse(&"ab".repeat(32)).is_ok());
    }

    #[test]
    fn secrets_do_not_show_in_debug() {
        assert_eq!(format!("{:?} {:?}", Token::new([7; 32]), TokenKey::new([7; 32])), "Token(…) TokenKey(…)");
    }
}
