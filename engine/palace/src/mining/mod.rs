//! Files and transcripts in, drawers out: which files, which room, which pieces. The vault decides what is kept.
//!
//! Nothing here changes a text: a file's drawers concatenate to the file, byte for byte.

mod convos;
mod files;
mod sweep;
mod walk;

use std::path::{Path, PathBuf};

use undercroft_text::names::check_name;
use undercroft_vault::{
    BypassReason, Change, ErrorClass, NewDrawer, Outcome, Screening, SourceBatch, SourceOutcome, Vault,
};

pub use convos::mine_convos;
pub use files::mine_files;
pub use sweep::{SweepReport, sweep};

use crate::error::Result;

/// Drawers in one transaction.
const BATCH: usize = undercroft_vault::limits::BATCH_DRAWERS;
/// Larger files are named as skipped: they are no notes and no transcripts.
const MAX_FILE_BYTES: u64 = 256 << 20;
/// Nothing is filed into it directly.
const REVIEW_WING: &str = "quarantine-pending";
/// This version has no screen; a declared one refuses the start long before a text is read.
const SCREENING: Screening = Screening::Bypass(BypassReason::NotDeclared);

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
    /// Drawers destroyed because their file no longer has them.
    pub removed: usize,
    /// What was left out.
    pub skipped: Vec<Skipped>,
}

/// Files sources, as many drawers a transaction as one batch holds, however many files they come from.
struct Filing<'a> {
    vault: &'a Vault,
    report: MineReport,
    waiting: Vec<(PathBuf, SourceBatch)>,
    /// Drawers in what is waiting.
    held: usize,
}

impl<'a> Filing<'a> {
    fn new(vault: &'a Vault) -> Self {
        Self { vault, report: MineReport::default(), waiting: Vec::new(), held: 0 }
    }

    /// Takes the drawers that a source has now; the last part of them drops what the source no longer has.
    fn add(&mut self, source: &Source, drawers: Vec<NewDrawer>) -> Result<()> {
        self.report.files += 1;
        let total = u32::try_from(drawers.len()).unwrap_or(u32::MAX);
        let mut rest = drawers.into_iter().peekable();
        loop {
            let part: Vec<_> = rest.by_ref().take(BATCH).collect();
            let is_last = rest.peek().is_none();
            // Sources that have become empty hold no drawers, but are work all the same.
            if self.held + part.len() > BATCH || self.waiting.len() >= BATCH {
                self.write()?;
            }
            self.held += part.len();
            let batch = SourceBatch {
                source: source.name.clone(),
                wing: source.wing.clone(),
                drawers: part,
                total: is_last.then_some(total),
            };
            self.waiting.push((source.path.clone(), batch));
            if is_last {
                return Ok(());
            }
        }
    }

    /// Writes what is waiting in one transaction. A source that is refused as a whole is named like a refused text.
    fn write(&mut self) -> Result<()> {
        self.held = 0;
        let (paths, changes): (Vec<_>, Vec<_>) =
            self.waiting.drain(..).map(|(path, batch)| (path, Change::Source(batch))).unzip();
        if changes.is_empty() {
            return Ok(());
        }
        for (path, outcome) in paths.into_iter().zip(self.vault.write(changes, SCREENING)?) {
            // A verdict on stored bytes ends the run; what is wrong with a source does not.
            match outcome {
                Ok(Outcome::Source(outcome)) => self.count(&path, outcome),
                Ok(_) => {}
                Err(error) if error.class() == ErrorClass::Invalid => self.skip(&path, &error),
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    fn count(&mut self, path: &Path, outcome: SourceOutcome) {
        self.report.removed += outcome.removed.len();
        for saved in outcome.drawers {
            match saved {
                Ok(saved) => {
                    self.report.drawers += 1;
                    self.report.unchanged += usize::from(saved.unchanged);
                }
                Err(error) => self.skip(path, &error),
            }
        }
    }

    fn skip(&mut self, path: &Path, why: &dyn std::fmt::Display) {
        self.report.skipped.push(Skipped { path: path.to_path_buf(), reason: why.to_string() });
    }

    fn finish(mut self) -> Result<MineReport> {
        self.write()?;
        Ok(self.report)
    }
}

/// The wing in its kept form, judged before any file is read: a wrong one would refuse every text one by one.
fn checked_wing(wing: &str) -> Result<String> {
    let kept = check_name("wing", wing).map_err(undercroft_vault::Error::from)?;
    if kept == REVIEW_WING {
        let reason = format!("'{REVIEW_WING}' is reserved for texts under review; choose another");
        return Err(undercroft_vault::Error::InvalidField { field: "wing", reason }.into());
    }
    Ok(kept)
}

/// One file as a source.
struct Source {
    /// Where it was read.
    path: PathBuf,
    /// As it is recorded.
    name: String,
    wing: String,
    room: String,
}

impl Source {
    fn new(path: PathBuf, wing: &str) -> Self {
        let name = path.to_string_lossy().into_owned();
        let room = walk::room_of(&path);
        Self { path, name, wing: wing.to_owned(), room }
    }
}

#[cfg(test)]
mod mining_test;
