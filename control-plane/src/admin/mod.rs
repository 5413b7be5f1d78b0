//! The Admin API, `/admin/*`: what an operator asks of the fleet over HTTP. Any member answers.
//!
//! A change is decided by the leader, whoever was asked; a reading shows what the member that was asked has applied. The
//! routes are in `routes`, one file of handlers a subject.

mod app;
mod asked;
mod auth;
mod cluster;
mod errors;
mod health;
mod instances;
mod keys;
mod records;
mod recovery;
mod routes;
mod shards;
mod tenants;
mod tenants_more;

pub use app::App;
pub use auth::AdminToken;
pub use routes::router;
