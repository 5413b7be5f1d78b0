//! A vault in a temporary folder, and direct access to its files for those who tamper.
#![allow(dead_code, reason = "each test binary uses a part")]

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tempfile::TempDir;
use undercroft_crypto::{Level, MasterKey, SeededEntropy};
use undercroft_vault::{
    AddedBy, BypassReason, Change, DrawerId, Idempotency, ManualClock, NewDrawer, Origin, Screening,
    SearchRequest, Vault, VaultOptions, WriteRequest,
};

/// No screen is declared in these tests.
pub(crate) const UNSCREENED: Screening = Screening::Bypass(BypassReason::NotDeclared);

/// 2026-01-01T00:00:00Z.
pub(crate) const START: i64 = 1_767_225_600_000_000;

/// A palace of one vault.
pub(crate) struct Home {
    folder: TempDir,
    pub(crate) master: MasterKey,
    pub(crate) options: VaultOptions,
    pub(crate) clock: Arc<ManualClock>,
}

impl Home {
    pub(crate) fn new() -> Self {
        let clock = Arc::new(ManualClock::new(START));
        let options = VaultOptions { clock: clock.clone(), ..VaultOptions::default() };
        let master = MasterKey::generate(&SeededEntropy::new(7));
        Self { folder: TempDir::new().expect("a temporary folder"), master, options, clock }
    }

    pub(crate) fn dir(&self) -> PathBuf {
        self.folder.path().join("vaults").join("v")
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn create(&self, level: Level) -> Vault {
        Vault::create(&self.dir(), "v", level, &self.master, self.options.clone()).expect("creates")
    }

    pub(crate) fn open(&self) -> undercroft_vault::Result<Vault> {
        Vault::open(&self.dir(), &self.master, self.options.clone())
    }

    pub(crate) fn open_read_only(&self) -> undercroft_vault::Result<Vault> {
        let options = VaultOptions { read_only: true, ..self.options.clone() };
        Vault::open(&self.dir(), &self.master, options)
    }

    /// The database, opened past the engine.
    pub(crate) fn sql(&self) -> rusqlite::Connection {
        rusqlite::Connection::open(self.dir().join("vault.db")).expect("opens the file")
    }
}

pub(crate) fn note(room: &str, text: &str) -> NewDrawer {
    NewDrawer::direct("work", room, text, AddedBy::Cli)
}

pub(crate) fn from_source(source: &str, chunk: u32, text: &str) -> NewDrawer {
    let origin = Origin { source: source.to_owned(), chunk, line_start: Some(1), line_end: Some(2) };
    NewDrawer::from_source("mined", "notes", text, AddedBy::Miner, origin)
}

pub(crate) fn save(vault: &Vault, room: &str, text: &str) -> DrawerId {
    vault.save(note(room, text), UNSCREENED).expect("saves").id
}

/// A change to be made once under `key`.
pub(crate) fn keyed(change: Change, key: &str, request: [u8; 32]) -> WriteRequest {
    let idempotency = Idempotency::new("POST /v1/vaults/v/drawers", key, request).expect("a key");
    WriteRequest { change, idempotency: Some(idempotency) }
}

pub(crate) fn ask(query: &str) -> SearchRequest {
    SearchRequest { query: query.to_owned(), limit: 5, ..SearchRequest::default() }
}

/// Copies every file of a folder (one level).
pub(crate) fn copy_folder(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("makes the folder");
    for entry in std::fs::read_dir(from).expect("reads the folder") {
        let entry = entry.expect("reads an entry");
        std::fs::copy(entry.path(), to.join(entry.file_name())).expect("copies");
    }
}
