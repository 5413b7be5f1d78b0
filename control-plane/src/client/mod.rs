//! Who asks the Admin API: an operator's command line. One connection a request, plain to this machine alone and TLS to others.
//!
//! It knows no route and no field: it carries a request there and the answer back.

mod address;
mod ask;

pub use address::Address;
pub use ask::{Client, Reply};
pub use axum::http::Method;
