//! HMAC-SHA256 (RFC 2104) with the key already absorbed.
//!
//! Absorbing the key costs two compressions of SHA-256, as much as MACing a short value. It is done once, and each
//! MAC starts from a copy of the absorbed state.

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use crate::layout::{KEY_LEN, prefix};
use crate::secret::Secret;

/// An HMAC key in its absorbed form; the state is zeroed when dropped.
pub(crate) struct Keyed(Box<Hmac<Sha256>>);

impl Keyed {
    /// Absorbs `secret`.
    pub(crate) fn new(secret: &Secret) -> Self {
        #[expect(clippy::expect_used, reason = "HMAC is defined for keys of every length")]
        Self(Box::new(Hmac::new_from_slice(secret.expose()).expect("HMAC takes keys of every length")))
    }

    /// Starts a MAC with a domain string and its closing zero byte.
    pub(crate) fn start(&self, domain: &str) -> Running {
        let mut mac = (*self.0).clone();
        mac.update(domain.as_bytes());
        mac.update(&[0]);
        Running(mac)
    }
}

/// A MAC that is being computed.
pub(crate) struct Running(Hmac<Sha256>);

impl Running {
    /// Adds bytes as they are.
    pub(crate) fn raw(mut self, bytes: &[u8]) -> Self {
        self.0.update(bytes);
        self
    }

    /// Adds `lp(bytes)`.
    pub(crate) fn lp(self, bytes: &[u8]) -> Self {
        self.raw(&prefix(bytes)).raw(bytes)
    }

    /// The MAC.
    pub(crate) fn finish(self) -> [u8; KEY_LEN] {
        self.0.finalize().into_bytes().into()
    }

    /// The first 16 bytes of the MAC, for columns that are compared and never trusted.
    pub(crate) fn finish_short(self) -> [u8; 16] {
        let full = self.finish();
        let mut short = [0; 16];
        short.copy_from_slice(&full[..16]);
        short
    }
}
