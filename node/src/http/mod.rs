//! The HTTP surface: `/v1`, health, metrics. The whole table of routes is in `routes`; the document that follows from it
//! is put together in `contract`.
//!
//! A handler checks the form of what was asked, hands it to the vault and shapes the answer; it decides nothing about
//! vaults, keys or texts.

mod app;
mod arriving;
mod asked;
mod auth;
mod backups;
mod body;
mod connections;
mod contract;
mod drawers;
mod envelope;
mod errors;
mod history;
mod integrity;
mod later;
mod leaving;
mod mcp;
mod once;
mod openapi;
mod path;
mod readonly;
mod routes;
mod search;
mod server;
mod stats;
mod status;
mod supersessions;
mod taxonomy;
mod vault_route;
mod vaults;

pub use app::{AppOptions, Bearer, Capacity, Deadlines};
pub use auth::{AssertionSecret, assertion};
pub use server::{Drained, check_exposure, is_loopback, serve};

#[cfg(test)]
mod auth_test;
