//! The environment: what can be declared, what each declaration means, and the one place where the process is asked.
//!
//! Everything else receives an [`Environment`]; nothing else in the engine reads a variable.

mod environment;
mod finding;
pub mod inventory;
pub mod parse;
pub mod pins;
pub mod resolve;
pub mod transport;

pub use environment::Environment;
pub use finding::{Complaint, Finding, Reading, Severity};
pub use inventory::{Check, Class, Reader, Variable};

#[cfg(test)]
mod inventory_test;
#[cfg(test)]
mod parse_test;
#[cfg(test)]
mod resolve_test;
#[cfg(test)]
mod transport_test;
