//! The files of this repository as text. Owns which folders are looked at; judges nothing.

use std::fs;
use std::path::{Path, PathBuf};

/// Folders that hold what tools made, not what people wrote.
const SKIPPED: [&str; 4] = [".git", "target", "corpus", "artifacts"];

/// One file of the repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// Its path from the root, with `/` between the parts.
    pub path: String,
    /// Its text.
    pub text: String,
}

impl Source {
    /// A file that exists only in a test.
    #[must_use]
    pub fn sample(path: &str, text: &str) -> Self {
        Self { path: path.to_owned(), text: text.to_owned() }
    }

    /// Whether the file holds tests only: it is named `…_test.rs`, or lies in a crate's folder of tests.
    #[must_use]
    pub fn is_test(&self) -> bool {
        self.path.ends_with("_test.rs") || self.path.contains("/tests/")
    }
}

/// The root of the repository.
#[must_use]
pub fn root() -> PathBuf {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    own.parent().expect("this crate is a folder of the repository").to_path_buf()
}

/// Every file whose name ends in one of `endings`, in the order of their paths.
///
/// # Panics
/// When a file cannot be read or is not text.
#[must_use]
pub fn sources(endings: &[&str]) -> Vec<Source> {
    let root = root();
    let mut found = Vec::new();
    collect(&root, &root, endings, &mut found);
    found.sort_by(|a, b| a.path.cmp(&b.path));
    found
}

fn collect(root: &Path, folder: &Path, endings: &[&str], found: &mut Vec<Source>) {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    for entry in entries {
        let path = entry.expect("a readable entry").path();
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        if path.is_dir() {
            if !SKIPPED.contains(&name.as_str()) {
                collect(root, &path, endings, found);
            }
        } else if endings.iter().any(|ending| name.ends_with(ending)) {
            let below = path.strip_prefix(root).expect("found below the root");
            let text =
                fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            found.push(Source { path: below.to_string_lossy().replace('\\', "/"), text });
        }
    }
}

/// The text of one file of the repository.
///
/// # Panics
/// When there is no such text.
#[must_use]
pub fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}
