//! What mining did and what it left out.

use std::fmt::Display;
use std::path::{Path, PathBuf};

use undercroft_text::transcript::Transcript;
use undercroft_vault::NewDrawer;

/// A file that was not read, or a text that was not kept, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skipped {
    /// The file.
    pub path: PathBuf,
    /// Where in it, and why.
    pub reason: String,
}

impl Skipped {
    /// A text that the vault refuses, with the lines that it stands in.
    pub(super) fn refused(path: &Path, lines: Lines, why: &dyn Display) -> Self {
        let reason = match lines {
            Some((first, last)) if first == last => format!("line {first}: {why}"),
            Some((first, last)) => format!("lines {first} to {last}: {why}"),
            None => why.to_string(),
        };
        Self { path: path.to_path_buf(), reason }
    }

    /// The lines of a transcript that could not be used.
    pub(super) fn rejected(path: &Path, transcript: &Transcript) -> impl Iterator<Item = Self> {
        transcript.rejected.iter().map(|line| Self { path: path.to_path_buf(), reason: line.to_string() })
    }
}

/// Messages and lines of transcripts that were passed over on purpose.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PassedOver {
    /// Messages left out for how their words begin; somebody may miss them.
    pub named: Vec<Skipped>,
    /// How many lines there are in all: those, records of the program, repeats, and messages without words.
    pub lines: usize,
}

impl PassedOver {
    pub(super) fn note(&mut self, path: &Path, transcript: &Transcript) {
        let left_out = transcript.left_out.iter();
        self.named
            .extend(left_out.map(|line| Skipped { path: path.to_path_buf(), reason: line.to_string() }));
        self.lines += transcript.dropped as usize;
    }
}

/// The first and the last line of a text in its source, where known.
pub(super) type Lines = Option<(u32, u32)>;

pub(super) fn lines_of(new: &NewDrawer) -> Lines {
    new.origin.as_ref().and_then(|origin| origin.line_start.zip(origin.line_end))
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
    /// Of the drawers, the ones that replaced what stood at their place before.
    pub replaced: usize,
    /// Of those, the ones whose words had been put in by hand.
    pub edited: usize,
    /// Drawers destroyed because their file no longer has them.
    pub removed: usize,
    /// What of transcripts was passed over.
    pub passed_over: PassedOver,
    /// What was left out.
    pub skipped: Vec<Skipped>,
}
