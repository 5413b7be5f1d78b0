//! A vault in a temporary folder, filled with synthetic drawers.

use std::path::PathBuf;

use tempfile::TempDir;
use undercroft_crypto::{Level, MasterKey, OsEntropy};
use undercroft_vault::{
    AddedBy, BypassReason, NewDrawer, Result, Screening, SearchRequest, Vault, VaultOptions,
};

use crate::corpus::Corpus;

/// Drawers in one transaction of bulk ingest, as `mine` uses.
pub const BATCH: usize = 256;
/// No screen is declared in a measurement.
pub const UNSCREENED: Screening = Screening::Bypass(BypassReason::NotDeclared);

/// One installation with one vault.
pub struct Palace {
    folder: TempDir,
    master: MasterKey,
}

impl Palace {
    /// Makes the folder; the vault follows with [`Palace::create`].
    ///
    /// # Panics
    /// When there is no place for temporary files.
    #[must_use]
    pub fn new() -> Self {
        let folder = TempDir::new().expect("a place for temporary files");
        Self { folder, master: MasterKey::generate(&OsEntropy) }
    }

    /// Folder of the installation.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        self.folder.path().to_path_buf()
    }

    fn dir(&self, name: &str) -> PathBuf {
        self.folder.path().join("vaults").join(name)
    }

    /// Makes a vault.
    ///
    /// # Errors
    /// What the vault says.
    pub fn create(&self, name: &str, level: Level) -> Result<Vault> {
        Vault::create(&self.dir(name), name, level, &self.master, VaultOptions::default())
    }

    /// Opens a vault.
    ///
    /// # Errors
    /// What the vault says.
    pub fn open(&self, name: &str) -> Result<Vault> {
        Vault::open(&self.dir(name), &self.master, VaultOptions::default())
    }

    /// Removes the index image of a vault, so that the next open is a cold one.
    pub fn drop_image(&self, name: &str) {
        // There may be none.
        let _ = std::fs::remove_file(self.dir(name).join("index.img"));
    }
}

impl Default for Palace {
    fn default() -> Self {
        Self::new()
    }
}

/// Files `count` drawers of the corpus and gives some of their texts, to ask about.
///
/// # Errors
/// What the vault says.
pub fn fill(vault: &Vault, corpus: &mut Corpus, count: usize) -> Result<Vec<String>> {
    let mut kept = Vec::new();
    let mut filed = 0;
    while filed < count {
        let take = BATCH.min(count - filed);
        let texts: Vec<String> = (0..take).map(|_| corpus.drawer()).collect();
        kept.extend(texts.first().cloned());
        let drawers = texts.into_iter().enumerate().map(|(i, text)| {
            let room = format!("room-{}", (filed + i) / 100);
            NewDrawer::direct("bench", &room, &text, AddedBy::Import)
        });
        for result in vault.save_many(drawers.collect(), UNSCREENED)? {
            result?;
        }
        filed += take;
    }
    Ok(kept)
}

/// A search of the default page.
#[must_use]
pub fn ask(query: String) -> SearchRequest {
    SearchRequest { query, limit: 5, ..SearchRequest::default() }
}
