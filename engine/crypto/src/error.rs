//! What can go wrong in this crate, and the error classes that the whole workspace shares.
//!
//! A failure to open, to verify or to parse never says which byte was wrong: a wrong key, a changed byte and a
//! copy from another place look alike.

use thiserror::Error;

/// What a caller should make of an error. Every crate's error maps to exactly one class, and each surface
/// (exit codes, HTTP statuses) maps from the class alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
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
    /// Every class, in declaration order.
    pub const ALL: [Self; 7] = [
        Self::Invalid,
        Self::NotFound,
        Self::Conflict,
        Self::Denied,
        Self::Integrity,
        Self::Unavailable,
        Self::Internal,
    ];

    /// The class as it is written in replies and logs, for example `not_found`.
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

    /// The class of what the system says about a file: something that is no file lies there, the machine lacks something for
    /// now, or it is nothing that was reckoned with.
    #[must_use]
    pub fn of_io(error: &std::io::Error) -> Self {
        use std::io::ErrorKind::{FileTooLarge, OutOfMemory, QuotaExceeded, StorageFull};
        /// `EIO`, `ENOMEM`, `ENFILE` and `EMFILE`, which have no kinds of their own everywhere and the same numbers on every Unix.
        const SHORTAGES: [i32; 4] = [5, 12, 23, 24];
        if crate::regular::is_refusal(error) {
            return Self::Integrity;
        }
        let lacks = matches!(error.kind(), FileTooLarge | OutOfMemory | QuotaExceeded | StorageFull)
            || error.raw_os_error().is_some_and(|number| SHORTAGES.contains(&number));
        if lacks { Self::Unavailable } else { Self::Internal }
    }
}

impl std::fmt::Display for ErrorClass {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Why an operation of this crate failed.
#[derive(Debug, Error)]
pub enum Error {
    /// A fixed-size value was given with another length.
    #[error("{what} must be {expected} bytes, found {found}: give exactly that many")]
    Length {
        /// What the bytes were meant to be.
        what: &'static str,
        /// The only accepted length, in bytes.
        expected: usize,
        /// The length that was given, in bytes.
        found: usize,
    },
    /// Text was not lower-case hexadecimal of the right length.
    #[error("{what} must be {expected} lower-case hexadecimal digits")]
    Hex {
        /// What the text was meant to be.
        what: &'static str,
        /// The only accepted number of digits.
        expected: usize,
    },
    /// Zero is not a key generation: the first one is 1.
    #[error("key generation must be at least 1, found 0")]
    Generation,
    /// A name that is no security level.
    #[error("level must be `sealed` or `hmac-only`")]
    Level,
    /// Argon2id could not run, most likely for want of 64 MiB of memory.
    #[error("the key could not be derived from the passphrase ({detail}): free some memory and try again")]
    Kdf {
        /// What the implementation reported; it never contains the passphrase.
        detail: String,
    },
    /// Sealed bytes did not open. One variant for every cause, on purpose.
    #[error("sealed bytes do not open: changed bytes, another place, or the wrong key")]
    Open,
    /// A tag does not fit its fields.
    #[error("the tag does not match its fields: changed bytes or the wrong key")]
    TagMismatch,
    /// A content frame is not one that this crate writes.
    #[error("the content frame is damaged: {defect}")]
    Frame {
        /// What is wrong with it.
        defect: &'static str,
    },
    /// A content frame announces more than the caller accepts.
    #[error("the content frame announces {claimed} bytes, above the limit of {limit}")]
    FrameTooLarge {
        /// The announced size of the content, in bytes.
        claimed: u64,
        /// The largest accepted size, in bytes.
        limit: usize,
    },
    /// Bytes are not a segment that this crate writes.
    #[error("the segment is damaged: {defect}")]
    Segment {
        /// What is wrong with it.
        defect: &'static str,
    },
    /// A segment is of a version that this program does not know.
    #[error("the segment has format version {found}, which this program does not know; upgrade the program")]
    SegmentVersion {
        /// The version that it states.
        found: u8,
    },
    /// Changes do not fit into one segment.
    #[error("a segment of {bytes} bytes is above the limit of {limit}; split the work")]
    SegmentTooLarge {
        /// What it would have, or has.
        bytes: usize,
        /// The most that one may have.
        limit: usize,
    },
    /// A manifest is not one that this crate writes, before any key was tried.
    #[error("the vault manifest is damaged ({detail}): restore vault.json from a backup of this vault")]
    ManifestForm {
        /// What is wrong with it.
        detail: String,
    },
    /// A manifest's MAC does not fit. A wrong key and a changed field look alike.
    #[error("the vault manifest does not verify: it was changed, or the master key is not this vault's")]
    ManifestMac,
    /// A manifest about to be written breaks a bound.
    #[error("the manifest field `{field}` is out of bounds: {remedy}")]
    ManifestField {
        /// The field as it is named in `vault.json`.
        field: &'static str,
        /// What would be accepted.
        remedy: &'static str,
    },
    /// A file that is no recovery kit, or none that this program knows.
    #[error(
        "this is no recovery kit that can be read: {detail}; name the file that 'cluster recovery-kit' wrote"
    )]
    KitForm {
        /// What is wrong with it.
        detail: &'static str,
    },
    /// A recovery kit whose bytes are not those that were written.
    #[error("the recovery kit is damaged or was changed: take another copy of it, or make a new one")]
    KitDamaged,
    /// A recovery kit that is sealed under the other kind of secret.
    #[error("this recovery kit is sealed under {needs}: give that one")]
    KitKind {
        /// "a passphrase", "a key file".
        needs: &'static str,
    },
    /// A secret that is not the kit's.
    #[error(
        "this recovery kit is sealed under {what}, and not under this one: give the one that it was made with"
    )]
    KitSecret {
        /// "a passphrase", "a key file".
        what: &'static str,
    },
}

impl Error {
    /// What the caller should make of this error.
    #[must_use]
    pub const fn class(&self) -> ErrorClass {
        match self {
            Self::Length { .. }
            | Self::Hex { .. }
            | Self::Generation
            | Self::Level
            | Self::SegmentVersion { .. }
            | Self::SegmentTooLarge { .. }
            | Self::ManifestField { .. }
            | Self::KitForm { .. }
            | Self::KitKind { .. } => ErrorClass::Invalid,
            Self::KitSecret { .. } => ErrorClass::Denied,
            Self::Kdf { .. } => ErrorClass::Unavailable,
            Self::Open
            | Self::TagMismatch
            | Self::Frame { .. }
            | Self::FrameTooLarge { .. }
            | Self::Segment { .. }
            | Self::ManifestForm { .. }
            | Self::ManifestMac
            | Self::KitDamaged => ErrorClass::Integrity,
        }
    }
}

#[cfg(test)]
#[path = "error_test.rs"]
mod error_test;
