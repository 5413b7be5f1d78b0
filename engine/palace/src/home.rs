//! The data folder: where it is, and where each thing in it is.
//!
//! It decides paths and folder modes. It reads no key and no vault.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use crate::env::{Environment, resolve};
use crate::error::{Error, Result};

/// The folder name below a person's home.
const DEFAULT_FOLDER: &str = ".undercroft";

/// One installation's data folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Home {
    root: PathBuf,
}

impl Home {
    /// The data folder of a run: `data_dir` when given, else `UNDERCROFT_HOME`, else `.undercroft` below `HOME`,
    /// `USERPROFILE` or the current folder, whichever is first declared and not empty.
    #[must_use]
    pub fn resolve(data_dir: Option<&Path>, environment: &Environment) -> Self {
        if let Some(given) = data_dir.filter(|path| !path.as_os_str().is_empty()) {
            return Self::at(given);
        }
        if let Some(declared) = resolve::home(environment) {
            return Self::at(declared);
        }
        let person = environment
            .non_empty("HOME")
            .or_else(|| environment.non_empty("USERPROFILE"))
            .unwrap_or(OsStr::new("."));
        Self::at(Path::new(person).join(DEFAULT_FOLDER))
    }

    /// The data folder at `root`.
    pub fn at(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// The folder itself.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The master key in key-file mode: 32 raw bytes.
    #[must_use]
    pub fn key_file(&self) -> PathBuf {
        self.root.join("master.key")
    }

    /// The salt in passphrase mode: 16 raw bytes.
    #[must_use]
    pub fn salt_file(&self) -> PathBuf {
        self.root.join("kdf.salt")
    }

    /// Who the palace serves, for `wake-up`. Readable on purpose.
    #[must_use]
    pub fn identity_file(&self) -> PathBuf {
        self.root.join("identity.txt")
    }

    /// One folder per vault.
    #[must_use]
    pub fn vaults(&self) -> PathBuf {
        self.root.join("vaults")
    }

    /// One folder per backup.
    #[must_use]
    pub fn backups(&self) -> PathBuf {
        self.root.join("backups")
    }

    /// Makes the data folder, for its owner alone, when it is missing.
    ///
    /// # Errors
    /// [`Error::Io`] when it cannot be made.
    pub fn create(&self) -> Result<()> {
        make_private_folder(&self.root)
    }
}

/// Makes `path` and what is missing above it, each with mode 0700. A folder that exists keeps its mode: it may be shared
/// on purpose, and the files in it are private by themselves.
pub(crate) fn make_private_folder(path: &Path) -> Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path).map_err(Error::io("make the folder", path))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolved(data_dir: Option<&str>, pairs: &[(&str, &str)]) -> PathBuf {
        let environment = Environment::from_pairs(pairs.iter().copied());
        Home::resolve(data_dir.map(Path::new), &environment).root().to_path_buf()
    }

    #[test]
    fn the_nearest_declaration_decides_the_folder() {
        let all = [("UNDERCROFT_HOME", "/declared"), ("HOME", "/home/a"), ("USERPROFILE", "/users/a")];
        assert_eq!(resolved(Some("/given"), &all), Path::new("/given"));
        assert_eq!(resolved(None, &all), Path::new("/declared"));
        assert_eq!(resolved(None, &all[1..]), Path::new("/home/a/.undercroft"));
        assert_eq!(resolved(None, &all[2..]), Path::new("/users/a/.undercroft"));
        assert_eq!(resolved(None, &[]), Path::new("./.undercroft"));
    }

    #[test]
    fn empty_declarations_are_passed_over() {
        let empty = [("UNDERCROFT_HOME", ""), ("HOME", ""), ("USERPROFILE", "/users/a")];
        assert_eq!(resolved(Some(""), &empty), Path::new("/users/a/.undercroft"));
    }

    #[cfg(unix)]
    #[test]
    fn the_folder_is_made_for_its_owner_alone() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        let home = Home::at(dir.path().join("a/b"));
        home.create().unwrap();
        for made in [home.root(), home.root().parent().unwrap()] {
            assert_eq!(fs::metadata(made).unwrap().permissions().mode() & 0o777, 0o700);
        }
        home.create().expect("an existing folder is fine");
    }
}
