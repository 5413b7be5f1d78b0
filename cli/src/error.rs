//! Why a command ended without success, and how that is told: lines for people, one object for programs.

use std::error::Error;
use std::io;

use undercroft_palace::ErrorClass;

use crate::exit;

/// A command's failure.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// The installation: keys, names, backups, configuration.
    #[error(transparent)]
    Palace(#[from] undercroft_palace::Error),
    /// One vault.
    #[error(transparent)]
    Vault(#[from] undercroft_vault::Error),
    /// Serving vaults.
    #[error(transparent)]
    Node(#[from] undercroft_node::Error),
    /// What was typed, or what it names, cannot be used.
    #[error("{message}")]
    Refused {
        /// The class that decides the exit code.
        class: ErrorClass,
        /// What is wrong and what to do.
        message: String,
    },
    /// The command has printed what is wrong as its result.
    #[error("the result says what is wrong")]
    Told(ErrorClass),
    /// Standard output cannot be written.
    #[error("cannot write the output: {0}")]
    Output(#[from] io::Error),
}

/// Result of a command.
pub(crate) type Outcome<T = ()> = Result<T, Failure>;

impl Failure {
    /// Something typed that cannot be used.
    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Self::Refused { class: ErrorClass::Invalid, message: message.into() }
    }

    /// Something named that does not exist.
    pub(crate) fn not_found(message: impl Into<String>) -> Self {
        Self::Refused { class: ErrorClass::NotFound, message: message.into() }
    }

    /// A command or flag that is documented and not built.
    #[must_use]
    pub(crate) fn not_implemented(what: &str) -> Self {
        Self::invalid(format!("not implemented: {what}"))
    }

    /// The class of the failure.
    #[must_use]
    pub(crate) fn class(&self) -> ErrorClass {
        match self {
            Self::Palace(error) => error.class(),
            Self::Vault(error) => error.class(),
            Self::Node(error) => error.class(),
            Self::Refused { class, .. } | Self::Told(class) => *class,
            Self::Output(_) => ErrorClass::Unavailable,
        }
    }

    /// The exit code. A reader that closed the pipe has seen what it wanted: that is no failure.
    #[must_use]
    pub(crate) fn code(&self) -> u8 {
        match self {
            Self::Output(error) if error.kind() == io::ErrorKind::BrokenPipe => exit::DONE,
            other => exit::code(other.class()),
        }
    }

    /// Whether nothing is left to tell: the result said it, or nobody listens on a closed pipe.
    #[must_use]
    pub(crate) fn is_told(&self) -> bool {
        matches!(self, Self::Told(_))
            || matches!(self, Self::Output(e) if e.kind() == io::ErrorKind::BrokenPipe)
    }
}

/// `Error: …`, and below it each cause that the line above does not repeat already.
#[must_use]
pub(crate) fn for_people(error: &dyn Error) -> String {
    let mut last = error.to_string();
    let mut text = format!("Error: {last}");
    let mut cause = error.source();
    while let Some(next) = cause {
        let message = next.to_string();
        if !last.contains(&message) {
            text.push_str(&format!("\n  caused by: {message}"));
        }
        last = message;
        cause = next.source();
    }
    text
}

/// The same object that the HTTP surface answers with.
#[must_use]
pub(crate) fn for_programs(message: &str, class: ErrorClass) -> String {
    serde_json::json!({ "error": message, "class": class.as_str() }).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cause_is_told_once() {
        #[derive(Debug, thiserror::Error)]
        #[error("cannot open the box")]
        struct Outer(#[source] io::Error);
        let hidden = Outer(io::Error::other("the lid is stuck"));
        assert_eq!(for_people(&hidden), "Error: cannot open the box\n  caused by: the lid is stuck");
        #[derive(Debug, thiserror::Error)]
        #[error("cannot open the box: {0}")]
        struct Repeating(#[source] io::Error);
        let repeated = Repeating(io::Error::other("the lid is stuck"));
        assert_eq!(for_people(&repeated), "Error: cannot open the box: the lid is stuck");
    }

    #[test]
    fn an_error_for_programs_has_a_message_and_a_class() {
        let value: serde_json::Value =
            serde_json::from_str(&for_programs("no \"x\"", ErrorClass::NotFound)).unwrap();
        assert_eq!(value, serde_json::json!({ "error": "no \"x\"", "class": "not_found" }));
    }

    #[test]
    fn a_closed_pipe_is_no_failure_and_a_printed_verdict_is_two() {
        let closed = Failure::Output(io::Error::from(io::ErrorKind::BrokenPipe));
        assert!(closed.code() == 0 && closed.is_told());
        let verdict = Failure::Told(ErrorClass::Integrity);
        assert!(verdict.code() == 2 && verdict.is_told());
        assert_eq!(Failure::not_implemented("--x").to_string(), "not implemented: --x");
    }
}
