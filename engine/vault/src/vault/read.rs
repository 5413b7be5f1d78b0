//! The one read door. No content leaves the vault but through [`Vault::open_row`]: the tag is checked, the row must be
//! the newest version that the audit chain records, and only then are its fields opened.

use rusqlite::Connection;
use undercroft_crypto::{Level, SealDomain, frame};
use undercroft_search::Quantized;

use super::Vault;
use crate::audit::{self, Label};
use crate::drawers::table::{self, DrawerRow};
use crate::drawers::{Drawer, DrawerId, StoredMeta};
use crate::error::{Error, Result};
use crate::keyring::Keyring;
use crate::limits;

/// A row that passed every check, opened.
#[derive(Debug, Clone)]
pub(crate) struct Opened {
    pub(crate) row: DrawerRow,
    pub(crate) stored: StoredMeta,
    pub(crate) text: String,
}

impl Opened {
    /// Its vector, opened when asked for: reading words does not need it.
    pub(crate) fn vector(&self, keyring: &Keyring) -> Result<Quantized> {
        let bytes = open_field(keyring, &self.row, SealDomain::DrawerEmbedding, &self.row.embedding)?;
        Quantized::from_bytes(&bytes)
            .map_err(|_| Error::record("drawer", self.stored.id, "its embedding is malformed"))
    }

    pub(crate) fn into_drawer(self) -> Drawer {
        Drawer { id: self.stored.id, content: self.text, meta: self.stored.meta }
    }
}

impl Vault {
    /// Reads one drawer.
    ///
    /// # Errors
    /// [`Error::NoDrawer`]; an integrity error when the row, or its absence, contradicts the chain.
    pub fn get(&self, id: DrawerId) -> Result<Drawer> {
        let snapshot = self.reading()?;
        snapshot.with(|conn| self.require(conn, id)).map(Opened::into_drawer)
    }

    /// Opens the drawer with this id as the connection's snapshot shows it.
    pub(super) fn require(&self, conn: &Connection, id: DrawerId) -> Result<Opened> {
        match table::by_rid(conn, &self.keyring.record_id(&id))? {
            Some(row) => self.open_row(conn, row).map_err(|error| error.about(id)),
            None => Err(self.why_absent(conn, id)?),
        }
    }

    /// A drawer that the chain says is there and the table does not have was removed behind our back.
    fn why_absent(&self, conn: &Connection, id: DrawerId) -> Result<Error> {
        let written = audit::table::newest(conn, &self.keyring.label(&Label::Written(id)))?;
        let destroyed = audit::table::newest(conn, &self.keyring.label(&Label::Destroyed(id)))?;
        Ok(match (written, destroyed) {
            (Some((written, _)), Some((destroyed, _))) if written < destroyed => Error::NoDrawer(id),
            (None, _) => Error::NoDrawer(id),
            _ => Error::record("drawer", id, "the audit chain records it, but its row is missing"),
        })
    }

    /// Verifies and opens a row.
    pub(crate) fn open_row(&self, conn: &Connection, row: DrawerRow) -> Result<Opened> {
        let opened = open_unchained(&self.keyring, row)?;
        let id = opened.stored.id;
        let written = audit::table::newest(conn, &self.keyring.label(&Label::Written(id)))?;
        if written != Some((opened.row.written, opened.row.tag)) {
            return Err(Error::record("drawer", id, "an older version of the row was put back"));
        }
        let destroyed = audit::table::newest(conn, &self.keyring.label(&Label::Destroyed(id)))?;
        if destroyed.is_some_and(|(n, _)| n > opened.row.written) {
            return Err(Error::record("drawer", id, "the row of a destroyed drawer was put back"));
        }
        Ok(opened)
    }
}

/// Verifies a row against itself: tag, seals, identity. Whether it is the newest version is not decided here, so
/// what comes back may build derived data and must not leave the vault.
pub(crate) fn open_unchained(keyring: &Keyring, row: DrawerRow) -> Result<Opened> {
    if row.compute_tag(keyring.mac()) != row.tag {
        return Err(tampered(keyring, &row));
    }
    let stored = open_meta(keyring, &row)?;
    if keyring.record_id(&stored.id) != row.rid {
        return Err(Error::record("drawer", stored.id, "its row is filed under another id"));
    }
    let text = open_text(keyring, &row, &stored)?;
    Ok(Opened { row, stored, text })
}

/// Names the drawer when its metadata still opens and belongs to the row's id, else the row.
fn tampered(keyring: &Keyring, row: &DrawerRow) -> Error {
    const FINDING: &str = "its tag does not match (TAMPERED)";
    match open_meta(keyring, row) {
        Ok(stored) if keyring.record_id(&stored.id) == row.rid => Error::record("drawer", stored.id, FINDING),
        _ => Error::record("drawer row", row.seq, FINDING),
    }
}

fn open_meta(keyring: &Keyring, row: &DrawerRow) -> Result<StoredMeta> {
    let meta = open_field(keyring, row, SealDomain::DrawerMeta, &row.meta)?;
    if meta.len() > limits::MAX_META_BYTES {
        return Err(Error::record("drawer row", row.seq, "its metadata is over the limit"));
    }
    serde_json::from_slice(&meta)
        .map_err(|_| Error::record("drawer row", row.seq, "its metadata is malformed"))
}

fn open_field(keyring: &Keyring, row: &DrawerRow, domain: SealDomain, stored: &[u8]) -> Result<Vec<u8>> {
    keyring
        .open_field(domain, row.rid.as_bytes(), stored)
        .map_err(|_| Error::record("drawer row", row.seq, "a sealed field does not open"))
}

fn open_text(keyring: &Keyring, row: &DrawerRow, stored: &StoredMeta) -> Result<String> {
    let body = open_field(keyring, row, SealDomain::DrawerContent, &row.content)?;
    let bytes = match keyring.level() {
        Level::Sealed => frame::decode(&body, limits::MAX_TEXT_BYTES)
            .map_err(|_| Error::record("drawer", stored.id, "its content's frame is damaged"))?,
        Level::HmacOnly => body,
    };
    String::from_utf8(bytes).map_err(|_| Error::record("drawer", stored.id, "its content is not text"))
}
