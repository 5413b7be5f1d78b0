//! Pages name only what exists.

use std::path::Path;

use super::Finding;
use crate::page;

/// Endings by which a quoted word is recognised as the path of a file.
const FILE_ENDINGS: [&str; 7] = [".rs", ".md", ".toml", ".txt", ".sh", ".yml", ".lock"];

/// Quoted paths of the page that do not exist below `root` or beside the page.
#[must_use]
pub fn missing(root: &Path, path_of_page: &str, page: &str) -> Vec<Finding> {
    let beside = root.join(path_of_page).parent().map(Path::to_path_buf).unwrap_or_default();
    let quoted = page::quoted(page).into_iter().filter(|word| is_path(word));
    let linked = links(page);
    quoted
        .chain(linked)
        .filter(|name| !root.join(name).exists() && !beside.join(name).exists())
        .map(|name| Finding::new(path_of_page, format!("names `{name}`, which does not exist")))
        .collect()
}

/// A path of this repository: one of its top folders and something below, or a file in the style of its sources.
fn is_path(word: &str) -> bool {
    if word.contains(['*', '<', '…', ' ', '$', '~', '{', '(', ':']) || word.starts_with(['/', '.', '-']) {
        return false;
    }
    let tops = ["engine/", "proto/", "certs/", "control-plane/", "cli/", "tests/", "docs/", "fuzz/"];
    let top = tops.iter().any(|folder| word.starts_with(folder));
    top || (word.contains('/') && FILE_ENDINGS.iter().any(|ending| word.ends_with(ending)))
}

/// Targets of the page's links into the repository.
fn links(page: &str) -> Vec<String> {
    page.match_indices("](")
        .filter_map(|(at, _)| page[at + 2..].split_once(')'))
        .map(|(target, _)| target.split('#').next().unwrap_or_default().to_owned())
        .filter(|target| !target.is_empty() && !target.contains("://") && !target.contains(' '))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::missing;
    use crate::tree;

    fn found(page: &str) -> usize {
        missing(&tree::root(), "docs/page.md", page).len()
    }

    #[test]
    fn a_path_that_is_not_there_is_found() {
        assert_eq!(found("see `engine/text/src/nowhere.rs`"), 1);
        assert_eq!(found("| `docs/nowhere/` | x |"), 1);
        assert_eq!(found("[link](nowhere.md#part)"), 1);
    }

    #[test]
    fn paths_that_are_there_and_words_that_are_no_paths_are_fine() {
        assert_eq!(found("`engine/text/src/lib.rs`, `tests/`, `wing/room`, `~/.undercroft/master.key`"), 0);
        assert_eq!(found("[a](https://example.org/x) [b](architecture.md)"), 0);
        assert_eq!(found("```text\n`engine/nowhere.rs`\n```"), 0);
    }
}
