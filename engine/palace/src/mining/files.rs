//! `mine` in files mode: a text file becomes consecutive drawers that concatenate to it.

use std::path::Path;

use undercroft_text::chunk::chunk;
use undercroft_vault::{AddedBy, NewDrawer, Origin, Vault};

use super::filing::{Filing, Reading};
use super::report::{MineReport, Skipped};
use super::source::{Source, checked_wing};
use super::walk;
use crate::error::Result;

/// What is taken for text.
const EXTENSIONS: [&str; 7] = ["md", "txt", "markdown", "rst", "org", "log", "jsonl"];

/// Files every text below `path` into `wing`. A file that was mined before is brought up to date in place.
///
/// `progress` is told each file before it is read.
///
/// # Errors
/// When `path` cannot be read or holds no text file, or what the vault says; files that cannot be read are skipped and
/// named.
pub fn mine_files(
    vault: &Vault,
    path: &Path,
    wing: &str,
    progress: &mut dyn FnMut(&Path),
) -> Result<MineReport> {
    let wing = checked_wing(wing)?;
    let mut filing = Filing::new(vault, AddedBy::Miner);
    for file in walk::files(
        path,
        &EXTENSIONS,
        "text files (md, txt, markdown, rst, org, log, jsonl)",
        &mut filing.report.skipped,
    )? {
        progress(&file);
        let source = Source::new(file, &wing);
        match walk::read(&source.path).and_then(|bytes| text_of(&source.path, bytes)) {
            Ok(text) => filing.add(&source, drawers(&source, &text), Reading::Whole)?,
            Err(skipped) => filing.report.skipped.push(skipped),
        }
    }
    filing.finish()
}

fn text_of(path: &Path, bytes: Vec<u8>) -> std::result::Result<String, Skipped> {
    String::from_utf8(bytes).map_err(|error| Skipped {
        path: path.to_path_buf(),
        reason: format!("not UTF-8 text after byte {}", error.utf8_error().valid_up_to()),
    })
}

fn drawers(source: &Source, text: &str) -> Vec<NewDrawer> {
    // A blank file holds nothing to keep.
    if text.trim().is_empty() {
        return Vec::new();
    }
    (0_u32..)
        .zip(chunk(text))
        .map(|(position, piece)| {
            let origin = Origin {
                source: source.name.clone(),
                chunk: position,
                line_start: Some(piece.line_start),
                line_end: Some(piece.line_end),
            };
            NewDrawer::from_source(&source.wing, &source.room, &text[piece.bytes], AddedBy::Miner, origin)
        })
        .collect()
}
