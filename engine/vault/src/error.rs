//! What can go wrong with one vault, by operation, and the class each failure belongs to.
//! Owns the messages; never prints, never maps to exit codes or statuses (surfaces do, from the class).

use std::path::PathBuf;

pub use undercroft_crypto::ErrorClass;

use crate::drawers::DrawerId;

/// Every failure of this crate.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A field of a request is not acceptable; the message names the field and the remedy.
    #[error("invalid {field}: {reason}")]
    InvalidField {
        /// The field as the caller knows it.
        field: &'static str,
        /// What is wrong and how to put it right.
        reason: String,
    },
    /// A name does not pass the guard that every name passes.
    #[error(transparent)]
    Name(#[from] undercroft_text::names::NameError),
    /// Another surface filed something at this place of the source.
    #[error(
        "'{path}' has something at this place of wing '{wing}' that '{by}' filed, and '{wanted}' does not replace it; file \
         it into another wing, or remove the other first with 'drawer delete-by-source'"
    )]
    OtherSurface {
        /// The source.
        path: String,
        /// The wing.
        wing: String,
        /// Who filed what is there.
        by: &'static str,
        /// Who would have filed.
        wanted: &'static str,
    },
    /// What is filed from the source is no longer what the caller saw.
    #[error(
        "what is filed from '{0}' was changed meanwhile, and nothing was written; look at it and try again"
    )]
    SourceChanged(String),
    /// No drawer has this id.
    #[error("No drawer with id {0}")]
    NoDrawer(DrawerId),
    /// There is no vault in this folder.
    #[error("no vault at {}; create it first with: undercroft vault create", .0.display())]
    NoVault(PathBuf),
    /// A vault already stands in this folder.
    #[error("vault '{0}' already exists")]
    VaultExists(String),
    /// Somebody else holds the vault open and the operation needs it alone.
    #[error("vault '{0}' is in use by another process; stop it and try again")]
    InUse(String),
    /// The vault's folder, or the database in it, is no longer the one that was opened.
    #[error(
        "vault '{0}' was deleted or replaced while it was open, so nothing was written; open it again to go on with \
         what is there now"
    )]
    Displaced(String),
    /// The vault is a replica of a cluster, which writes it through its log.
    #[error(
        "vault '{0}' is a replica of a cluster and is written through the cluster alone; send the request to the cluster, or \
         open the vault read-only"
    )]
    OfCluster(String),
    /// The vault is no replica of a cluster.
    #[error("vault '{0}' is not a replica of a cluster; open it as a vault of this machine")]
    NotOfCluster(String),
    /// A write of this vault waits for its replicas.
    #[error("a write of vault '{0}' waits for its replicas, and the next one cannot begin; try again")]
    Parked(String),
    /// The vault is frozen, or the writer believes in another ownership of it.
    #[error(
        "vault '{name}' takes no writes here: {reason}; ask its cluster who owns it, and send the request there"
    )]
    NotOwned {
        /// Vault name.
        name: String,
        /// Why not.
        reason: &'static str,
    },
    /// The vault was opened for reading.
    #[error("vault is open read-only; open it for writing to change it")]
    ReadOnly,
    /// The idempotency key stands for another request.
    #[error(
        "Idempotency-Key was used within a day for another request to the same place; send a key of its own with \
         each request, and the same request when it is sent again"
    )]
    IdempotencyConflict,
    /// The embedder given is not the one whose vectors the vault holds.
    #[error(
        "vault holds vectors of embedder '{recorded}' but '{given}' was configured; configure the recorded one, or \
         set UNDERCROFT_FORCE_EMBEDDER=1 and run: undercroft repair"
    )]
    EmbedderMismatch {
        /// What the vault records.
        recorded: String,
        /// What the caller configured.
        given: String,
    },
    /// The embedder failed on one text; that text was not kept.
    #[error("embedding failed, the text was not kept: {0}")]
    Embedding(String),
    /// The database has a schema this version does not know.
    #[error(
        "vault schema version {found} is not the version {known} that this program reads; upgrade the program"
    )]
    Schema {
        /// Found in the database.
        found: u32,
        /// Known to this program.
        known: u32,
    },
    /// A stored row fails its check.
    #[error("integrity: {what} {id}: {finding}")]
    Record {
        /// Which kind of record.
        what: &'static str,
        /// Its id as clients know it, or its position.
        id: String,
        /// What contradicts what.
        finding: &'static str,
    },
    /// The audit chain does not replay to its stored head.
    #[error("integrity: audit-chain head mismatch at record {height}: the chain does not replay")]
    ChainBroken {
        /// Height at which the replay and the stored state part.
        height: u64,
    },
    /// The database is older than the manifest's anchor, or of another history.
    #[error(
        "integrity: vault '{name}' was rolled back: the manifest anchors record {anchored}, the database {found}; \
         put back the newest copy of vault.db with the log vault.db-wal of that copy, move a log of another copy away, or restore a \
         backup"
    )]
    RolledBack {
        /// Vault name.
        name: String,
        /// Height of the anchor.
        anchored: u64,
        /// What the database shows.
        found: String,
    },
    /// The manifest is there and the database is not.
    #[error("integrity: vault '{0}' has a manifest but no database; restore vault.db or a backup")]
    DatabaseMissing(String),
    /// The database is there and the manifest is not.
    #[error(
        "integrity: the vault at {} has a database but no manifest; put vault.json back from your own copy or from a backup \
         of this vault, or replace the vault with: undercroft backup restore NAME --force", .0.display()
    )]
    ManifestMissing(PathBuf),
    /// The log beside the database is not a continuation of it.
    #[error(
        "integrity: the log vault.db-wal of vault '{name}' does not continue its database ({finding}), so neither was touched; put \
         back the vault.db that the log belongs to, or move the log away if it belongs to another copy. What only the log holds \
         is gone without it; to go back to a backup: undercroft backup restore NAME --force"
    )]
    ForeignLog {
        /// Vault name.
        name: String,
        /// What contradicts what.
        finding: String,
    },
    /// A file of the vault is not what this program writes; the text says which and how to put it right.
    #[error("integrity: {0}")]
    Damaged(String),
    /// The database has another key check than the manifest's keys give.
    #[error(
        "integrity: the database of vault '{0}' was sealed under other keys than its manifest names; put the vault.db back that \
         belongs to vault.json, and move a log vault.db-wal that belongs to neither away"
    )]
    KeyCheck(String),
    /// A read snapshot was held for so long that it kept the write-ahead log from shrinking, and was closed.
    #[error("the read took too long while writes went on, and its snapshot was closed; start it again")]
    SnapshotExpired,
    /// The folder cannot be written, and the log holds changes that the database file does not have yet.
    #[error(
        "{} holds changes that are not in the database yet, and its folder cannot be written; make room on the disk, make \
         the folder writable, or copy it to one that is", .0.display()
    )]
    LogPending(PathBuf),
    /// A backup or restore target is not usable.
    #[error("backup: {0}")]
    Backup(String),
    /// Keys, seals, manifest.
    #[error(transparent)]
    Crypto(#[from] undercroft_crypto::Error),
    /// The sealed index image could not be read; it is derived data and is rebuilt.
    #[error("index image: {0}")]
    Image(String),
    /// The index cannot hold this vault.
    #[error(transparent)]
    Index(#[from] undercroft_search::InsertError),
    /// The database refused. A verdict on its bytes is [`Error::Damaged`] instead.
    #[error("database: {cause}{hint}", cause = .0, hint = hint(.0))]
    Sqlite(rusqlite::Error),
    /// The file system refused.
    #[error("{action} {}: {source}", .path.display())]
    Io {
        /// What was being done.
        action: &'static str,
        /// To which file.
        path: PathBuf,
        /// Why it failed.
        source: std::io::Error,
    },
}

/// Result of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// The class that decides exit code and status.
    #[must_use]
    pub fn class(&self) -> ErrorClass {
        match self {
            Self::InvalidField { .. }
            | Self::Name(_)
            | Self::EmbedderMismatch { .. }
            | Self::Schema { .. } => ErrorClass::Invalid,
            Self::NoDrawer(_) | Self::NoVault(_) => ErrorClass::NotFound,
            Self::VaultExists(_)
            | Self::OtherSurface { .. }
            | Self::SourceChanged(_)
            | Self::NotOfCluster(_)
            | Self::NotOwned { .. }
            | Self::InUse(_)
            | Self::Displaced(_)
            | Self::Backup(_)
            | Self::IdempotencyConflict => ErrorClass::Conflict,
            Self::ReadOnly | Self::OfCluster(_) => ErrorClass::Denied,
            Self::Record { .. }
            | Self::ChainBroken { .. }
            | Self::RolledBack { .. }
            | Self::DatabaseMissing(_)
            | Self::ManifestMissing(_)
            | Self::ForeignLog { .. }
            | Self::Damaged(_)
            | Self::KeyCheck(_) => ErrorClass::Integrity,
            Self::SnapshotExpired | Self::Parked(_) | Self::Embedding(_) | Self::LogPending(_) => {
                ErrorClass::Unavailable
            }
            Self::Crypto(inner) => inner.class(),
            Self::Sqlite(inner) => sqlite_class(inner),
            Self::Io { source, .. } => ErrorClass::of_io(source),
            Self::Image(_) | Self::Index(_) => ErrorClass::Internal,
        }
    }

    pub(crate) fn invalid(field: &'static str, reason: impl Into<String>) -> Self {
        Self::InvalidField { field, reason: reason.into() }
    }

    pub(crate) fn record(what: &'static str, id: impl ToString, finding: &'static str) -> Self {
        Self::Record { what, id: id.to_string(), finding }
    }

    /// Names the drawer that was asked for, where the finding only knows its row.
    pub(crate) fn about(self, id: DrawerId) -> Self {
        match self {
            Self::Record { what: "drawer row", finding, .. } => Self::record("drawer", id, finding),
            other => other,
        }
    }

    /// What contradicts itself beside a log that was found: it may be the log that does not belong there.
    pub(crate) fn beside_a_log(self, name: &str) -> Self {
        match self {
            Self::Record { .. } | Self::ChainBroken { .. } | Self::KeyCheck(_) => {
                let finding = self.finding();
                let finding = finding.strip_prefix("integrity: ").unwrap_or(&finding).to_owned();
                Self::ForeignLog { name: name.to_owned(), finding }
            }
            other => other,
        }
    }

    /// The message as one line of a report of findings.
    pub(crate) fn finding(&self) -> String {
        match self {
            Self::Record { what, id, finding } => format!("{what} {id}: {finding}"),
            Self::Damaged(what) => what.clone(),
            other => other.to_string(),
        }
    }

    /// Wraps an I/O error with what was being done to which file.
    pub(crate) fn io(action: &'static str, path: &std::path::Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_path_buf();
        move |source| Self::Io { action, path, source }
    }
}

