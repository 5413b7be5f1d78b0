//! The log on disk: plain files that are only appended to, behind openraft's storage traits.
//!
//! The format is in `docs/formats/control-log.md`. What is acknowledged was flushed; after each flush a mark is written. A
//! record that cannot be read *behind* the last mark is a torn tail, and is cut. One *before* a mark may have been
//! acknowledged: then the log refuses to open, and the member comes back under a new id.

mod files;
mod record;
mod recover;
mod store;
mod view;
mod writer;

pub(crate) use store::LogHeld;
pub use store::LogStore;

#[cfg(test)]
#[path = "log_test.rs"]
mod log_test;
