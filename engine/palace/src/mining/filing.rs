//! Filing sources into a vault, many drawers a transaction, and counting what became of them.

use std::path::{Path, PathBuf};

use undercroft_vault::{
    AddedBy, BypassReason, Change, ErrorClass, NewDrawer, Outcome, Saved, Screening, SourceBatch,
    SourceOutcome, SourceState, Vault,
};

use super::report::{Lines, MineReport, Skipped, lines_of};
use super::source::Source;
use crate::error::Result;

/// Drawers in one transaction.
pub(super) const BATCH: usize = undercroft_vault::limits::BATCH_DRAWERS;
/// This version has no screen; a declared one refuses the start long before a text is read.
pub(super) const SCREENING: Screening = Screening::Bypass(BypassReason::NotDeclared);

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

    /// Takes the drawers that a source has now, all of them: the last part of them drops what the source no longer has.
    pub(super) fn add(&mut self, source: &Source, drawers: Vec<NewDrawer>) -> Result<()> {
        self.report.files += 1;
        let total = Some(u32::try_from(drawers.len()).unwrap_or(u32::MAX));
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
                expects: None,
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
                    self.report.edited += usize::from(saved.edited);
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

/// How often a source is looked at anew when others file from it at the same time: each time one of them got further.
pub(super) const LOOKS: usize = 64;
/// Why nothing more is filed of a source that others never leave alone.
pub(super) const BUSY: &str =
    "others file from it all the time, so not all of it was filed; run it again when they are done";

/// Files drawers of one source, in several transactions when there are many, as long as nobody else changes what is filed
/// from it. `each` is told what became of each. Gives whether all were filed; if not, `state` is no longer what is there.
///
/// # Errors
/// What the vault says.
pub(super) fn file_alone(
    vault: &Vault,
    source: &Source,
    mut state: SourceState,
    drawers: &[NewDrawer],
    mut each: impl FnMut(&NewDrawer, undercroft_vault::Result<Saved>),
) -> Result<bool> {
    for part in drawers.chunks(BATCH) {
        let batch = SourceBatch {
            source: source.name.clone(),
            wing: source.wing.clone(),
            added_by: part[0].added_by,
            drawers: part.to_vec(),
            total: None,
            expects: Some(state),
        };
        let outcome = match vault.file_source(batch, SCREENING) {
            Err(undercroft_vault::Error::SourceChanged(_)) => return Ok(false),
            other => other?,
        };
        state = outcome.state.unwrap_or(state);
        part.iter().zip(outcome.drawers).for_each(|(new, saved)| each(new, saved));
    }
    Ok(true)
}