/// What helps where the disk does not take what the database has to write.
fn hint(error: &rusqlite::Error) -> &'static str {
    use rusqlite::ErrorCode::{CannotOpen, DiskFull, SystemIoFailure};
    match error.sqlite_error_code() {
        Some(DiskFull | SystemIoFailure) => "; make room on the disk, and see whether it is sound",
        Some(CannotOpen) => {
            "; see whether this process may open more files (ulimit -n), and whether the folder and the files in it are those of \
             whoever runs it"
        }
        _ => "",
    }
}

/// What to do about a database that is not the vault's.
pub(crate) const DATABASE_REMEDY: &str = "put vault.db back from your own copy, with the log vault.db-wal of that copy and no other, or restore a backup with: undercroft backup restore NAME --force";

impl From<rusqlite::Error> for Error {
    /// A verdict on the bytes is told in the words of this program, with SQLite's reason and without the statement.
    fn from(error: rusqlite::Error) -> Self {
        if sqlite_class(&error) != ErrorClass::Integrity {
            return Self::Sqlite(error);
        }
        let reason = match &error {
            rusqlite::Error::SqlInputError { msg, .. } => msg.clone(),
            rusqlite::Error::SqliteFailure(_, Some(message)) => message.clone(),
            rusqlite::Error::SqliteFailure(failure, None) => failure.to_string(),
            rusqlite::Error::QueryReturnedNoRows => String::from("a row is missing"),
            _ => String::from("a column holds a value of another type"),
        };
        Self::Damaged(format!(
            "the database vault.db is not as this program writes it ({reason}); see what with: undercroft verify, build \
             anew what is derived with: undercroft repair, or {DATABASE_REMEDY}"
        ))
    }
}

