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
pub(super) struct Health(Mutex<BTreeMap<String, Found>>);

/// A finding and what ends it.
#[derive(Debug)]
struct Found {
    finding: String,
    /// It is of the vault as a whole: an open that succeeds ends it. One of a record stands until the vault is verified,
    /// since opening it reads no record.
    ends_with_open: bool,
}

impl Health {
    /// Notes a verdict on the bytes of an open vault.
    pub(super) fn note(&self, vault: &str, finding: String) {
        self.insert(vault, Found { finding, ends_with_open: false });
    }

    /// Notes a verdict on a vault that could not be opened for it.
    pub(super) fn note_unopened(&self, vault: &str, finding: String) {
        self.insert(vault, Found { finding, ends_with_open: true });
    }

    fn insert(&self, vault: &str, found: Found) {
        let known = self.0.lock().insert(vault.to_owned(), found);
        if known.is_none() {
            tracing::error!(vault, class = "integrity", "a stored record fails its check");
        }
    }

    /// The vault was deleted or replaced on the disk while it was open; until what lies there is opened, that is its finding.
    pub(super) fn displace(&self, vault: &str) {
        let found = Found { finding: DISPLACED.to_owned(), ends_with_open: true };
        self.0.lock().insert(vault.to_owned(), found);
        tracing::error!(vault, class = "conflict", "a vault was deleted or replaced while it was open");
    }

    /// What lies under the vault's name now was opened.
    pub(super) fn opened(&self, vault: &str) {
        let mut all = self.0.lock();
        if all.get(vault).is_some_and(|found| found.ends_with_open) {
            all.remove(vault);
        }
    }

    /// The vault was verified, replaced or deleted, or is not there.
    pub(super) fn clear(&self, vault: &str) {
        self.0.lock().remove(vault);
    }

    pub(super) fn damaged(&self) -> Vec<Damaged> {
        let found = self.0.lock();
        let pairs = found.iter();
        pairs.map(|(vault, found)| Damaged { vault: vault.clone(), finding: found.finding.clone() }).collect()
    }
}
