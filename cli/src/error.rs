//! Why a command ended without success, and how that is told: lines for people, one object for programs.

use std::error::Error;
use std::io;

use undercroft_palace::ErrorClass;
use undercroft_text::{escape_controls, escape_json};

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
    /// Certificates and secrets of a fleet.
    #[error(transparent)]
    Certs(#[from] undercroft_certs::Error),
    /// Deciding for a fleet.
    #[error(transparent)]
    Control(#[from] undercroft_control_plane::Error),
    /// Sealed files of the operator.
    #[error(transparent)]
    Crypto(#[from] undercroft_crypto::Error),
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
            Self::Certs(error) => of_fleet(error.class()),
            Self::Control(error) => of_fleet(error.class()),
            Self::Crypto(error) => error.class(),
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

    /// Whether the place cannot be written, or not now: a read-only folder, a full disk, a failing one. Verdicts on
    /// stored bytes and vaults in use are neither.
    #[must_use]
    pub(crate) fn is_unwritable(&self) -> bool {
        if matches!(self.class(), ErrorClass::Integrity | ErrorClass::Conflict) {
            return false;
        }
        if let Self::Vault(undercroft_vault::Error::Sqlite(error))
        | Self::Palace(undercroft_palace::Error::Vault(undercroft_vault::Error::Sqlite(error))) = self
        {
            return error.sqlite_error().is_some_and(|failure| sqlite_cannot_write(failure.extended_code));
        }
        let mut cause = self.source();
        while let Some(error) = cause {
            if let Some(error) = error.downcast_ref::<io::Error>() {
                return cannot_write(error);
            }
            cause = error.source();
        }
        false
    }

    /// Whether nothing is left to tell: the result said it, or nobody listens on a closed pipe.
    #[must_use]
    pub(crate) fn is_told(&self) -> bool {
        matches!(self, Self::Told(_))
            || matches!(self, Self::Output(e) if e.kind() == io::ErrorKind::BrokenPipe)
    }
}

/// The class as processes of a fleet tell it to each other, in the engine's words.
const fn of_fleet(class: undercroft_certs::ErrorClass) -> ErrorClass {
    use undercroft_certs::ErrorClass as Fleet;
    match class {
        Fleet::Invalid => ErrorClass::Invalid,
        Fleet::NotFound => ErrorClass::NotFound,
        Fleet::Conflict => ErrorClass::Conflict,
        Fleet::Denied => ErrorClass::Denied,
        Fleet::Integrity => ErrorClass::Integrity,
        Fleet::Unavailable => ErrorClass::Unavailable,
        Fleet::Internal => ErrorClass::Internal,
    }
}

/// Primary result codes of SQLite (<https://sqlite.org/rescode.html>): PERM, READONLY, IOERR, FULL, CANTOPEN.
fn sqlite_cannot_write(extended_code: i32) -> bool {
    matches!(extended_code & 0xff, 3 | 8 | 10 | 13 | 14)
}

fn cannot_write(error: &io::Error) -> bool {
    /// `EIO`, which has no kind of its own.
    const DEVICE: i32 = 5;
    use io::ErrorKind::{PermissionDenied, QuotaExceeded, ReadOnlyFilesystem, StorageFull};
    matches!(error.kind(), PermissionDenied | ReadOnlyFilesystem | StorageFull | QuotaExceeded)
        || error.raw_os_error() == Some(DEVICE)
}

/// `Error: …`, and below it each cause that the line above does not repeat already. What names and
/// stored texts bring along cannot steer a terminal.
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
    escape_controls(&text).into_owned()
}

/// The same object that the HTTP surface answers with.
#[must_use]
pub(crate) fn for_programs(message: &str, class: ErrorClass) -> String {
    let answer = serde_json::json!({ "error": message, "class": class.as_str() });
    escape_json(&answer.to_string()).into_owned()
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
    fn an_error_for_people_cannot_steer_a_terminal() {
        let told = for_people(&Failure::invalid("no 'a\u{1b}[2Jb\u{202e}c'"));
        assert_eq!(told, "Error: no 'a\\u{1b}[2Jb\\u{202e}c'");
    }

    #[test]
    fn only_a_place_that_cannot_be_written_is_read_instead() {
        let io = |source| {
            let path = std::path::PathBuf::from("vault.json");
            Failure::Vault(undercroft_vault::Error::Io { action: "write", path, source })
        };
        for kind in
            [io::ErrorKind::PermissionDenied, io::ErrorKind::ReadOnlyFilesystem, io::ErrorKind::StorageFull]
        {
            assert!(io(kind.into()).is_unwritable(), "{kind}");
        }
        assert!(io(io::Error::from_raw_os_error(5)).is_unwritable());
        assert!(!io(io::ErrorKind::NotFound.into()).is_unwritable());
        for code in [8, 10, 13, 14, 8 | 5 << 8, 10 | 4 << 8] {
            assert!(sqlite_cannot_write(code), "{code}");
        }
        for code in [1, 5, 6, 11, 26] {
            assert!(!sqlite_cannot_write(code), "{code}");
        }
        let others = [undercroft_vault::Error::InUse("v".into()), undercroft_vault::Error::ReadOnly];
        assert!(others.into_iter().all(|error| !Failure::Vault(error).is_unwritable()));
        assert!(!Failure::Vault(undercroft_vault::Error::KeyCheck("v".into())).is_unwritable());
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
