//! What can go wrong with an installation, by operation, and the class of each failure.
//!
//! Messages name what was found and what to do. Nothing is printed here, and no secret reaches a message.

use std::path::{Path, PathBuf};

use undercroft_crypto::ErrorClass;

use crate::env::Finding;

/// Every failure of this crate.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A declaration in the environment that nothing may start with.
    #[error("{}: {}", .0.variable, .0.message)]
    Declaration(Finding),
    /// The declared key source contradicts the key material that is there.
    #[error(
        "the declared key source contradicts this installation: {declared}, but {found}; {remedy}. Nothing was written"
    )]
    KeySource {
        /// What the environment says.
        declared: &'static str,
        /// What the data folder says.
        found: String,
        /// What to do about either.
        remedy: &'static str,
    },
    /// There are vaults or backups, and the key material that they need is gone.
    #[error(
        "{} is missing, and this installation holds {holds} that only the key it gave can open; put the file back from \
         your own copy. A new one was not made, because it would open nothing. Nothing was written", .missing.display()
    )]
    KeyMaterialMissing {
        /// The file that the declared source needs.
        missing: PathBuf,
        /// "vaults" or "backups".
        holds: &'static str,
    },
    /// There is no installation, and this operation does not make one.
    #[error("there is no installation at {}; make one with: undercroft init", .0.display())]
    NoInstallation(PathBuf),
    /// A key or salt file has the wrong length.
    #[error("{} must hold exactly {expected} bytes and holds {found}; put it back from your own copy", .path.display())]
    KeyFileLength {
        /// The file.
        path: PathBuf,
        /// Its right length.
        expected: usize,
        /// Its length.
        found: u64,
    },
    /// A key file that others can read.
    #[error("{} can be read by others (mode {mode:03o}); make it private with: chmod 600 {}", .path.display(), .path.display())]
    KeyFileShared {
        /// The file.
        path: PathBuf,
        /// Its permission bits.
        mode: u32,
    },
    /// A name that cannot be a vault's; the text says why.
    #[error("{0}")]
    VaultName(String),
    /// No vault has this name.
    #[error("no vault '{0}'; see the names with: undercroft vault list")]
    NoVault(String),
    /// The vault is there already.
    #[error("vault '{0}' already exists")]
    VaultExists(String),
    /// A vault's folder without its manifest.
    #[error(
        "integrity: vault '{vault}' has no manifest ({instead} is in the place of vault.json); put vault.json back from \
         your own copy or from a backup of this vault, or replace the vault with: undercroft backup restore NAME --force"
    )]
    ManifestMissing {
        /// The folder's name.
        vault: String,
        /// What is there instead.
        instead: &'static str,
    },
    /// A vault's folder without its manifest and its database.
    #[error(
        "integrity: the folder of vault '{0}' has lost vault.json and vault.db, and only files beside them are left; put both \
         back from your own copy, or replace the vault with: undercroft backup restore NAME --force. To begin anew, remove \
         the folder by hand"
    )]
    VaultLost(String),
    /// Something that is no vault lies where the vault's folder belongs.
    #[error(
        "{} is {found} and no vault, so vault '{vault}' cannot be made there; move it away, or let a backup take its \
         place with: undercroft backup restore NAME --force", .path.display()
    )]
    NameTaken {
        /// The vault that was to be made.
        vault: String,
        /// Where.
        path: PathBuf,
        /// What lies there.
        found: &'static str,
    },
    /// Something lies where vaults are put together and taken apart, and what is found there would be removed.
    #[error(
        "{} is {found} where a folder of this installation belongs; move it away, and the folder is made again. Nothing was \
         changed", .path.display()
    )]
    StagingTaken {
        /// Where.
        path: PathBuf,
        /// What lies there.
        found: &'static str,
    },
    /// A vault that is kept elsewhere, and whose files there would be left behind.
    #[error(
        "vault '{vault}' is kept elsewhere: {} is a link to {}, and its files there would be left behind. So it was not \
         {done}; remove that link by hand, and what it leads to when it is to go as well", .link.display(), .target.display()
    )]
    KeptElsewhere {
        /// The vault.
        vault: String,
        /// Its place in the installation.
        link: PathBuf,
        /// Where its files are.
        target: PathBuf,
        /// "deleted" or "replaced".
        done: &'static str,
    },
    /// A backup's folder without its manifest.
    #[error(
        "integrity: backup '{0}' has no manifest (vault.json), so it cannot be restored; put the file back from your own \
         copy, or restore another one of: undercroft backup list"
    )]
    BackupWithoutManifest(String),
    /// No backup has this name.
    #[error("no backup '{0}'; see the names with: undercroft backup list")]
    NoBackup(String),
    /// A vault that is to be copied does not verify.
    #[error(
        "integrity: vault '{0}' does not verify, so nothing was copied; see what with: undercroft verify --vault '{0}'"
    )]
    Unverified(String),
    /// A copy that is to be restored does not verify.
    #[error(
        "integrity: backup '{name}' does not verify, so nothing was restored ({findings}); restore another one of: \
         undercroft backup list"
    )]
    BackupUnverified {
        /// Its name.
        name: String,
        /// How much is wrong, and the first of it.
        findings: String,
    },
    /// A backup whose folder is named for another vault than its manifest.
    #[error(
        "integrity: backup '{backup}' is named for vault '{named}' and holds vault '{holds}', so it was renamed or its \
         contents were exchanged; nothing was restored. To restore it as '{holds}', rename its folder to: {right}"
    )]
    BackupRenamed {
        /// Its folder's name.
        backup: String,
        /// The vault that its folder names.
        named: String,
        /// The vault that its manifest names.
        holds: String,
        /// The name it would have.
        right: String,
    },
    /// The master key opens none of the vaults that are there, so it is not this installation's.
    #[error(
        "integrity: the master key opens none of the {vaults} vault(s) of this installation; check UNDERCROFT_PASSPHRASE, \
         or put back the master.key that belongs here"
    )]
    ForeignKey {
        /// How many were tried.
        vaults: usize,
    },
    /// A vault's folder that holds a vault of another name.
    #[error(
        "integrity: the folder '{folder}' holds vault '{holds}', so it was swapped or copied; rename the folder back to \
         '{holds}'"
    )]
    Misplaced {
        /// The folder's name, which was asked for.
        folder: String,
        /// The name in the verified manifest.
        holds: String,
    },
    /// A vault that is to be deleted, and that the master key does not vouch for.
    #[error(
        "integrity: the manifest of vault '{0}' does not verify with this master key, so it was not deleted; use the key \
         that belongs to it, or remove its folder by hand"
    )]
    NotOpened(String),
    /// A path that holds nothing to file.
    #[error("{} holds no {wanted}", .path.display())]
    NothingToMine {
        /// The path as given.
        path: PathBuf,
        /// What was looked for.
        wanted: &'static str,
    },
    /// A restore would replace a vault.
    #[error("vault '{0}' exists and would be replaced; run the restore with --force to do that")]
    RestoreReplaces(String),
    /// One vault.
    #[error(transparent)]
    Vault(#[from] undercroft_vault::Error),
    /// Keys and files of keys.
    #[error(transparent)]
    Crypto(#[from] undercroft_crypto::Error),
    /// What was to be filed cannot be read.
    #[error("cannot read {}: {source}", .path.display())]
    Unreadable {
        /// The file or folder as it was named.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
    /// The file system refused.
    #[error("cannot {action} {}: {source}", .path.display())]
    Io {
        /// What was being done.
        action: &'static str,
        /// To which file or folder.
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
            Self::Declaration(_)
            | Self::KeySource { .. }
            | Self::KeyMaterialMissing { .. }
            | Self::KeyFileLength { .. }
            | Self::KeyFileShared { .. }
            | Self::VaultName(_) => ErrorClass::Invalid,
            Self::NoInstallation(_) | Self::NoVault(_) | Self::NoBackup(_) | Self::NothingToMine { .. } => {
                ErrorClass::NotFound
            }
            Self::VaultExists(_)
            | Self::NameTaken { .. }
            | Self::StagingTaken { .. }
            | Self::KeptElsewhere { .. }
            | Self::RestoreReplaces(_) => ErrorClass::Conflict,
            Self::Unverified(_)
            | Self::BackupUnverified { .. }
            | Self::ManifestMissing { .. }
            | Self::VaultLost(_)
            | Self::BackupRenamed { .. }
            | Self::BackupWithoutManifest(_)
            | Self::ForeignKey { .. }
            | Self::Misplaced { .. }
            | Self::NotOpened(_) => ErrorClass::Integrity,
            Self::Vault(inner) => inner.class(),
            Self::Crypto(inner) => inner.class(),
            Self::Unreadable { source, .. } => match source.kind() {
                std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory => ErrorClass::NotFound,
                std::io::ErrorKind::PermissionDenied => ErrorClass::Denied,
                std::io::ErrorKind::InvalidFilename | std::io::ErrorKind::InvalidInput => ErrorClass::Invalid,
                _ => ErrorClass::Internal,
            },
            Self::Io { source, .. } => ErrorClass::of_io(source),
        }
    }

    /// Wraps an I/O error with what was being done to which file.
    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_path_buf();
        move |source| Self::Io { action, path, source }
    }
}
