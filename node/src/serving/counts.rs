//! What the serving part counts, for metrics. Numbers only: no name, no text.

use std::sync::atomic::{AtomicU64, Ordering};

use undercroft_vault::{Error as VaultError, Outcome};

use crate::error::Error;

/// Counters since the process started.
#[derive(Debug, Default)]
pub(super) struct Counts {
    vault_opens: AtomicU64,
    write_groups: AtomicU64,
    grouped_writes: AtomicU64,
    created: AtomicU64,
    deduped: AtomicU64,
    deleted: AtomicU64,
    chained: AtomicU64,
    failed: [AtomicU64; Surface::ALL.len()],
}

/// The counters at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counted {
    /// Vaults opened.
    pub vault_opens: u64,
    /// Transactions that were tried for waiting writes.
    pub write_groups: u64,
    /// Writes in those.
    pub grouped_writes: u64,
    /// Drawers made or given new words.
    pub created: u64,
    /// Saves that found the same drawer there.
    pub deduped: u64,
    /// Drawers destroyed.
    pub deleted: u64,
    /// Records that audit chains grew by.
    pub chained: u64,
    /// Integrity verdicts, by what failed its check, in the order of [`Surface::ALL`].
    pub failed: [u64; Surface::ALL.len()],
}

/// What failed an integrity check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Surface {
    /// A drawer or its row.
    Drawer,
    /// The manifest or the keys that it names.
    Manifest,
    /// The audit chain.
    Chain,
    /// Anything else in the database.
    Database,
}

impl Surface {
    /// Every one.
    pub const ALL: [Self; 4] = [Self::Drawer, Self::Manifest, Self::Chain, Self::Database];

    /// Its name.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Drawer => "drawer",
            Self::Manifest => "manifest",
            Self::Chain => "chain",
            Self::Database => "database",
        }
    }

    /// Where an integrity verdict was found.
    fn of(error: &Error) -> Self {
        let Error::Vault(error) = error else { return Self::Manifest };
        match &**error {
            VaultError::Record { what: "drawer" | "drawer row", .. } => Self::Drawer,
            VaultError::Record { what: "manifest", .. } | VaultError::KeyCheck(_) | VaultError::Crypto(_) => {
                Self::Manifest
            }
            VaultError::Record { what: "audit record" | "chain state", .. }
            | VaultError::ChainBroken { .. }
            | VaultError::RolledBack { .. } => Self::Chain,
            _ => Self::Database,
        }
    }
}

impl Counts {
    pub(super) fn opened(&self) {
        add(&self.vault_opens, 1);
    }

    pub(super) fn group(&self, writes: usize) {
        add(&self.write_groups, 1);
        add(&self.grouped_writes, writes as u64);
    }

    pub(super) fn outcome(&self, outcome: &Outcome) {
        match outcome {
            Outcome::Saved(saved) if saved.unchanged => add(&self.deduped, 1),
            Outcome::Saved(_) | Outcome::Updated(_) => add(&self.created, 1),
            Outcome::Source(source) => {
                let filed = || source.drawers.iter().flatten();
                let unchanged = filed().filter(|saved| saved.unchanged).count() as u64;
                add(&self.deduped, unchanged);
                add(&self.created, filed().count() as u64 - unchanged);
                add(&self.deleted, source.removed.len() as u64);
            }
            Outcome::Deleted(ids) => add(&self.deleted, ids.len() as u64),
            Outcome::Deduplicated(report) => add(&self.deleted, report.removed),
        }
    }

    /// An audit chain grew.
    pub(super) fn chained(&self, records: u64) {
        add(&self.chained, records);
    }

    /// Something failed an integrity check.
    pub(super) fn failed(&self, error: &Error) {
        let surface = Surface::of(error);
        let at = Surface::ALL.iter().position(|one| *one == surface);
        if let Some(counter) = at.and_then(|at| self.failed.get(at)) {
            add(counter, 1);
        }
    }

    /// Drawers were found wanting by a verification.
    pub(super) fn failed_drawers(&self, drawers: u64) {
        add(&self.failed[0], drawers);
    }

    /// The counters now.
    pub(super) fn now(&self) -> Counted {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Counted {
            vault_opens: read(&self.vault_opens),
            write_groups: read(&self.write_groups),
            grouped_writes: read(&self.grouped_writes),
            created: read(&self.created),
            deduped: read(&self.deduped),
            deleted: read(&self.deleted),
            chained: read(&self.chained),
            failed: self.failed.each_ref().map(read),
        }
    }
}

fn add(counter: &AtomicU64, by: u64) {
    counter.fetch_add(by, Ordering::Relaxed);
}
