//! What lies below a folder.

use std::collections::BTreeMap;
use std::fs;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};

/// Every file below `folder`, in no order.
///
/// # Panics
/// When a folder cannot be read.
#[must_use]
pub fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a readable folder") {
            let path = entry.expect("a readable entry").path();
            if path.is_dir() {
                folders.push(path);
            } else {
                found.push(path);
            }
        }
    }
    found
}

/// Every file below `folder` with its length and a checksum: two of these are equal when nothing was written in between.
/// A folder that is not there holds nothing.
///
/// # Panics
/// When a file cannot be read.
#[must_use]
pub fn contents(folder: &Path) -> BTreeMap<PathBuf, (usize, u64)> {
    if !folder.exists() {
        return BTreeMap::new();
    }
    let summed = files(folder).into_iter().map(|path| {
        let bytes = fs::read(&path).expect("a readable file");
        let mut hasher = DefaultHasher::new();
        bytes.hash(&mut hasher);
        (path, (bytes.len(), hasher.finish()))
    });
    summed.collect()
}
