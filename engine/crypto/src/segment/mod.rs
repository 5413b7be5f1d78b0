//! The segment: one committed group of writes of one vault, as it travels to replicas and into archives.
//!
//! A header that anybody can read, and a body that only the vault's `segment` key opens, bound to every byte of the
//! header. What is in the body, and what a receiver demands of it, is decided elsewhere. The byte tables are in
//! `docs/formats/segment.md`, and a test compares them with the constants here.

mod body;
mod header;
mod sealed;

#[cfg(test)]
mod doc_test;
#[cfg(test)]
mod segment_test;

pub use body::Codec;
pub use header::{SEGMENT_HEADER_BYTES, SEGMENT_MAGIC, SEGMENT_VERSION, SegmentHeader};
pub use sealed::{SEGMENT_MAX_BYTES, SEGMENT_MAX_PLAIN_BYTES, Segment};
