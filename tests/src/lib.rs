//! What the tests of this folder share. Nothing of the product depends on this crate.
//!
//! The tests themselves are in `tests/tests/`: one file for each user's story, named by what it proves.

pub mod fuzz;
pub mod page;
pub mod support;
pub mod tidy;
pub mod tree;
