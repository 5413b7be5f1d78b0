//! The guard of names that become folders: the one that every name of the product passes, and what a path adds to it.

use undercroft_text::names::check_name;

use crate::error::{Error, Result};

/// The vault name in its kept form: trimmed, 1 to 128 bytes, no separators, no control characters, and no leading dot,
/// which marks folders that are being put together.
pub(crate) fn vault(name: &str) -> Result<String> {
    let kept = check_name("vault", name).map_err(|refused| Error::VaultName(refused.to_string()))?;
    if kept.starts_with('.') {
        return Err(Error::VaultName("invalid vault: it starts with a dot; choose another name".to_owned()));
    }
    Ok(kept)
}

/// Most bytes of a folder's name, on every file system that vaults are kept on.
const LONGEST: usize = 255;

/// Whether `name` is exactly one plain folder name, as a backup's is.
pub(crate) fn is_plain(name: &str) -> bool {
    if name.len() > LONGEST || name.contains('\0') {
        return false;
    }
    let mut components = std::path::Path::new(name).components();
    matches!(components.next(), Some(std::path::Component::Normal(part)) if part == name)
        && components.next().is_none()
}

#[cfg(test)]
mod tests {
    use super::is_plain;

    #[test]
    fn a_plain_name_has_no_path_in_it() {
        for name in ["default-2026-01-02T03-04-05-000000Z", "a b", "..x"] {
            assert!(is_plain(name), "{name}");
        }
        assert!(is_plain(&"x".repeat(255)) && !is_plain(&"x".repeat(256)) && !is_plain("a\0"));
        for name in ["", ".", "..", "a/b", "/a", "a/", "./a", "../a"] {
            assert!(!is_plain(name), "{name}");
        }
    }
}
