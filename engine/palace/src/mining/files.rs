//! `mine` in files mode: a text file becomes consecutive drawers that concatenate to it.

use std::path::Path;

use undercroft_text::chunk::{MAX_BYTES, chunk, is_blank};
use undercroft_vault::{AddedBy, NewDrawer, Origin, Vault};

use super::filing::Filing;
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
        if let Some(taken) = source.taken(vault, AddedBy::Miner)? {
            filing.report.skipped.push(taken);
            continue;
        }
        let read = walk::read(&source.path)
            .and_then(|bytes| text_of(&source.path, bytes))
            .and_then(|text| Ok((drawers(&source, &text)?, text)));
        match read {
            Ok((drawers, text)) => {
                if drawers.is_empty() && !text.is_empty() {
                    let reason = "nothing to read in it: white space and control characters alone".to_owned();
                    filing.report.skipped.push(Skipped { path: source.path.clone(), reason });
                }
                filing.add(&source, drawers)?;
            }
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

/// The drawers that concatenate to `text`; none for a blank one, which has nothing to keep.
///
/// A drawer keeps nothing that is blank, so a text that would need such a one is refused whole: without it the others
/// would not be the file.
fn drawers(source: &Source, text: &str) -> std::result::Result<Vec<NewDrawer>, Skipped> {
    if is_blank(text) {
        return Ok(Vec::new());
    }
    let pieces = chunk(text);
    if let Some(blank) = pieces.iter().find(|piece| is_blank(&text[piece.bytes.clone()])) {
        return Err(Skipped { path: source.path.clone(), reason: too_blank(text, blank.bytes.start) });
    }
    let drawers = (0_u32..).zip(pieces).map(|(position, piece)| {
        let origin = Origin {
            source: source.name.clone(),
            chunk: position,
            line_start: Some(piece.line_start),
            line_end: Some(piece.line_end),
        };
        NewDrawer::from_source(&source.wing, &source.room, &text[piece.bytes], AddedBy::Miner, origin)
    });
    Ok(drawers.collect())
}

/// Names the blank stretch around the byte `inside`.
fn too_blank(text: &str, inside: usize) -> String {
    let blank = |c: char| c.is_whitespace() || c.is_control();
    let start = text[..inside].trim_end_matches(blank).len();
    let bytes = text.len() - start - text[start..].trim_start_matches(blank).len();
    let line = text[..start].matches('\n').count() + 1;
    format!(
        "line {line}: {bytes} bytes of white space or control characters in a row are too many to be kept beside words \
         (a drawer keeps {MAX_BYTES} bytes); shorten them. Nothing of the file was filed"
    )
}
