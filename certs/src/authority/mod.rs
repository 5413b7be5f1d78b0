//! The cluster's own CA: a folder on the operator's machine, out of which certificates come.
//!
//! The folder holds `ca.crt` (whom to trust: one CA, or two while it is renewed), `ca.key`, and for each certificate a folder
//! `<role>-<name>` with `ca.crt`, `tls.crt` and `tls.key`: what that process needs, to be copied to it.

mod ca;
mod held;
mod issue;
mod open;
mod rollover;

pub use held::Held;
pub use issue::{Done, Request};
pub use open::Authority;
pub use rollover::{Stage, Turned};

#[cfg(test)]
mod authority_test;