/// A database that is not a database, or whose pages contradict each other, is a verdict on the bytes; a locked
/// or full one is the environment.
fn sqlite_class(error: &rusqlite::Error) -> ErrorClass {
    use rusqlite::ErrorCode;
    match error {
        rusqlite::Error::SqliteFailure(failure, _) => match failure.code {
            ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase => ErrorClass::Integrity,
            // Every number that is inserted comes from a tagged counter or from the chain: a row that is there
            // already contradicts them.
            ErrorCode::ConstraintViolation | ErrorCode::TypeMismatch => ErrorClass::Integrity,
            ErrorCode::DatabaseBusy
            | ErrorCode::DatabaseLocked
            | ErrorCode::DiskFull
            | ErrorCode::SystemIoFailure
            | ErrorCode::OutOfMemory
            | ErrorCode::CannotOpen => ErrorClass::Unavailable,
            _ if schema_differs(error) => ErrorClass::Integrity,
            _ => ErrorClass::Internal,
        },
        // The statements of this crate are constants: one that does not compile met a schema that somebody edited.
        rusqlite::Error::SqlInputError { .. }
        // A column of another type: somebody edited the file.
        | rusqlite::Error::InvalidColumnType(..)
        | rusqlite::Error::QueryReturnedNoRows
        | rusqlite::Error::Utf8Error(..)
        | rusqlite::Error::FromSqlConversionFailure(..)
        | rusqlite::Error::IntegralValueOutOfRange(..) => ErrorClass::Integrity,
        _ => ErrorClass::Internal,
    }
}

/// Statements that have no offset to point at are told apart by SQLite's text alone.
fn schema_differs(error: &rusqlite::Error) -> bool {
    let rusqlite::Error::SqliteFailure(_, Some(message)) = error else { return false };
    [
        "no such ",
        "has no column",
        "cannot modify",
        "access to view",
        "vtable constructor failed",
        "SQL logic error",
        "no query solution",
        "invalid fts5 file format",
    ]
    .iter()
    .any(|text| message.contains(text))
}
