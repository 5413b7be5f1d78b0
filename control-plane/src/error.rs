//! What can go wrong in a member of the control group, and the class of each failure.
//!
//! What a command was refused for is no error of the member: it is an outcome, see [`crate::state::Refusal`].

use std::io;
use std::path::{Path, PathBuf};

use undercroft_proto::{ErrorClass, MemberId};

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
    /// A file or folder cannot be used.
    #[error("cannot {action} {}: {source}; check the disk and its permissions, then start again", .path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// A new member's folder holds a log already.
    #[error("{} holds the log of a member already; start that member, or name an empty folder", .0.display())]
    LogExists(PathBuf),
    /// A member's log is gone. What it acknowledged may be gone with it.
    #[error("{} holds no log, so this member must not vote again under its id; add it anew: undercroft cluster member remove, then add", .0.display())]
    LogMissing(PathBuf),
    /// Something that was flushed cannot be read. What the member acknowledged may be gone.
    #[error("{} is damaged at byte {at}: {problem}; this member must not vote again under its id; keep the folder, then add it anew: undercroft cluster member remove, then add", .file.display())]
    LogDamaged {
        /// The file.
        file: PathBuf,
        /// Where.
        at: u64,
        /// How.
        problem: String,
    },
    /// A snapshot that cannot be read. The log before it is gone.
    #[error("{} is damaged: {problem}; keep the folder, then add this member anew: undercroft cluster member remove, then add", .file.display())]
    SnapshotDamaged {
        /// The file.
        file: PathBuf,
        /// How.
        problem: String,
    },
    /// This member does not lead.
    #[error("this member does not lead{}; ask the leader, or again in a second when there is none", leader.as_ref().map_or(String::new(), |(id, at)| format!(": member {id} at {at} does")))]
    NotLeader {
        /// Who leads and where, if that is known.
        leader: Option<(MemberId, String)>,
    },
    /// A write that ran out of time. It may still be done.
    #[error(
        "no majority answered within {0} ms; whether it was done is unknown: ask again with the same idempotency key"
    )]
    OutcomeUnknown(u64),
    /// The group's configuration cannot be changed as asked.
    #[error(
        "the members cannot be changed: {0}; wait until the last change has ended, then look again: undercroft cluster status"
    )]
    Membership(String),
    /// The leader refused what was passed on to it.
    #[error("the leader refused it: {0}")]
    Refused(String),
    /// No member answered who would take a new one in.
    #[error(
        "cannot enter the group through {tried}: {problem}; name the address of a running member with --join"
    )]
    Enter {
        /// The addresses that were tried.
        tried: String,
        /// What the last one said.
        problem: String,
    },
    /// Connections without encryption, to others than this machine.
    #[error(
        "{what} {address} is not of this machine, and what it carries is not encrypted; use 127.0.0.1, or give --cert-dir"
    )]
    Exposed {
        /// "--listen", "--advertise", "--admin-listen".
        what: &'static str,
        /// The address.
        address: String,
    },
    /// An address that cannot be listened on.
    #[error("cannot listen on {address}: {source}; choose another address, or stop who has it")]
    Listen {
        /// The address.
        address: String,
        /// What the system says.
        source: io::Error,
    },
    /// An admin token that is too easy to guess.
    #[error(
        "the admin token has {0} characters; give at least 16, without white space at its end: undercroft keygen"
    )]
    AdminToken(usize),
    /// A recovery kit whose body cannot be used.
    #[error("the recovery kit cannot be used: {0}; take another one")]
    Kit(String),
    /// An address of the Admin API that cannot be used.
    #[error("the address of the Admin API {0}; correct --admin-url or UNDERCROFT_ADMIN_URL")]
    AdminUrl(&'static str),
    /// An admin token that no request can carry.
    #[error(
        "the admin token has characters that no request can carry; correct UNDERCROFT_ADMIN_TOKEN or --admin-token-file"
    )]
    AdminTokenText,
    /// Nobody answers as the Admin API.
    #[error(
        "the Admin API at {url} cannot be reached: {problem}; start the member there, or name another one with --admin-url or UNDERCROFT_ADMIN_URL"
    )]
    AdminUnreachable {
        /// Where it was looked for.
        url: String,
        /// What the system says.
        problem: String,
    },
    /// The connection ended before there was an answer.
    #[error(
        "the Admin API at {url} took the request and did not answer: {problem}; whether it was done is unknown: look, then decide"
    )]
    AdminLost {
        /// Who was asked.
        url: String,
        /// What the system says.
        problem: String,
    },
    /// An export of witnesses that does not hold together.
    #[error(
        "the export does not hold together at line {line}: {problem}; take another one, and compare it with a copy that was kept elsewhere"
    )]
    Export {
        /// The line, counted from 1.
        line: u64,
        /// What is wrong there.
        problem: String,
    },
    /// A member's folder that was begun under another key of the group.
    #[error("{} is of a member that was begun under another UNDERCROFT_ORCH_KEY; start it with the group's key, which every member shares", .0.display())]
    OtherKey(PathBuf),
    /// A member with a certificate under another name than the group knows it by.
    #[error(
        "member {member} is bound to the certificate {bound}, and this one is {found}; start it with the folder of its own certificate, or add it anew: undercroft cluster member remove, then add"
    )]
    OtherCertificate {
        /// The member.
        member: MemberId,
        /// The URI in its certificate, as the group knows it.
        bound: String,
        /// The URI in the certificate that was given.
        found: String,
    },
    /// This member was taken out of its group.
    #[error(
        "this member was removed from its group and decides nothing more; ask another one, and stop this one: it enters anew with an empty folder and --join"
    )]
    Removed,
    /// The member has stopped, and why.
    #[error("this member has stopped: {0}")]
    Stopped(String),
}

impl Error {
    pub(crate) fn io(action: &'static str, path: &Path, source: io::Error) -> Self {
        Self::Io { action, path: path.to_path_buf(), source }
    }
}

impl Error {
    /// What the caller should make of it.
    #[must_use]
    pub const fn class(&self) -> ErrorClass {
        match self {
            Self::Version { .. }
            | Self::Io { .. }
            | Self::NotLeader { .. }
            | Self::OutcomeUnknown(_)
            | Self::Enter { .. }
            | Self::Listen { .. }
            | Self::AdminUnreachable { .. }
            | Self::AdminLost { .. }
            | Self::Removed
            | Self::Stopped(_) => ErrorClass::Unavailable,
            Self::Unreadable { .. }
            | Self::Invariant(_)
            | Self::LogMissing(_)
            | Self::LogDamaged { .. }
            | Self::SnapshotDamaged { .. }
            | Self::Export { .. }
            | Self::Kit(_) => ErrorClass::Integrity,
            Self::BatchTooLarge { .. }
            | Self::Exposed { .. }
            | Self::AdminToken(_)
            | Self::AdminUrl(_)
            | Self::AdminTokenText => ErrorClass::Invalid,
            Self::OtherKey(_) | Self::OtherCertificate { .. } => ErrorClass::Denied,
            Self::LogExists(_) | Self::Membership(_) | Self::Refused(_) => ErrorClass::Conflict,
        }
    }
}
