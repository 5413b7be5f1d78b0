//! What can go wrong with certificates, and the class of each failure. No message holds key material.

use std::io;
use std::path::{Path, PathBuf};

use undercroft_proto::ErrorClass;

use crate::{Identity, Role};

/// Every failure of this crate.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file or folder cannot be used.
    #[error("cannot {action} {}: {source}; check that it exists, its permissions and the disk", .path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// Something that was typed, or stands in a certificate, is not what it should be.
    #[error("'{text}' is not {what}: expected {expected}")]
    Text {
        /// What was to be read, with its article.
        what: &'static str,
        /// What was expected.
        expected: &'static str,
        /// The text, cut after 60 characters.
        text: String,
    },
    /// A certificate whose holder listens needs a host.
    #[error("a {0} is connected to by name, so its certificate needs one: add --host NAME or --ip ADDRESS")]
    NoHost(Role),
    /// More hosts than a certificate may have, or validity out of bounds.
    #[error("{field} is {value}; it may be {least} to {most}")]
    Bounds {
        /// Which argument.
        field: &'static str,
        /// What it is.
        value: u64,
        /// The least.
        least: u64,
        /// The most.
        most: u64,
    },
    /// There is no CA in the folder, and none is to be made.
    #[error("{} holds no CA; make one with the first certificate: undercroft cluster certs --cert-dir FOLDER --role control --name NAME --host HOST", .0.display())]
    NoCa(PathBuf),
    /// Certificates of a CA whose key is elsewhere.
    #[error("{} holds certificates of a CA and no ca.key; make certificates where the CA's key is kept, or name an empty folder", .0.display())]
    NoCaKey(PathBuf),
    /// What is there was not made by this CA.
    #[error("{} was not made by this CA ({problem}) and stays as it is; move it away, or name another folder", .path.display())]
    NotOurs {
        /// What is in the way.
        path: PathBuf,
        /// Why it is not.
        problem: String,
    },
    /// The CA's key is readable by others.
    #[error("{} may be read by others (mode {mode:o}); make it the owner's alone: chmod 600 {}", .path.display(), .path.display())]
    Exposed {
        /// The key.
        path: PathBuf,
        /// Its mode.
        mode: u32,
    },
    /// A step of renewing the CA that is not the next one.
    #[error("the CA's renewal is not there yet: {0}")]
    Step(String),
    /// Another process makes certificates in this folder.
    #[error("{} is in use by another run of cluster certs; wait until it has ended", .0.display())]
    InUse(PathBuf),
    /// What a process was given cannot be used.
    #[error("{}: {problem}", .folder.display())]
    Unusable {
        /// The folder.
        folder: PathBuf,
        /// Why.
        problem: Unusable,
    },
    /// Certificates cannot be made or used for a reason that no input explains.
    #[error("certificates cannot be made: {0}; this is a defect, report it")]
    Internal(String),
}

/// Why certificates cannot be used. Each names its remedy.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Unusable {
    /// A file that is not what its name says.
    #[error("{file} cannot be read: {problem}; copy it again from where undercroft cluster certs made it")]
    Unreadable {
        /// Its name.
        file: String,
        /// Why.
        problem: String,
    },
    /// Key and certificate do not belong together; also the state of files that are being replaced.
    #[error(
        "tls.key is not the key of tls.crt; copy both again from where undercroft cluster certs made them"
    )]
    NotAPair,
    /// No CA that is trusted here signed it.
    #[error("tls.crt was signed by no CA of ca.crt ({0}); copy ca.crt, tls.crt and tls.key from the same CA")]
    NotTrusted(String),
    /// The end has passed.
    #[error("tls.crt ended {seconds} s ago; renew it: undercroft cluster certs --renew")]
    Expired {
        /// How long ago.
        seconds: u64,
    },
    /// The begin is to come.
    #[error("tls.crt begins in {seconds} s; set this machine's clock, or that of the machine which made it")]
    NotYetValid {
        /// In how long.
        seconds: u64,
    },
    /// No role stands in it, or more than one, or one that is not known.
    #[error(
        "the certificate names no role of this cluster ({0}); issue one with: undercroft cluster certs --role ROLE"
    )]
    NoRole(String),
    /// Another role than the process has.
    #[error("the certificate is of {found}, and a {expected} needs one of its own role")]
    WrongRole {
        /// The role of the process.
        expected: Role,
        /// Who stands in the certificate.
        found: Identity,
    },
}

impl Error {
    pub(crate) fn io(action: &'static str, path: &Path, source: io::Error) -> Self {
        Self::Io { action, path: path.to_path_buf(), source }
    }

    pub(crate) fn text(what: &'static str, expected: &'static str, text: &str) -> Self {
        Self::Text { what, expected, text: text.chars().take(60).collect() }
    }

    pub(crate) fn internal(problem: impl std::fmt::Display) -> Self {
        Self::Internal(problem.to_string())
    }

    pub(crate) fn not_ours(path: &Path, problem: impl std::fmt::Display) -> Self {
        Self::NotOurs { path: path.to_path_buf(), problem: problem.to_string() }
    }

    pub(crate) fn unusable(folder: &Path, problem: Unusable) -> Self {
        Self::Unusable { folder: folder.to_path_buf(), problem }
    }

    /// What the caller should make of it.
    #[must_use]
    pub const fn class(&self) -> ErrorClass {
        match self {
            Self::Io { .. } => ErrorClass::Unavailable,
            Self::Text { .. } | Self::NoHost(_) | Self::Bounds { .. } => ErrorClass::Invalid,
            Self::NoCa(_) => ErrorClass::NotFound,
            Self::NoCaKey(_) | Self::NotOurs { .. } | Self::Step(_) | Self::InUse(_) => ErrorClass::Conflict,
            Self::Exposed { .. } | Self::Unusable { .. } => ErrorClass::Denied,
            Self::Internal(_) => ErrorClass::Internal,
        }
    }
}
