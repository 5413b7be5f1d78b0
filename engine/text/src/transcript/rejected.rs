//! Owns how a line that cannot be used is reported to people.

use std::fmt;

use super::parse::MAX_LINE_BYTES;

/// A line that could not be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejected {
    /// The line of the log; the first is 1.
    pub line: u32,
    /// Why.
    pub reason: RejectReason,
}

/// Why a line could not be used.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RejectReason {
    /// More bytes than a line may have.
    TooLong {
        /// How many there are.
        bytes: usize,
    },
    /// Bytes that are no UTF-8.
    InvalidUtf8 {
        /// How many bytes of the line are.
        valid_up_to: usize,
    },
    /// Text that is no JSON.
    InvalidJson {
        /// The byte of the line where reading stopped, from 1.
        column: usize,
    },
    /// JSON that is no object.
    NotAnObject,
    /// An object of a kind that no known program writes.
    UnknownShape {
        /// Its `type`, if it has one.
        kind: Option<String>,
    },
}

impl fmt::Display for RejectReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong { bytes } => {
                write!(f, "{bytes} bytes are more than a line may have ({MAX_LINE_BYTES})")
            }
            Self::InvalidUtf8 { valid_up_to } => write!(f, "not UTF-8 after byte {valid_up_to}"),
            Self::InvalidJson { column } => write!(f, "not JSON at byte {column}"),
            Self::NotAnObject => f.write_str("JSON, but not an object"),
            Self::UnknownShape { kind: Some(kind) } => {
                write!(f, "no message that is known: type \"{}\"", crate::shown::escape_controls(kind))
            }
            Self::UnknownShape { kind: None } => {
                f.write_str("no message that is known: it has no type, role or content")
            }
        }
    }
}

impl fmt::Display for Rejected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.reason)
    }
}
