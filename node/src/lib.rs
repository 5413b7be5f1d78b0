//! One process that serves many vaults to many clients at once.
//!
//! `serving` keeps vaults open and orders what is done to them; `http` speaks `/v1`; `telemetry` counts and logs; `reply` is
//! what is answered, as types; `shards` replicates vaults over nodes, and `journal` is the log of its Raft groups: no command uses
//! these two yet. This crate knows nothing of tenants and their tokens, and reads no environment: what was declared is handed to it. Start at
//! [`serving::Serving`] and [`http::serve`]; [`run`] is the whole process.

mod error;
pub mod http;
pub mod journal;
pub mod limits;
pub mod mcp;
mod process;
pub mod reply;
pub mod serving;
pub mod shards;
pub mod telemetry;
mod told;

pub use error::{Error, Result};
pub use process::{Listening, Setup, run};
