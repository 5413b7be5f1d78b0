//! Owns what can go wrong here and which class each failure has. It never logs.

use thiserror::Error;

/// What a caller should do about a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorClass {
    /// The caller's input cannot be used as it is.
    Invalid,
    /// The bytes contradict themselves.
    Integrity,
    /// Another try later may succeed.
    Unavailable,
}

/// Why a stored vector was refused.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum VectorError {
    /// Fewer bytes than the header.
    #[error("vector: {bytes} bytes are fewer than its header of 6; embed the text again")]
    Truncated {
        /// How many bytes there were.
        bytes: usize,
    },
    /// Another version or kind than this release reads.
    #[error("vector: version {version} kind {kind} is not one that this release reads; embed the text again")]
    Format {
        /// The first byte.
        version: u8,
        /// The second byte.
        kind: u8,
    },
    /// The scale is negative or not a number.
    #[error("vector: the scale is not a finite number from zero up; embed the text again")]
    Scale,
    /// A code that no writer makes.
    #[error("vector: a code is -128, which is never written; embed the text again")]
    Code,
    /// No dimension, or too many.
    #[error("vector: {found} dimensions are outside 1 to 8192; embed the text again")]
    Dimension {
        /// How many there were.
        found: usize,
    },
}

/// Why a text has no embedding.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum EmbedError {
    /// The model answered with a failure.
    #[error("embedder {name}: {reason}")]
    Failed {
        /// Identity of the embedder.
        name: String,
        /// What it said.
        reason: String,
    },
    /// The model answered with another number of dimensions than it declares.
    #[error(
        "embedder {name}: {found} dimensions instead of the declared {declared}; check the model's configuration"
    )]
    Dimension {
        /// Identity of the embedder.
        name: String,
        /// What it declares.
        declared: usize,
        /// What came.
        found: usize,
    },
}

/// Why an index refused a document.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum InsertError {
    /// The vector has another dimension than the index.
    #[error(
        "vector: {found} dimensions, the index holds {expected}; embed the text with the index's embedder"
    )]
    Dimension {
        /// The index's dimension.
        expected: usize,
        /// The vector's dimension.
        found: usize,
    },
    /// The index is full.
    #[error("index: it holds its limit of {limit} documents; split the vault")]
    Full {
        /// The limit.
        limit: usize,
    },
}

/// Why an index image was refused. The remedy is always the same: build the index from the vault.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ImageError {
    /// Reading failed.
    #[error("index image: reading failed: {0}; build the index from the vault")]
    Read(#[from] std::io::Error),
    /// Not an image, or of a version that this release does not read.
    #[error("index image: version not known; build the index from the vault")]
    Version,
    /// A length exceeds what the caller allows.
    #[error("index image: {field} claims {claimed}, allowed are {allowed}; build the index from the vault")]
    TooLarge {
        /// Which length.
        field: &'static str,
        /// What it claims.
        claimed: u64,
        /// What is allowed.
        allowed: u64,
    },
    /// The parts contradict each other.
    #[error("index image: {field} contradicts the rest; build the index from the vault")]
    Corrupt {
        /// Which part.
        field: &'static str,
    },
}

impl VectorError {
    /// What the caller should do.
    #[must_use]
    pub fn class(&self) -> ErrorClass {
        ErrorClass::Integrity
    }
}

impl EmbedError {
    /// What the caller should do.
    #[must_use]
    pub fn class(&self) -> ErrorClass {
        ErrorClass::Unavailable
    }
}

impl InsertError {
    /// What the caller should do.
    #[must_use]
    pub fn class(&self) -> ErrorClass {
        ErrorClass::Invalid
    }
}

impl ImageError {
    /// What the caller should do.
    #[must_use]
    pub fn class(&self) -> ErrorClass {
        match self {
            Self::Read(_) => ErrorClass::Unavailable,
            Self::Version | Self::TooLarge { .. } | Self::Corrupt { .. } => ErrorClass::Integrity,
        }
    }
}
