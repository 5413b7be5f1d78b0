//! The document of the surface, written by the handlers themselves.
//!
//! What a handler takes ([`Asks`]) and what it answers ([`Answers`]) say what they add to its operation, so the document
//! follows from a handler's signature: an operation without a route, a route without an operation, or a body that is
//! documented and not read, cannot be written down. Nothing here handles a request.

mod answers;
mod asks;
mod bounds;
mod document;
mod draft;
mod handler;
mod refusals;
mod table;

pub(super) use answers::{Answers, Created};
pub(super) use asks::Asks;
pub(super) use bounds::{NAME, named};
pub(super) use draft::{Draft, NOT_BUILT};
pub(super) use table::{Row, Rows, Table};

#[cfg(test)]
mod contract_test;
