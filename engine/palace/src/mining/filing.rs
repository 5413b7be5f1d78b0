//! Filing sources into a vault, many drawers a transaction, and counting what became of them.

use std::path::{Path, PathBuf};

use undercroft_vault::{
    AddedBy, BypassReason, Change, ErrorClass, NewDrawer, Outcome, Screening, SourceBatch, SourceOutcome,
    Vault,
};

use super::report::{Lines, MineReport, Skipped, lines_of};
use super::source::Source;
use crate::error::Result;

/// Drawers in one transaction.
pub(super) const BATCH: usize = undercroft_vault::limits::BATCH_DRAWERS;
/// This version has no screen; a declared one refuses the start long before a text is read.
pub(super) const SCREENING: Screening = Screening::Bypass(BypassReason::NotDeclared);

/// How much of a source was understood.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reading {
    /// All of it: what is not among its drawers is gone from it.
    Whole,
    /// Less than all: its drawers say nothing of what is not among them, and stand where nothing was filed.
    Partial,
}

/// Files sources, as many drawers a transaction as one batch holds, however many files they come from.
pub(super) struct Filing<'a> {
    pub(super) vault: &'a Vault,
    surface: AddedBy,
    pub(super) report: MineReport,
    waiting: Vec<(PathBuf, SourceBatch)>,
    /// Drawers in what is waiting.
    held: usize,
}

impl<'a> Filing<'a> {
    pub(super) fn new(vault: &'a Vault, surface: AddedBy) -> Self {
        Self { vault, surface, report: MineReport::default(), waiting: Vec::new(), held: 0 }
    }

    /// Takes the drawers that a source has now. Of a source that was read whole, the last part of them drops what the
    /// source no longer has; what is missing from one that was not may be there still.
    pub(super) fn add(&mut self, source: &Source, drawers: Vec<NewDrawer>, reading: Reading) -> Result<()> {
        self.report.files += 1;
        let total = match reading {
            Reading::Whole => Some(u32::try_from(drawers.len()).unwrap_or(u32::MAX)),
            Reading::Partial if drawers.is_empty() => return Ok(()),
            Reading::Partial => None,
        };
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
                added_by: self.surface,
                drawers: part,
                total: total.filter(|_| is_last),
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
        let (places, changes): (Vec<_>, Vec<_>) = self
            .waiting
            .drain(..)
            .map(|(path, batch)| {
                let lines: Vec<Lines> = batch.drawers.iter().map(lines_of).collect();
                ((path, lines), Change::Source(batch))
            })
            .unzip();
        if changes.is_empty() {
            return Ok(());
        }
        for ((path, lines), outcome) in places.into_iter().zip(self.vault.write(changes, SCREENING)?) {
            // A verdict on stored bytes ends the run; what is wrong with a source does not.
            match outcome {
                Ok(Outcome::Source(outcome)) => self.count(&path, &lines, outcome),
                Ok(_) => {}
                Err(error) if error.class() == ErrorClass::Invalid => {
                    self.report.skipped.push(Skipped::refused(&path, None, &error));
                }
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    fn count(&mut self, path: &Path, lines: &[Lines], outcome: SourceOutcome) {
        self.report.removed += outcome.removed.len();
        for (saved, lines) in outcome.drawers.into_iter().zip(lines) {
            match saved {
                Ok(saved) => {
                    self.report.drawers += 1;
                    self.report.unchanged += usize::from(saved.unchanged);
                    self.report.replaced += usize::from(!saved.created && !saved.unchanged);
                }
                Err(error) => self.report.skipped.push(Skipped::refused(path, *lines, &error)),
            }
        }
    }

    pub(super) fn finish(mut self) -> Result<MineReport> {
        self.write()?;
        Ok(self.report)
    }
}
