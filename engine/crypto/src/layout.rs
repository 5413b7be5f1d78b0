//! Lengths, and the two writing rules that every format here shares.
//!
//! `lp(x)` is the length of `x` as u64 little-endian, then `x`. A *domain* is an ASCII string closed by one zero
//! byte; no domain contains a zero byte itself, so none is the beginning of another. All integers are
//! little-endian.

/// Bytes in every key.
pub(crate) const KEY_LEN: usize = 32;
/// Bytes in an XChaCha20 nonce.
pub(crate) const NONCE_LEN: usize = 24;
/// Bytes in a Poly1305 authenticator.
pub(crate) const POLY_LEN: usize = 16;
/// Bytes in front of a length-prefixed value.
pub(crate) const PREFIX_LEN: usize = 8;

/// The length prefix of `bytes`.
pub(crate) const fn prefix(bytes: &[u8]) -> [u8; PREFIX_LEN] {
    (bytes.len() as u64).to_le_bytes()
}

/// Appends `lp(bytes)`.
pub(crate) fn put_lp(out: &mut Vec<u8>, bytes: &[u8]) {
    out.extend_from_slice(&prefix(bytes));
    out.extend_from_slice(bytes);
}

/// Appends a domain string and its closing zero byte.
pub(crate) fn put_domain(out: &mut Vec<u8>, domain: &str) {
    out.extend_from_slice(domain.as_bytes());
    out.push(0);
}
