//! One process that serves many vaults to many clients at once.
//!
//! `serving` keeps vaults open and orders what is done to them; `http` speaks `/v1`. This crate knows nothing of tenants
//! and of tokens of tenants, and reads no environment: what was declared is handed to it. Start at [`serving::Serving`].

mod error;
pub mod limits;
pub mod serving;

pub use error::{Error, Result};
