//! Replies about vaults as a whole and their backups.

use serde::Serialize;
use utoipa::ToSchema;

/// A vault was made.
#[derive(Debug, Serialize, ToSchema)]
pub struct VaultCreated {
    /// Its name.
    pub id: String,
    /// `sealed` or `hmac-only`.
    pub level: &'static str,
    /// Always true.
    pub created: bool,
}

impl VaultCreated {
    /// Of one vault.
    #[must_use]
    pub fn of(id: String, level: undercroft_palace::Level) -> Self {
        Self { id, level: level.as_str(), created: true }
    }
}

/// Every vault, by name.
#[derive(Debug, Serialize, ToSchema)]
pub struct VaultList {
    /// The names.
    pub vaults: Vec<String>,
}

/// A vault is gone.
#[derive(Debug, Serialize, ToSchema)]
pub struct VaultDeleted {
    /// Its name.
    pub id: String,
    /// Always true.
    pub deleted: bool,
    /// Copies of it that stay, where they were counted. Only whoever runs the installation can bring them back.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub backups_kept: Option<usize>,
}

impl VaultDeleted {
    /// Of one vault.
    #[must_use]
    pub fn of(id: String) -> Self {
        Self { id, deleted: true, backups_kept: None }
    }

    /// With the number of its copies that stay.
    #[must_use]
    pub fn keeping(self, backups: usize) -> Self {
        Self { backups_kept: Some(backups), ..self }
    }
}

/// A copy was made and verified. Where it lies is this machine's and not told here.
#[derive(Debug, Serialize, ToSchema)]
pub struct BackupMade {
    /// The name by which it is restored.
    pub name: String,
    /// Drawers in it.
    pub records: u64,
    /// Height of its audit chain.
    pub chain_records: u64,
    /// Older ones that were dropped for it.
    pub dropped: Vec<String>,
}

/// Copies, oldest name first.
#[derive(Debug, Serialize, ToSchema)]
pub struct BackupList {
    /// The copies.
    pub backups: Vec<ListedBackup>,
}

/// One copy.
#[derive(Debug, Serialize, ToSchema)]
pub struct ListedBackup {
    /// The name by which it is restored.
    pub name: String,
    /// The vault that it is a copy of; null when its manifest cannot be read.
    #[schema(required)]
    pub vault: Option<String>,
}

impl From<Vec<undercroft_palace::backups::Backup>> for BackupList {
    fn from(found: Vec<undercroft_palace::backups::Backup>) -> Self {
        let rows = found.into_iter().map(|backup| ListedBackup { name: backup.name, vault: backup.vault });
        Self { backups: rows.collect() }
    }
}

/// A vault is what a copy holds.
#[derive(Debug, Serialize, ToSchema)]
pub struct Restored {
    /// The copy.
    pub backup: String,
    /// The vault.
    pub vault: String,
    /// Always true.
    pub restored: bool,
}

impl Restored {
    /// Of one vault from one copy.
    #[must_use]
    pub fn of(backup: String, vault: String) -> Self {
        Self { backup, vault, restored: true }
    }
}
