//! What can go wrong in a member of the control group, and the class of each failure.
//!
//! What a command was refused for is no error of the member: it is an outcome, see [`crate::state::Refusal`].

use undercroft_proto::ErrorClass;

/// Every failure of this crate.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An entry of the log, or a snapshot, in a version that this build does not know.
    #[error(
        "{what} has version {found} and this build knows up to {known}; start the newer version of undercroft"
    )]
    Version {
        /// "an entry of the log", "a snapshot".
        what: &'static str,
        /// The version found.
        found: u32,
        /// The newest version known.
        known: u32,
    },
    /// Bytes that say they are of a known version and cannot be read.
    #[error(
        "{what} cannot be read: {problem}; restore this member from another one: undercroft cluster member remove, then add"
    )]
    Unreadable {
        /// What was to be read.
        what: &'static str,
        /// Where and how it fails.
        problem: String,
    },
    /// A batch over the bounds of an entry.
    #[error("a batch of {commands} commands and {bytes} bytes is over the bounds of an entry; split it")]
    BatchTooLarge {
        /// Commands in it.
        commands: usize,
        /// Its encoded length.
        bytes: usize,
    },
    /// An invariant of the state does not hold.
    #[error(
        "the state contradicts itself: {0}; stop this member and keep its folder for a person to look at"
    )]
    Invariant(String),
}

impl Error {
    /// What the caller should make of it.
    #[must_use]
    pub const fn class(&self) -> ErrorClass {
        match self {
            Self::Version { .. } => ErrorClass::Unavailable,
            Self::Unreadable { .. } | Self::Invariant(_) => ErrorClass::Integrity,
            Self::BatchTooLarge { .. } => ErrorClass::Invalid,
        }
    }
}
