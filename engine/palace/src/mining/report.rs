//! What mining did and what it left out.

use std::path::PathBuf;

/// A file that was not read, or a text that was not kept, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skipped {
    /// The file.
    pub path: PathBuf,
    /// Where in it, and why.
    pub reason: String,
}

/// What mining did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MineReport {
    /// Files that were read.
    pub files: usize,
    /// Drawers that these files have now.
    pub drawers: usize,
    /// Of those, the ones that were there already, unchanged.
    pub unchanged: usize,
    /// Of those, the ones that replaced what stood at their place before.
    pub replaced: usize,
    /// Drawers destroyed because their file no longer has them.
    pub removed: usize,
    /// What was left out.
    pub skipped: Vec<Skipped>,
}
