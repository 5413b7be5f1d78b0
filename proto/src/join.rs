//! How a node proves, when it joins, that it holds the fleet's master key: a MAC over a challenge and over what it says of
//! itself, under a key that follows from the master key.
//!
//! The control plane is given that derived key and never the master key; from one the other cannot be found.

use std::fmt;

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

use crate::Error;
use crate::text::hex_bytes;

/// Separates the derivation of the key from any other use of the master key.
const DERIVE: &[u8] = b"undercroft/join-key/1\x1f";
/// Separates the proof from any other use of the key.
const PROVE: &[u8] = b"undercroft/join/1\x1f";

/// What a node says of itself when it joins. All of it is proved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Joining<'a> {
    /// The challenge that it was given.
    pub challenge: [u8; 32],
    /// The operator's name for it.
    pub name: &'a str,
    /// Where others reach it: host:port.
    pub address: &'a str,
    /// Its zone, or empty.
    pub zone: &'a str,
    /// How much it can hold.
    pub capacity_bytes: u64,
    /// Sixteen random bytes made with its journal.
    pub journal: [u8; 16],
}

/// The key under which nodes prove themselves.
#[derive(Zeroize, ZeroizeOnDrop)]
pub struct JoinKey([u8; 32]);

impl JoinKey {
    /// The key that follows from the fleet's master key: `HMAC-SHA256(master, "undercroft/join-key/1" ‖ 0x1f)`.
    #[must_use]
    pub fn derive(master: &[u8; 32]) -> Self {
        Self(keyed(master, DERIVE).finalize().into_bytes().into())
    }

    /// Reads the printed form.
    ///
    /// # Errors
    /// [`Error::Secret`] for anything but 64 lower-case hex digits; the text is not repeated.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let wrong = Error::Secret { what: "a join key", expected: "64 lower-case hex digits" };
        hex_bytes(text).map(Self).ok_or(wrong)
    }

    /// The printed form, for the members of the control group.
    #[must_use]
    pub fn reveal(&self) -> Zeroizing<String> {
        Zeroizing::new(hex::encode(self.0))
    }

    /// The proof: a MAC over the challenge and every field, each text behind its length as eight bytes, little-endian.
    #[must_use]
    pub fn prove(&self, joining: &Joining<'_>) -> [u8; 32] {
        self.mac(joining).finalize().into_bytes().into()
    }

    /// Whether a proof is the one, in constant time.
    #[must_use]
    pub fn proves(&self, joining: &Joining<'_>, proof: &[u8]) -> bool {
        self.mac(joining).verify_slice(proof).is_ok()
    }

    fn mac(&self, joining: &Joining<'_>) -> Hmac<Sha256> {
        let mut mac = keyed(&self.0, PROVE);
        mac.update(&joining.challenge);
        for text in [joining.name, joining.address, joining.zone] {
            mac.update(&(text.len() as u64).to_le_bytes());
            mac.update(text.as_bytes());
        }
        mac.update(&joining.capacity_bytes.to_le_bytes());
        mac.update(&joining.journal);
        mac
    }
}

impl fmt::Debug for JoinKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JoinKey(…)")
    }
}

fn keyed(key: &[u8; 32], purpose: &[u8]) -> Hmac<Sha256> {
    #[expect(clippy::unwrap_used, reason = "HMAC takes a key of any length")]
    let mut mac = Hmac::<Sha256>::new_from_slice(key).unwrap();
    mac.update(purpose);
    mac
}

#[cfg(test)]
mod tests {
    use super::{JoinKey, Joining};

    const SAID: Joining<'_> = Joining {
        challenge: [3; 32],
        name: "node-a",
        address: "10.0.0.7:7700",
        zone: "east",
        capacity_bytes: 1 << 40,
        journal: [5; 16],
    };

    #[test]
    fn a_holder_of_the_master_key_proves_it_and_nobody_else_does() {
        let (key, other) = (JoinKey::derive(&[1; 32]), JoinKey::derive(&[2; 32]));
        let proof = key.prove(&SAID);
        assert!(JoinKey::derive(&[1; 32]).proves(&SAID, &proof));
        assert!(!other.proves(&SAID, &proof) && !key.proves(&SAID, &proof[..31]) && !key.proves(&SAID, &[]));
    }

    #[test]
    fn a_proof_holds_for_what_was_said_to_the_letter() {
        let key = JoinKey::derive(&[1; 32]);
        let proof = key.prove(&SAID);
        let others = [
            Joining { challenge: [4; 32], ..SAID },
            Joining { name: "node-", address: "a10.0.0.7:7700", ..SAID },
            Joining { address: "10.0.0.8:7700", ..SAID },
            Joining { zone: "", ..SAID },
            Joining { capacity_bytes: 1, ..SAID },
            Joining { journal: [6; 16], ..SAID },
        ];
        assert!(others.iter().all(|other| !key.proves(other, &proof)));
    }

    #[test]
    fn the_printed_form_reads_back_and_shows_in_no_debug() {
        let key = JoinKey::derive(&[1; 32]);
        let again = JoinKey::parse(&key.reveal()).unwrap();
        assert_eq!(again.prove(&SAID), key.prove(&SAID));
        assert_eq!(format!("{key:?}"), "JoinKey(…)");
        assert!(JoinKey::parse(&"AB".repeat(32)).is_err() && JoinKey::parse("").is_err());
    }
}
