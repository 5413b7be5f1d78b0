//! Files and transcripts in, drawers out: which files, which room, which pieces. The vault decides what is kept.
//!
//! Nothing here changes a text: a file's drawers concatenate to the file, byte for byte.

mod convos;
mod files;
mod sweep;
mod walk;

use std::path::PathBuf;

use undercroft_vault::{BypassReason, Screening, SourceBatch, Vault};

pub use convos::mine_convos;
pub use files::mine_files;
pub use sweep::{SweepReport, sweep};

use crate::error::Result;

/// Drawers in one transaction.
const BATCH: usize = undercroft_vault::limits::BATCH_DRAWERS;
/// Larger files are named as skipped: they are no notes and no transcripts.
const MAX_FILE_BYTES: u64 = 256 << 20;
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

impl MineReport {
    /// Files the drawers of one source, a batch a transaction; the last one drops what the source no longer has.
    fn file(
        &mut self,
        vault: &Vault,
        source: &Source,
        drawers: Vec<undercroft_vault::NewDrawer>,
    ) -> Result<()> {
        self.files += 1;
        let total = u32::try_from(drawers.len()).unwrap_or(u32::MAX);
        let mut rest = drawers.into_iter().peekable();
        loop {
            let batch: Vec<_> = rest.by_ref().take(BATCH).collect();
            let is_last = rest.peek().is_none();
            let outcome = vault.file_source(
                SourceBatch {
                    source: source.name.clone(),
                    wing: source.wing.clone(),
                    drawers: batch,
                    total: is_last.then_some(total),
                },
                SCREENING,
            )?;
            self.removed += outcome.removed.len();
            for saved in outcome.drawers {
                match saved {
                    Ok(saved) => {
                        self.drawers += 1;
                        self.unchanged += usize::from(saved.unchanged);
                    }
                    Err(error) => {
                        self.skipped.push(Skipped { path: source.path.clone(), reason: error.to_string() })
                    }
                }
            }
            if is_last {
                return Ok(());
            }
        }
    }
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
