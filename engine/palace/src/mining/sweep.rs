//! `sweep`: every message that somebody said, one drawer each, once.

use std::collections::HashSet;
use std::path::Path;

use undercroft_text::duplicate_form;
use undercroft_text::transcript::{Message, is_prose, pack, parse};
use undercroft_vault::{AddedBy, NewDrawer, Origin, Vault};

use super::convos::usable_date;
use super::filing::{BATCH, SCREENING};
use super::report::Skipped;
use super::source::{Source, checked_wing};
use super::walk;
use crate::error::Result;

/// What a sweep did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SweepReport {
    /// Transcripts that were read.
    pub files: usize,
    /// Messages filed by this run.
    pub filed: usize,
    /// Messages whose words were filed before, or earlier in this run.
    pub present: usize,
    /// What was left out.
    pub skipped: Vec<Skipped>,
}

/// Files every message below `path` that is not filed yet into `wing`.
///
/// `progress` is told each transcript before it is read.
///
/// # Errors
/// When `path` cannot be read or holds no transcript, or what the vault says; lines that cannot be used are named.
pub fn sweep(vault: &Vault, path: &Path, wing: &str, progress: &mut dyn FnMut(&Path)) -> Result<SweepReport> {
    let wing = checked_wing(wing)?;
    let mut report = SweepReport::default();
    for file in walk::files(path, &["jsonl"], "transcripts (jsonl)", &mut report.skipped)? {
        progress(&file);
        let source = Source::new(file, &wing);
        let bytes = match walk::read(&source.path) {
            Ok(bytes) => bytes,
            Err(skipped) => {
                report.skipped.push(skipped);
                continue;
            }
        };
        report.files += 1;
        let transcript = parse(&bytes);
        report.skipped.extend(
            transcript
                .rejected
                .iter()
                .map(|line| Skipped { path: source.path.clone(), reason: line.to_string() }),
        );
        let said: Vec<NewDrawer> =
            transcript.messages.iter().filter(|m| is_prose(m)).flat_map(|m| drawers(&source, m)).collect();
        for batch in said.chunks(BATCH) {
            file_batch(vault, &source, batch, &mut report)?;
        }
    }
    Ok(report)
}

/// Files what is new. Words said twice in one batch are told apart here; those of earlier batches are in the vault by now.
fn file_batch(vault: &Vault, source: &Source, batch: &[NewDrawer], report: &mut SweepReport) -> Result<()> {
    let mut seen = HashSet::new();
    let texts: Vec<&str> = batch.iter().map(|new| new.text.as_str()).collect();
    let filed = vault.are_filed(&texts)?;
    let fresh: Vec<NewDrawer> = batch
        .iter()
        .zip(filed)
        .filter(|(new, filed)| seen.insert(duplicate_form(&new.text)) && !filed)
        .map(|(new, _)| new.clone())
        .collect();
    report.present += batch.len() - fresh.len();
    if fresh.is_empty() {
        return Ok(());
    }
    for saved in vault.save_many(fresh, SCREENING)? {
        match saved {
            Ok(_) => report.filed += 1,
            Err(error) => {
                report.skipped.push(Skipped { path: source.path.clone(), reason: error.to_string() })
            }
        }
    }
    Ok(())
}

/// One message as `Label: text`, at its line. One that is too large for a drawer becomes parts, each at a position of its
/// own: the part's number in the upper eight bits over the line.
fn drawers(source: &Source, message: &Message) -> Vec<NewDrawer> {
    let parts = pack(std::slice::from_ref(message));
    (0_u32..)
        .zip(parts)
        .map(|(part, packed)| {
            let origin = Origin {
                source: source.name.clone(),
                chunk: message.line | (part << 24),
                line_start: Some(message.line),
                line_end: Some(message.line),
            };
            NewDrawer {
                content_date: usable_date(packed.timestamp),
                ..NewDrawer::from_source(&source.wing, &source.room, &packed.text, AddedBy::Sweeper, origin)
            }
        })
        .collect()
}
