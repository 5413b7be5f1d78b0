//! `mine` in convos mode: the messages of a transcript, packed into drawers.

use std::path::Path;

use undercroft_text::dates::check_content_date;
use undercroft_text::transcript::{Transcript, pack, parse};
use undercroft_vault::{AddedBy, NewDrawer, Origin, Vault};

use super::filing::{Filing, Reading};
use super::report::{MineReport, Skipped};
use super::source::{Source, checked_wing};
use super::walk;
use crate::error::Result;

/// Files the conversations of every transcript below `path` into `wing`, in place when they were filed before.
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
        let bytes = match walk::read(&source.path) {
            Ok(bytes) => bytes,
            Err(skipped) => {
                filing.report.skipped.push(skipped);
                continue;
            }
        };
        let transcript = parse(&bytes);
        filing.report.skipped.extend(
            transcript
                .rejected
                .iter()
                .map(|line| Skipped { path: source.path.clone(), reason: line.to_string() }),
        );
        let drawers = (0_u32..).zip(pack(&transcript.messages)).map(|(position, packed)| {
            let origin = Origin {
                source: source.name.clone(),
                chunk: position,
                line_start: Some(packed.first_line),
                line_end: Some(packed.last_line),
            };
            NewDrawer {
                content_date: usable_date(packed.timestamp),
                ..NewDrawer::from_source(
                    &source.wing,
                    &source.room,
                    &packed.text,
                    AddedBy::ConvoMiner,
                    origin,
                )
            }
        });
        let drawers = drawers.collect();
        filing.add(&source, drawers, reading(&transcript))?;
    }
    filing.finish()
}

/// A log that is blank or damaged, or of another format, must not cost the words that were filed from it before.
fn reading(transcript: &Transcript) -> Reading {
    if transcript.rejected.is_empty() && !transcript.messages.is_empty() {
        Reading::Whole
    } else {
        Reading::Partial
    }
}

/// A time as a log writes it, when it is one that a drawer may carry; a strange one is no reason to lose the words.
pub(super) fn usable_date(timestamp: Option<String>) -> Option<String> {
    timestamp.filter(|text| check_content_date(text).is_ok())
}
