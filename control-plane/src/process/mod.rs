//! The process of a member: what it is started with, how it starts, serves and ends.

mod address;
mod entering;
mod operators;
mod options;
mod run;
mod server;

pub use options::{Admin, Keys, Options};
pub use run::run;
pub use server::{Listening, Server};
