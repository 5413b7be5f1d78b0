//! Owns how a line that cannot be used is reported to people.

use std::fmt;

use serde_json::Value;

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
    /// A message whose words are not where they belong, or are no words.
    NoWords {
        /// The field that should hold them.
        field: &'static str,
        /// What it holds.
        found: Found,
    },
    /// A message that begins as what programs tell themselves does.
    Noise {
        /// How it begins.
        start: &'static str,
    },
}

/// What stands where words should.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Found {
    /// No such field.
    Nothing,
    /// `null`.
    Null,
    /// `true` or `false`.
    Boolean,
    /// A number.
    Number,
    /// A text, where none belongs.
    Text,
    /// A list in which something is no text and no block with one.
    List,
    /// An object that is no block with a text.
    Object,
}

impl Found {
    pub(super) fn of(value: Option<&Value>) -> Self {
        match value {
            None => Self::Nothing,
            Some(Value::Null) => Self::Null,
            Some(Value::Bool(_)) => Self::Boolean,
            Some(Value::Number(_)) => Self::Number,
            Some(Value::String(_)) => Self::Text,
            Some(Value::Array(_)) => Self::List,
            Some(Value::Object(_)) => Self::Object,
        }
    }
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Nothing => "is missing",
            Self::Null => "is null",
            Self::Boolean => "is true or false",
            Self::Number => "is a number",
            Self::Text => "is a plain text",
            Self::List => "is a list with an item that holds no text",
            Self::Object => "is an object without a text",
        })
    }
}

impl fmt::Display for RejectReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong { bytes } => {
                write!(f, "{bytes} bytes are more than a line may have ({MAX_LINE_BYTES})")
            }
            Self::InvalidUtf8 { valid_up_to } => write!(f, "not UTF-8 after byte {valid_up_to}"),
            Self::InvalidJson { column } => write!(f, "not JSON: it cannot be read on from byte {column}"),
            Self::NotAnObject => f.write_str("JSON, but not an object"),
            Self::UnknownShape { kind: Some(kind) } => {
                write!(f, "a record of an unknown type: \"{}\"", crate::shown::escape_controls(kind))
            }
            Self::UnknownShape { kind: None } => f.write_str("no message: it has no type, role or content"),
            Self::NoWords { field, found } => {
                write!(f, "the message's \"{field}\" {found}; its words belong there")
            }
            Self::Noise { start } => {
                write!(f, "left out: it begins with \"{start}\", as what programs write for themselves does")
            }
        }
    }
}

impl fmt::Display for Rejected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.reason)
    }
}
