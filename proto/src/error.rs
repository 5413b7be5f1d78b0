//! What can go wrong when a shared type is read from text or bytes. Nothing here says what a secret was.

use crate::ErrorClass;

/// A text or a row of bytes that is not what it should be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Not the printed form of the type.
    #[error("'{text}' is not {what}: expected {expected}")]
    Text {
        /// What was to be read, with its article: "a vault id".
        what: &'static str,
        /// The printed form that was expected.
        expected: &'static str,
        /// The text, cut after 40 characters.
        text: String,
    },
    /// A secret that is not in its printed form. The text is never repeated.
    #[error("this is not {what}: expected {expected}")]
    Secret {
        /// What was to be read, with its article: "a tenant token".
        what: &'static str,
        /// The printed form that was expected.
        expected: &'static str,
    },
    /// An assertion that does not hold for what was asked. It never says which part differs.
    #[error("the assertion does not allow this request; ask through a router of this fleet")]
    Assertion,
    /// A message without a field that it must have, or with one out of bounds.
    #[error("message {message}: field '{field}' {problem}; upgrade the older of the two processes")]
    Message {
        /// Name of the message.
        message: &'static str,
        /// Name of the field.
        field: &'static str,
        /// What is wrong with it.
        problem: String,
    },
}

impl Error {
    /// What the caller should make of it.
    #[must_use]
    pub const fn class(&self) -> ErrorClass {
        match self {
            Self::Text { .. } | Self::Secret { .. } | Self::Message { .. } => ErrorClass::Invalid,
            Self::Assertion => ErrorClass::Denied,
        }
    }

    pub(crate) fn text(what: &'static str, expected: &'static str, text: &str) -> Self {
        Self::Text { what, expected, text: text.chars().take(40).collect() }
    }
}
