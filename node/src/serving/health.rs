//! Vaults whose stored bytes were found wanting, so that readiness can name them. One damaged vault stops no other.

use std::collections::BTreeMap;

use parking_lot::Mutex;

/// Finding of a vault that is not what lies under its name.
const DISPLACED: &str = "it was deleted or replaced on the disk while it was open";

/// A vault that failed an integrity check in this process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damaged {
    /// Its name.
    pub vault: String,
    /// What was found, without any content.
    pub finding: String,
}

/// What was found since the process started, the newest finding of each vault.
#[derive(Debug, Default)]
pub(super) struct Health(Mutex<BTreeMap<String, String>>);

impl Health {
    /// Notes a verdict on the vault's bytes.
    pub(super) fn note(&self, vault: &str, finding: String) {
        let known = self.0.lock().insert(vault.to_owned(), finding);
        if known.is_none() {
            tracing::error!(vault, class = "integrity", "a stored record fails its check");
        }
    }

    /// The vault was deleted or replaced on the disk while it was open; until what lies there is opened, that is its finding.
    pub(super) fn displace(&self, vault: &str) {
        self.0.lock().insert(vault.to_owned(), DISPLACED.to_owned());
        tracing::error!(vault, class = "conflict", "a vault was deleted or replaced while it was open");
    }

    /// What lies under the vault's name now was opened.
    pub(super) fn opened(&self, vault: &str) {
        let mut found = self.0.lock();
        if found.get(vault).is_some_and(|finding| finding == DISPLACED) {
            found.remove(vault);
        }
    }

    /// The vault was verified, replaced or deleted.
    pub(super) fn clear(&self, vault: &str) {
        self.0.lock().remove(vault);
    }

    pub(super) fn damaged(&self) -> Vec<Damaged> {
        let found = self.0.lock();
        let pairs = found.iter();
        pairs.map(|(vault, finding)| Damaged { vault: vault.clone(), finding: finding.clone() }).collect()
    }
}
