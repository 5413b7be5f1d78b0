//! Owns the image of an index: its bytes, written in bulk and read back with every length bounded first.
//! It neither seals nor names files; the caller does both.
//!
//! An image is the magic, a version and a fixed sequence of sections, each a length in bytes (`u64`) and that many
//! bytes; numbers are little-endian. An index with removed drawers is compacted into the image, so that nothing of
//! them is left in it.

mod codec;
mod read;
mod write;

pub use codec::ImageLimits;

#[cfg(test)]
mod image_test;
