//! Which files below a path are meant, in which order, and what their room is called.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use undercroft_text::names::room_from_file;

use super::{MAX_FILE_BYTES, Skipped};
use crate::error::{Error, Result};

/// The files that `path` means: itself, or every file below it whose extension is one of `extensions`, in the order of
/// their paths. Names that start with a dot are passed over, links to folders are not followed.
///
/// # Errors
/// [`Error::Unreadable`] when `path` itself cannot be read, [`Error::NothingToMine`] when it means no file.
pub(super) fn files(
    path: &Path,
    extensions: &[&str],
    wanted: &'static str,
    skipped: &mut Vec<Skipped>,
) -> Result<Vec<PathBuf>> {
    let unreadable = |source| Error::Unreadable { path: path.to_path_buf(), source };
    let metadata = fs::metadata(path).map_err(unreadable)?;
    if !metadata.is_dir() {
        return match unusable(path) {
            None => Ok(vec![path.to_path_buf()]),
            Some(reason) => {
                skipped.push(Skipped { path: path.to_path_buf(), reason: reason.to_owned() });
                Ok(Vec::new())
            }
        };
    }
    let mut found = Vec::new();
    let mut folders = vec![path.to_path_buf()];
    while let Some(folder) = folders.pop() {
        let entries = match fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(source) if folder == path => return Err(unreadable(source)),
            Err(error) => {
                skipped.push(Skipped { path: folder, reason: error.to_string() });
                continue;
            }
        };
        for entry in entries {
            let entry = match entry {
                Ok(entry) => entry,
                Err(error) => {
                    skipped.push(Skipped { path: folder.clone(), reason: error.to_string() });
                    continue;
                }
            };
            if entry.file_name().as_encoded_bytes().starts_with(b".") {
                continue;
            }
            let path = entry.path();
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => folders.push(path),
                _ if !has_extension(&path, extensions) => {}
                _ => match unusable(&path) {
                    None => found.push(path),
                    Some(reason) => skipped.push(Skipped { path, reason: reason.to_owned() }),
                },
            }
        }
    }
    // Names that were left out are told by the caller, which finds that nothing could be used.
    if found.is_empty() && skipped.is_empty() {
        return Err(Error::NothingToMine { path: path.to_path_buf(), wanted });
    }
    found.sort();
    Ok(found)
}

/// Why a file of a wanted name is left out: it is no file, or its name could not be told from another's.
fn unusable(path: &Path) -> Option<&'static str> {
    if !path.is_file() {
        return Some("not a regular file, or a link that leads to none");
    }
    path.to_str().is_none().then_some("its name is not UTF-8; rename the file")
}

fn has_extension(path: &Path, extensions: &[&str]) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str());
    extension.is_some_and(|found| extensions.iter().any(|known| found.eq_ignore_ascii_case(known)))
}

/// Reads a file whole, or says why not: it cannot be read, is no regular file (nothing waits for a pipe, and a device never
/// ends), or is too large.
///
/// # Errors
/// The file, with the reason.
pub fn read(path: &Path) -> std::result::Result<Vec<u8>, Skipped> {
    let skipped = |reason: String| Skipped { path: path.to_path_buf(), reason };
    let metadata = fs::metadata(path).map_err(|error| skipped(error.to_string()))?;
    if !metadata.is_file() {
        return Err(skipped("not a regular file".to_owned()));
    }
    let file = fs::File::open(path).map_err(|error| skipped(error.to_string()))?;
    let mut bytes = Vec::new();
    file.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes).map_err(|error| skipped(error.to_string()))?;
    if bytes.len() as u64 > MAX_FILE_BYTES {
        return Err(skipped(format!("larger than {} MiB; split it", MAX_FILE_BYTES >> 20)));
    }
    Ok(bytes)
}

/// The room of a file, by the rule that every surface shares; a file without a name is `unsorted`.
pub(super) fn room_of(path: &Path) -> String {
    let stem = path.file_stem().map(|stem| stem.to_string_lossy()).unwrap_or_default();
    room_from_file(&stem)
}
