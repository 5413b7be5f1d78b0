//! Measuring the server: the real program, started here, asked by many clients over its own surface.
//!
//! Both ends run on the same machine, so the clients do as little as they can: prepared bytes, kept connections, one
//! thread each.

mod client;
mod fairness;
mod idle;
mod load;
mod options;
mod questions;
mod run;
mod saves;
mod searches;
mod server;

pub use options::{Scenario, ServeOptions};
pub use run::run;
