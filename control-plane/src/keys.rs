//! The one secret that every member of the group is given, and what follows from it: the key of tenants' tokens, the seal over
//! what the group mints, and a value by which two members find out that they were given the same.

use std::fmt;

use chacha20poly1305::aead::{Aead, KeyInit, Payload};
use chacha20poly1305::{Key, XChaCha20Poly1305, XNonce};
use hmac::{Hmac, Mac};
use sha2::Sha256;
use undercroft_proto::TokenKey;
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

use crate::Error;
use crate::ports::Ports;

/// Separates the check value from any other use of the key.
const CHECK: &[u8] = b"undercroft/group-key-check/1\x1f";
/// Separates the key of the seal from any other use of the key.
const SEAL: &[u8] = b"undercroft/group-seal/1\x1f";
/// Bytes of a nonce, which stands before what is sealed.
const NONCE: usize = 24;

/// What a member tells of its key: two are equal when the keys are, and from one the key cannot be found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
pub struct KeyCheck([u8; 32]);

impl KeyCheck {
    /// The value as it travels.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

/// The key of the control group.
#[derive(Zeroize, ZeroizeOnDrop)]
pub struct GroupKey([u8; 32]);

impl GroupKey {
    /// The key of these bytes.
    #[must_use]
    pub const fn new(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The key under which tenants' tokens are kept: the same bytes, as it always was.
    #[must_use]
    pub const fn tokens(&self) -> TokenKey {
        TokenKey::new(self.0)
    }

    /// The same bytes, for routers: they recognise tokens.
    pub(crate) const fn token_key_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// `HMAC-SHA256(key, "undercroft/group-key-check/1" ‖ 0x1f)`.
    #[must_use]
    pub fn check(&self) -> KeyCheck {
        KeyCheck(self.derive(CHECK))
    }

    /// Seals 32 bytes so that only members open them: `nonce ‖ XChaCha20-Poly1305`, under a key that follows from this one.
    ///
    /// # Errors
    /// [`Error::Stopped`], which does not happen: the length is within the cipher's.
    pub fn seal(&self, secret: &[u8; 32], ports: &Ports) -> Result<Box<[u8]>, Error> {
        let nonce: [u8; NONCE] = ports.random();
        let sealed = self.cipher().encrypt(&XNonce::from(nonce), Payload { msg: secret, aad: SEAL });
        let sealed = sealed.map_err(|_| Error::Stopped("32 bytes cannot be sealed".into()))?;
        Ok([nonce.as_slice(), &sealed].concat().into())
    }

    /// Opens what [`GroupKey::seal`] sealed. `None` for anything else.
    #[must_use]
    pub fn open(&self, sealed: &[u8]) -> Option<Zeroizing<[u8; 32]>> {
        let (nonce, sealed) = sealed.split_first_chunk::<NONCE>()?;
        let opened = self.cipher().decrypt(&XNonce::from(*nonce), Payload { msg: sealed, aad: SEAL });
        let opened = Zeroizing::new(opened.ok()?);
        <[u8; 32]>::try_from(opened.as_slice()).ok().map(Zeroizing::new)
    }

    fn cipher(&self) -> XChaCha20Poly1305 {
        let key = Zeroizing::new(self.derive(SEAL));
        XChaCha20Poly1305::new(<&Key>::from(&*key))
    }

    fn derive(&self, purpose: &[u8]) -> [u8; 32] {
        #[expect(clippy::unwrap_used, reason = "HMAC takes a key of any length")]
        let mut mac = <Hmac<Sha256> as hmac::KeyInit>::new_from_slice(&self.0).unwrap();
        mac.update(purpose);
        mac.finalize().into_bytes().into()
    }
}

impl fmt::Debug for GroupKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("GroupKey(…)")
    }
}

#[cfg(test)]
mod tests {
    use undercroft_proto::Token;

    use super::GroupKey;
    use crate::ports::Ports;

    #[test]
    fn what_is_sealed_opens_under_the_same_key_and_no_other_and_not_once_it_is_changed() {
        let (ports, key, other) = (Ports::of_this_machine(), GroupKey::new([1; 32]), GroupKey::new([2; 32]));
        let sealed = key.seal(&[7; 32], &ports).expect("sealed");
        assert_eq!(key.open(&sealed).as_deref(), Some(&[7; 32]));
        assert_ne!(key.seal(&[7; 32], &ports).expect("sealed"), sealed, "no two are alike");
        assert!(other.open(&sealed).is_none());
        for at in 0..sealed.len() {
            let mut changed = sealed.clone();
            changed[at] ^= 1;
            assert!(key.open(&changed).is_none(), "byte {at}");
            assert!(key.open(&sealed[..at]).is_none(), "cut at {at}");
        }
    }

    #[test]
    fn equal_keys_are_found_out_and_others_told_apart() {
        let (one, other) = (GroupKey::new([1; 32]), GroupKey::new([2; 32]));
        assert_eq!(one.check(), GroupKey::new([1; 32]).check());
        assert_ne!(one.check(), other.check());
        assert_ne!(one.check().as_bytes(), &[1; 32]);
        let token = Token::new([3; 32]);
        assert_ne!(one.tokens().mac(&token), other.tokens().mac(&token));
        assert_eq!(format!("{one:?}"), "GroupKey(…)");
    }
}
