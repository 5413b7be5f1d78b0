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
        let mut running = Running { mac: (*self.0).clone(), pending: [0; PENDING], len: 0 };
        running.raw(domain.as_bytes()).raw(&[0]);
        running
    }
}

/// Bytes gathered before the hash sees them. Most values are made of many short fields, and each call costs the hash
/// more than the copy.
const PENDING: usize = 256;

/// A MAC that is being computed.
pub(crate) struct Running {
    mac: Hmac<Sha256>,
    pending: [u8; PENDING],
    len: usize,
}

impl Running {
    /// Adds bytes as they are.
    pub(crate) fn raw(&mut self, bytes: &[u8]) -> &mut Self {
        if bytes.len() > PENDING - self.len {
            self.flush();
        }
        match self.pending.get_mut(self.len..self.len + bytes.len()) {
            Some(room) => {
                room.copy_from_slice(bytes);
                self.len += bytes.len();
            }
            None => self.mac.update(bytes),
        }
        self
    }

    /// Adds `lp(bytes)`.
    pub(crate) fn lp(&mut self, bytes: &[u8]) -> &mut Self {
        self.raw(&prefix(bytes)).raw(bytes)
    }

    fn flush(&mut self) {
        self.mac.update(&self.pending[..self.len]);
        self.len = 0;
    }

    /// The MAC.
    pub(crate) fn finish(mut self) -> [u8; KEY_LEN] {
        self.flush();
        self.mac.finalize().into_bytes().into()
    }

    /// The first 16 bytes of the MAC, for columns that are compared and never trusted.
    pub(crate) fn finish_short(self) -> [u8; 16] {
        let full = self.finish();
        let mut short = [0; 16];
        short.copy_from_slice(&full[..16]);
        short
    }
}
