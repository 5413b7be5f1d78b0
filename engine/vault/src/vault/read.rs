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
        open_vector(keyring, &self.row, self.stored.id)
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
    pub(super) fn why_absent(&self, conn: &Connection, id: DrawerId) -> Result<Error> {
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
    let mut buffers = Buffers::default();
    let (stored, text) = open_in(keyring, &row, &mut buffers)?;
    let text = text.to_owned();
    Ok(Opened { row, stored, text })
}

/// Where fields are opened: buffers that keep their capacity from row to row.
#[derive(Debug, Default)]
pub(crate) struct Buffers {
    meta: Vec<u8>,
    body: Vec<u8>,
    content: Vec<u8>,
}

/// The vector of a row that verified.
pub(crate) fn open_vector<B: AsRef<[u8]>>(
    keyring: &Keyring,
    row: &DrawerRow<B>,
    id: DrawerId,
) -> Result<Quantized> {
    let mut bytes = Vec::new();
    open_field(keyring, row, SealDomain::DrawerEmbedding, row.embedding.as_ref(), &mut bytes)?;
    Quantized::from_bytes(&bytes).map_err(|_| Error::record("drawer", id, "its embedding is malformed"))
}

/// As [`open_unchained`], without the words: the metadata of a row that verifies against itself.
pub(crate) fn open_stored<B: AsRef<[u8]>>(
    keyring: &Keyring,
    row: &DrawerRow<B>,
    buffer: &mut Vec<u8>,
) -> Result<StoredMeta> {
    if row.compute_tag(keyring.mac()) != row.tag {
        return Err(tampered(keyring, row));
    }
    let stored = open_meta(keyring, row, buffer)?;
    if keyring.record_id(&stored.id) != row.rid {
        return Err(Error::record("drawer", stored.id, "its row is filed under another id"));
    }
    Ok(stored)
}

/// As [`open_unchained`], for a row that need not be kept: its text stays in the buffers.
pub(crate) fn open_in<'b, B: AsRef<[u8]>>(
    keyring: &Keyring,
    row: &DrawerRow<B>,
    buffers: &'b mut Buffers,
) -> Result<(StoredMeta, &'b str)> {
    let stored = open_stored(keyring, row, &mut buffers.meta)?;
    let text = open_text(keyring, row, &stored, buffers)?;
    Ok((stored, text))
}

/// Names the drawer when its metadata still opens and belongs to the row's id, else the row.
fn tampered<B: AsRef<[u8]>>(keyring: &Keyring, row: &DrawerRow<B>) -> Error {
    const FINDING: &str = "its tag does not match (TAMPERED)";
    match open_meta(keyring, row, &mut Vec::new()) {
        Ok(stored) if keyring.record_id(&stored.id) == row.rid => Error::record("drawer", stored.id, FINDING),
        _ => Error::record("drawer row", row.seq, FINDING),
    }
}

fn open_meta<B: AsRef<[u8]>>(
    keyring: &Keyring,
    row: &DrawerRow<B>,
    buffer: &mut Vec<u8>,
) -> Result<StoredMeta> {
    open_field(keyring, row, SealDomain::DrawerMeta, row.meta.as_ref(), buffer)?;
    if buffer.len() > limits::MAX_META_BYTES {
        return Err(Error::record("drawer row", row.seq, "its metadata is over the limit"));
    }
    serde_json::from_slice(buffer)
        .map_err(|_| Error::record("drawer row", row.seq, "its metadata is malformed"))
}

fn open_field<B>(
    keyring: &Keyring,
    row: &DrawerRow<B>,
    domain: SealDomain,
    stored: &[u8],
    buffer: &mut Vec<u8>,
) -> Result<()> {
    keyring
        .open_field_into(domain, row.rid.as_bytes(), stored, buffer)
        .map_err(|_| Error::record("drawer row", row.seq, "a sealed field does not open"))
}

fn open_text<'b, B: AsRef<[u8]>>(
    keyring: &Keyring,
    row: &DrawerRow<B>,
    stored: &StoredMeta,
    buffers: &'b mut Buffers,
) -> Result<&'b str> {
    let Buffers { body, content, .. } = buffers;
    open_field(keyring, row, SealDomain::DrawerContent, row.content.as_ref(), body)?;
    let bytes = match keyring.level() {
        Level::Sealed => {
            frame::decode_into(body, limits::MAX_TEXT_BYTES, content)
                .map_err(|_| Error::record("drawer", stored.id, "its content's frame is damaged"))?;
            content
        }
        Level::HmacOnly => body,
    };
    str::from_utf8(bytes).map_err(|_| Error::record("drawer", stored.id, "its content is not text"))
}
