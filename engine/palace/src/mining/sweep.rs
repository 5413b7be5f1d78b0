//! `sweep`: every message that somebody said, one drawer each, once.

use std::path::Path;

use undercroft_text::transcript::{Message, is_prose, pack, parse};
use undercroft_vault::{AddedBy, ErrorClass, NewDrawer, Origin, Vault, drawer_id};

use super::convos::usable_date;
use super::filing::{BATCH, SCREENING};
use super::report::{Skipped, lines_of};
use super::said::{self, Met, Text};
use super::source::{Source, checked_wing};
use super::walk;
use crate::error::Result;

const KEPT: &str = "other words were filed from here before, and a transcript with lines that cannot be used replaces \
                    nothing; mend or remove those lines, or sweep a copy under another name";

/// What a sweep did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SweepReport {
    /// Transcripts that were read.
    pub files: usize,
    /// Messages filed by this run.
    pub filed: usize,
    /// Of those, the ones that replaced other words, which were filed from the same line of the same path before.
    pub replaced: usize,
    /// Messages that were filed before, or earlier in this run from a copy of their transcript.
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
    let mut met = Met::default();
    for path in walk::files(path, &["jsonl"], "transcripts (jsonl)", &mut report.skipped)? {
        progress(&path);
        let source = Source::new(path, &wing);
        let bytes = match walk::read(&source.path) {
            Ok(bytes) => bytes,
            Err(skipped) => {
                report.skipped.push(skipped);
                continue;
            }
        };
        report.files += 1;
        let transcript = parse(&bytes);
        report.skipped.extend(Skipped::rejected(&source.path, &transcript));
        let is_whole = transcript.rejected.is_empty();
        let said: Vec<NewDrawer> =
            transcript.messages.iter().filter(|m| is_prose(m)).flat_map(|m| drawers(&source, m)).collect();
        file(vault, &source, said, is_whole, &mut met, &mut report)?;
    }
    Ok(report)
}

/// Files what is new of one transcript.
fn file(
    vault: &Vault,
    source: &Source,
    said: Vec<NewDrawer>,
    may_replace: bool,
    met: &mut Met,
    report: &mut SweepReport,
) -> Result<()> {
    let (filed, mut fresh): (Vec<Text>, Vec<Text>) =
        said::look(vault, source, said, met)?.into_iter().partition(Text::is_filed);
    report.present += filed.len();
    filed.iter().for_each(|text| met.take(text));
    if !may_replace {
        fresh = keep_what_is_filed(vault, source, fresh, report)?;
    }
    for batch in fresh.chunks(BATCH) {
        let drawers = batch.iter().map(|text| text.new.clone()).collect();
        for (saved, text) in vault.save_many(drawers, SCREENING)?.into_iter().zip(batch) {
            match saved {
                Ok(saved) => {
                    report.filed += 1;
                    report.replaced += usize::from(!saved.created && !saved.unchanged);
                    met.take(text);
                }
                Err(error) => {
                    report.skipped.push(Skipped::refused(&source.path, lines_of(&text.new), &error));
                }
            }
        }
    }
    Ok(())
}

/// Leaves out, and names, what would replace other words: a log that cannot be read whole is no witness against them.
fn keep_what_is_filed(
    vault: &Vault,
    source: &Source,
    fresh: Vec<Text>,
    report: &mut SweepReport,
) -> Result<Vec<Text>> {
    let mut free = Vec::with_capacity(fresh.len());
    for text in fresh {
        let new = &text.new;
        let chunk = new.origin.as_ref().map_or(0, |origin| origin.chunk);
        match vault.get(drawer_id(&new.wing, &new.room, Some(&source.name), chunk)) {
            Err(error) if error.class() == ErrorClass::NotFound => free.push(text),
            Err(error) => return Err(error.into()),
            Ok(_) => report.skipped.push(Skipped::refused(&source.path, lines_of(new), &KEPT)),
        }
    }
    Ok(free)
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
