//! An installation in a temporary folder, and commands on it in an environment that holds nothing else.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use super::{Ran, binary};

/// One installation. Its folder goes with it.
#[derive(Debug)]
pub struct Palace {
    dir: tempfile::TempDir,
    environment: Vec<(OsString, OsString)>,
}

impl Palace {
    /// An empty folder; nothing is made in it yet.
    ///
    /// # Panics
    /// When there is no place for it.
    #[must_use]
    pub fn empty() -> Self {
        Self { dir: tempfile::tempdir().expect("a temporary folder"), environment: Vec::new() }
    }

    /// An installation with its vault `default`.
    #[must_use]
    pub fn new() -> Self {
        let palace = Self::empty();
        let _ = palace.run(&["init"]).ok();
        palace
    }

    /// Declares a variable for every later command.
    #[must_use]
    pub fn with(self, name: &str, value: &str) -> Self {
        let mut palace = self.without(name);
        palace.environment.push((name.into(), value.into()));
        palace
    }

    /// Declares a variable no more.
    #[must_use]
    pub fn without(mut self, name: &str) -> Self {
        self.environment.retain(|(known, _)| known != name);
        self
    }

    /// The folder around the installation: a place for files that a story needs.
    #[must_use]
    pub fn outside(&self) -> &Path {
        self.dir.path()
    }

    /// The data folder.
    #[must_use]
    pub fn root(&self) -> PathBuf {
        self.dir.path().join("palace")
    }

    /// The folder of the vault `default`.
    #[must_use]
    pub fn vault(&self) -> PathBuf {
        self.root().join("vaults/default")
    }

    /// Writes a file beside the installation and gives its path.
    ///
    /// # Panics
    /// When it cannot be written.
    pub fn file(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.dir.path().join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder for the file");
        fs::write(&path, bytes).expect("a file");
        path
    }

    /// A command that has not started: no environment but this installation's, no input.
    #[must_use]
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(binary());
        command
            .env_clear()
            .env("HOME", self.dir.path().join("home"))
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .current_dir(self.dir.path())
            .arg("--data-dir")
            .arg(self.root())
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// Runs a command to its end.
    ///
    /// # Panics
    /// When it cannot be started.
    #[must_use]
    pub fn run(&self, arguments: &[&str]) -> Ran {
        let output = self.command(arguments).output().expect("the binary starts");
        Ran::new(arguments.join(" "), output)
    }

    /// Runs a command that must succeed, and reads what it printed as JSON.
    #[must_use]
    pub fn json(&self, arguments: &[&str]) -> Value {
        let all: Vec<&str> = arguments.iter().copied().chain(["--json"]).collect();
        self.run(&all).ok().json()
    }

    /// Files one text and gives its id.
    ///
    /// # Panics
    /// When it is not filed.
    #[must_use]
    pub fn remember(&self, text: &str) -> String {
        self.json(&["remember", text])["id"].as_str().expect("an id").to_owned()
    }

    /// The words of a drawer, byte for byte.
    ///
    /// # Panics
    /// When there is no such drawer.
    #[must_use]
    pub fn words(&self, id: &str) -> String {
        self.json(&["drawer", "get", id])["drawer"]["content"].as_str().expect("its words").to_owned()
    }

    /// Contents of the first hits of a search.
    ///
    /// # Panics
    /// When the search fails.
    #[must_use]
    pub fn found(&self, query: &str) -> Vec<String> {
        let reply = self.json(&["search", query]);
        let hits = reply["hits"].as_array().expect("hits").iter();
        hits.map(|hit| hit["content"].as_str().expect("content").to_owned()).collect()
    }

    /// Fails unless the vault `default` verifies.
    pub fn verifies(&self) {
        let _ = self.run(&["verify"]).ok().says("VERIFY OK");
    }
}

impl Default for Palace {
    fn default() -> Self {
        Self::new()
    }
}
