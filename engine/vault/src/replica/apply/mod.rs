//! The following copy's half: entries of the log, taken over when everything that they change is proved, and not otherwise.
//! Contents of this folder: the batch in one transaction, what is decided from a header, rows as they were and are, what
//! the audit records prove, and the rows' own checks.

mod batch;
mod gate;
mod ledgers;
mod prove;
mod records;
mod rows;

pub use batch::{Entry, apply};
