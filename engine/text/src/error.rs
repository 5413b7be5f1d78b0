//! Owns what can go wrong here as one enum, and which class each failure has. It never logs.

use thiserror::Error;

use crate::dates::DateError;
use crate::names::NameError;

/// What a caller should do about a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorClass {
    /// The input cannot be used as it is: correct it.
    Invalid,
}

/// Any failure of this crate. Everything else here takes any input and gives an answer.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// A name was refused.
    #[error(transparent)]
    Name(#[from] NameError),
    /// A declared date was refused.
    #[error(transparent)]
    Date(#[from] DateError),
}

impl Error {
    /// What the caller should do.
    #[must_use]
    pub const fn class(&self) -> ErrorClass {
        match self {
            Self::Name(_) | Self::Date(_) => ErrorClass::Invalid,
        }
    }
}
