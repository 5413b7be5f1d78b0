//! The classes of errors, as they cross from one process to another.

use serde::{Deserialize, Serialize};

/// What a caller should make of an error. Each surface maps to its own codes from the class alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorClass {
    /// The request is wrong and will stay wrong: correct it.
    Invalid,
    /// What was named does not exist.
    NotFound,
    /// The state changed or something is in the way: look again, then decide.
    Conflict,
    /// The caller may not do this.
    Denied,
    /// Stored bytes are not what was written: stop and investigate.
    Integrity,
    /// A resource is missing for now: the same call may succeed later.
    Unavailable,
    /// A defect in this program.
    Internal,
}

impl ErrorClass {
    /// Every class, in the order of declaration.
    pub const ALL: [Self; 7] = [
        Self::Invalid,
        Self::NotFound,
        Self::Conflict,
        Self::Denied,
        Self::Integrity,
        Self::Unavailable,
        Self::Internal,
    ];

    /// The class as it stands in replies and logs, for example `not_found`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Invalid => "invalid",
            Self::NotFound => "not_found",
            Self::Conflict => "conflict",
            Self::Denied => "denied",
            Self::Integrity => "integrity",
            Self::Unavailable => "unavailable",
            Self::Internal => "internal",
        }
    }
}

impl std::fmt::Display for ErrorClass {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}
