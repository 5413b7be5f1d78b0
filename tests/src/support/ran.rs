//! What a command did: exit code and both outputs, with checks that say everything when they fail.

use std::process::Output;

use serde_json::Value;

/// One finished command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ran {
    /// What was typed.
    pub typed: String,
    /// Exit code; `None` when a signal ended it.
    pub code: Option<i32>,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

impl Ran {
    /// From what the system reports.
    ///
    /// # Panics
    /// When an output is not UTF-8: the binary promises text.
    #[must_use]
    pub fn new(typed: String, output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).expect("output in UTF-8");
        Self { typed, code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
    }

    /// Fails unless the command ended with `code`.
    ///
    /// # Panics
    /// With both outputs.
    #[must_use]
    pub fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{self}");
        self
    }

    /// Fails unless the command succeeded.
    #[must_use]
    pub fn ok(self) -> Self {
        self.exits(0)
    }

    /// Fails unless the command failed with `code` and told why on standard error with these words.
    ///
    /// # Panics
    /// With both outputs.
    pub fn refuses(self, code: i32, words: &str) {
        let ran = self.exits(code);
        assert!(ran.stderr.contains(words), "nothing about {words:?}\n{ran}");
        assert!(
            ran.stderr.starts_with("Error: ") || ran.stderr.contains("\nError: "),
            "no error line\n{ran}"
        );
    }

    /// Fails unless standard output has these words.
    ///
    /// # Panics
    /// With both outputs.
    #[must_use]
    pub fn says(self, words: &str) -> Self {
        assert!(self.stdout.contains(words), "nothing about {words:?}\n{self}");
        self
    }

    /// Standard output as one JSON value.
    ///
    /// # Panics
    /// When it is none.
    #[must_use]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("no JSON: {error}\n{self}"))
    }
}

impl std::fmt::Display for Ran {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let cut = |text: &str| text.chars().take(1_000).collect::<String>();
        let (typed, out, err) = (cut(&self.typed), cut(&self.stdout), cut(&self.stderr));
        write!(f, "$ undercroft {typed}\nexit {:?}\n--- stdout\n{out}\n--- stderr\n{err}", self.code)
    }
}
