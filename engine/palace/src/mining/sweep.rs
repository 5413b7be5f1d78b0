//! `sweep`: every message that somebody said, one drawer each, once.

use std::path::Path;

use undercroft_text::transcript::{Message, Packed, is_prose, pack, parse};
use undercroft_vault::{AddedBy, NewDrawer, Origin, Vault};

use super::convos::usable_date;
use super::filing::{BUSY, LOOKS, file_alone};
use super::places;
use super::report::{PassedOver, Skipped, lines_of};
use super::said::{self, Fate, Met, Text};
use super::source::{Source, checked_wing};
use super::walk;
use crate::error::Result;

const NO_PLACE: &str =
    "too many other words were filed from here before; sweep a copy of the log under another name";

/// What a sweep did. It adds what is new, and changes nothing that was filed before.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SweepReport {
    /// Transcripts that were read.
    pub files: usize,
    /// Messages filed by this run.
    pub filed: usize,
    /// Messages that were filed before, or earlier in this run from a copy of their transcript.
    pub present: usize,
    /// Messages that were filed before and whose words somebody changed since; they are left so.
    pub edited: usize,
    /// Messages that were filed before and destroyed since; they stay so.
    pub destroyed: usize,
    /// What was left out.
    pub skipped: Vec<Skipped>,
    /// What was passed over.
    pub passed_over: PassedOver,
}

impl SweepReport {
    /// Messages that were filed at some time, whatever became of them.
    #[must_use]
    pub fn known(&self) -> usize {
        self.filed + self.present + self.edited + self.destroyed
    }
}

/// Files every message below `path` that was never filed into `wing`.
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
        if let Some(taken) = source.taken(vault, AddedBy::Sweeper)? {
            report.skipped.push(taken);
            continue;
        }
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
        report.passed_over.note(&source.path, &transcript);
        let mut said = Vec::new();
        for message in transcript.messages.iter().filter(|message| is_prose(message)) {
            match drawers(&source, message) {
                Some(parts) => said.extend(parts),
                None => report.skipped.push(no_line(&source, message)),
            }
        }
        file(vault, &source, &said, &mut met, &mut report)?;
    }
    Ok(report)
}

/// Files what is new of one transcript. What others file from it meanwhile is looked at again.
fn file(
    vault: &Vault,
    source: &Source,
    said: &[NewDrawer],
    met: &mut Met,
    report: &mut SweepReport,
) -> Result<()> {
    let mut filed = 0;
    for _ in 0..LOOKS {
        let there = vault.filed_from(&source.name)?;
        let texts = said::look(vault, source, said.to_vec(), &there.drawers, met)?;
        let of = |fate: Fate| texts.iter().filter(move |text| text.fate == fate);
        let new: Vec<NewDrawer> = of(Fate::New).map(|text| text.new.clone()).collect();
        let mut refused = Vec::new();
        let (before, mut landed) = (filed, Vec::with_capacity(new.len()));
        let is_done = file_alone(vault, source, there.state, &new, |new, saved| {
            landed.push(saved.is_ok());
            match saved {
                Ok(_) => filed += 1,
                Err(error) => refused.push(Skipped::refused(&source.path, lines_of(new), &error)),
            }
        })?;
        if !is_done {
            continue;
        }
        // What an earlier look filed is among what this one found.
        report.present += of(Fate::Filed).count().saturating_sub(before);
        report.edited += of(Fate::Edited).count();
        report.destroyed += of(Fate::Destroyed).count();
        report.filed += filed;
        report.skipped.extend(refused);
        let named = |text: &Text| Skipped::refused(&source.path, lines_of(&text.new), &NO_PLACE);
        report.skipped.extend(of(Fate::NoPlace).map(named));
        of(Fate::New).zip(landed).filter(|(_, is_there)| *is_there).for_each(|(text, _)| met.take(text));
        [Fate::Filed, Fate::Edited, Fate::Destroyed].into_iter().flat_map(of).for_each(|text| met.take(text));
        return Ok(());
    }
    report.filed += filed;
    report.skipped.push(Skipped { path: source.path.clone(), reason: BUSY.to_owned() });
    Ok(())
}

fn no_line(source: &Source, message: &Message) -> Skipped {
    let why = format!("a sweep files messages up to line {}; split the log", places::LAST_LINE);
    Skipped::refused(&source.path, Some((message.line, message.line)), &why)
}

/// One message as `Label: text`, at its line. One that is too large for a drawer becomes parts, each at a place of its own.
/// `None` when a part would have none.
fn drawers(source: &Source, message: &Message) -> Option<Vec<NewDrawer>> {
    let parts = (0_u32..).zip(pack(std::slice::from_ref(message)));
    let drawer = |(part, packed): (u32, Packed)| {
        let origin = Origin {
            source: source.name.clone(),
            chunk: places::own(message.line, part)?,
            line_start: Some(message.line),
            line_end: Some(message.line),
        };
        Some(NewDrawer {
            content_date: usable_date(packed.timestamp),
            ..NewDrawer::from_source(&source.wing, &source.room, &packed.text, AddedBy::Sweeper, origin)
        })
    };
    parts.map(drawer).collect()
}
