//! Who is who between the processes of a fleet: the cluster's CA, certificates that carry a role, and mutual TLS with them.
//!
//! `authority` issues, and `secrets` draws keys, on the operator's machine. `live` holds what a process was given and takes new files while it runs;
//! `accept` and `connect` make connections of it. What a role may do is decided by who serves, with [`Roles`].

pub mod accept;
pub mod authority;
pub mod connect;
mod error;
mod facts;
mod files;
#[cfg(feature = "grpc")]
pub mod grpc;
mod identity;
pub mod limits;
mod live;
mod material;
mod secrets;
mod verify;

pub use accept::{AnonymousStream, ServerStream};
pub use authority::Authority;
pub use connect::{ClientStream, Trust};
pub use error::{Error, Unusable};
pub use identity::{Identity, Role, Roles};
pub use live::{Refreshed, Tls};
pub use rustls::time_provider::{DefaultTimeProvider as SystemTime, TimeProvider};
pub use secrets::Secrets;
pub use undercroft_proto::ErrorClass;

#[cfg(test)]
mod fixture;
#[cfg(test)]
mod tls_test;
