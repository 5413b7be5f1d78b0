//! `mine` in convos mode: the messages of a transcript, packed into drawers.

use std::path::Path;

use undercroft_text::dates::check_content_date;
use undercroft_text::transcript::{Message, Packed, Transcript, pack, parse};
use undercroft_vault::{AddedBy, Drawer, NewDrawer, Origin, Vault};

use super::filing::{BUSY, Filing, LOOKS, file_alone};
use super::held::Held;
use super::report::{MineReport, Skipped, lines_of};
use super::source::{Source, checked_wing};
use super::walk;
use crate::error::Result;

/// Files the conversations of every transcript below `path` into `wing`, in place when they were filed before. Of a
/// transcript with lines that cannot be used, only what was not filed before is added: nothing is replaced or destroyed.
///
/// `progress` is told each file before it is read.
///
/// # Errors
/// When `path` cannot be read or holds no transcript, or what the vault says; lines that cannot be used are named.
pub fn mine_convos(
    vault: &Vault,
    path: &Path,
    wing: &str,
    progress: &mut dyn FnMut(&Path),
) -> Result<MineReport> {
    let wing = checked_wing(wing)?;
    let mut filing = Filing::new(vault, AddedBy::ConvoMiner);
    for file in walk::files(path, &["jsonl"], "transcripts (jsonl)", &mut filing.report.skipped)? {
        progress(&file);
        let source = Source::new(file, &wing);
        if let Some(taken) = source.taken(vault, AddedBy::ConvoMiner)? {
            filing.report.skipped.push(taken);
            continue;
        }
        let bytes = match walk::read(&source.path) {
            Ok(bytes) => bytes,
            Err(skipped) => {
                filing.report.skipped.push(skipped);
                continue;
            }
        };
        let transcript = parse(&bytes);
        filing.report.skipped.extend(Skipped::rejected(&source.path, &transcript));
        filing.report.passed_over.note(&source.path, &transcript);
        if is_whole(&transcript) {
            filing.add(&source, drawers(&source, 0, pack(&transcript.messages)))?;
        } else {
            add_missing(&mut filing, &source, &transcript.messages)?;
        }
    }
    filing.finish()
}

/// A log that is blank or damaged, or of another format, must not cost the words that were filed from it before.
fn is_whole(transcript: &Transcript) -> bool {
    transcript.rejected.is_empty() && !transcript.messages.is_empty()
}

/// The drawers of what is packed, at the positions from `first` on.
fn drawers(source: &Source, first: u32, packed: Vec<Packed>) -> Vec<NewDrawer> {
    let drawer = |(position, packed): (u32, Packed)| {
        let origin = Origin {
            source: source.name.clone(),
            chunk: position,
            line_start: Some(packed.first_line),
            line_end: Some(packed.last_line),
        };
        NewDrawer {
            content_date: usable_date(packed.timestamp),
            ..NewDrawer::from_source(&source.wing, &source.room, &packed.text, AddedBy::ConvoMiner, origin)
        }
    };
    (first..).zip(packed).map(drawer).collect()
}

/// Files the messages that were not filed before, behind what was: lines that were left out shift the messages after them,
/// so that a position says nothing of what stands there. What others file meanwhile is looked at again.
fn add_missing(filing: &mut Filing<'_>, source: &Source, messages: &[Message]) -> Result<()> {
    filing.report.files += 1;
    let mut made = 0;
    for _ in 0..LOOKS {
        let filed = filing.vault.filed_from(&source.name)?;
        let (there, new) = missing(source, messages, filed.drawers);
        let mut refused = Vec::new();
        let is_done = file_alone(filing.vault, source, filed.state, &new, |new, saved| match saved {
            Ok(_) => made += 1,
            Err(error) => refused.push(Skipped::refused(&source.path, lines_of(new), &error)),
        })?;
        if is_done {
            let kept = new.len() - refused.len();
            filing.report.drawers += there + kept;
            // What an earlier look filed is among what this one found.
            filing.report.unchanged += there.saturating_sub(made - kept);
            filing.report.skipped.extend(refused);
            return Ok(());
        }
    }
    filing.report.drawers += made;
    filing.report.skipped.push(Skipped { path: source.path.clone(), reason: BUSY.to_owned() });
    Ok(())
}

/// How many drawers hold messages already, and the drawers of those that none holds. Neighbours stay together.
fn missing(source: &Source, messages: &[Message], mut filed: Vec<Drawer>) -> (usize, Vec<NewDrawer>) {
    filed.retain(|drawer| drawer.meta.wing == source.wing && drawer.meta.added_by == AddedBy::ConvoMiner);
    let held = Held::new(filed, messages);
    let known: Vec<(bool, &Message)> = held.has.iter().copied().zip(messages).collect();
    let new: Vec<Packed> = known
        .chunk_by(|(a, _), (b, _)| a == b)
        .filter(|run| !run[0].0)
        .flat_map(|run| pack(&run.iter().map(|(_, message)| (*message).clone()).collect::<Vec<_>>()))
        .collect();
    (held.drawers, drawers(source, held.next, new))
}

/// A time as a log writes it, when it is one that a drawer may carry; a strange one is no reason to lose the words.
pub(super) fn usable_date(timestamp: Option<String>) -> Option<String> {
    timestamp.filter(|text| check_content_date(text).is_ok())
}
