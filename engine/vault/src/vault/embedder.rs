//! Which embedder's vectors a vault holds. Vectors of two embedders cannot be compared: another one is refused unless it is
//! forced, to be followed by a repair. Owns the record of it in the ledger; embeds nothing.

use rusqlite::Connection;

use crate::config::VaultOptions;
use crate::error::{Error, Result};
use crate::keyring::Keyring;
use crate::storage::meta;

/// An embedder as the vault records it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Recorded {
    pub(super) name: String,
    pub(super) dimension: u32,
}

impl Recorded {
    /// The one that the caller configured.
    pub(super) fn given(options: &VaultOptions) -> Result<Self> {
        let embedder = &options.embedder;
        let dimension = u32::try_from(embedder.dimension())
            .map_err(|_| Error::invalid("embedder", "its dimension is over the limit"))?;
        Ok(Self { name: embedder.name().to_owned(), dimension })
    }

    /// What to say when the configured one is another.
    pub(super) fn mismatch(&self, options: &VaultOptions) -> Error {
        let embedder = &options.embedder;
        let shown = |name: &str, dimension: usize| format!("{name} ({dimension} numbers)");
        if self.name == embedder.name() {
            let given = shown(embedder.name(), embedder.dimension());
            return Error::EmbedderMismatch { recorded: shown(&self.name, self.dimension as usize), given };
        }
        Error::EmbedderMismatch { recorded: self.name.clone(), given: embedder.name().to_owned() }
    }
}

/// Reads the record, verified.
pub(super) fn recorded(conn: &Connection, keyring: &Keyring) -> Result<Recorded> {
    let missing = || Error::record("meta", meta::key::EMBEDDER, "its row is missing or malformed");
    let name = meta::get(conn, keyring.mac(), meta::key::EMBEDDER)?.ok_or_else(missing)?;
    let dimension = meta::get(conn, keyring.mac(), meta::key::DIMENSION)?.ok_or_else(missing)?;
    Ok(Recorded {
        name: String::from_utf8(name).map_err(|_| missing())?,
        dimension: u32::from_le_bytes(dimension.try_into().map_err(|_| missing())?),
    })
}

/// Writes the record.
pub(super) fn record(conn: &Connection, keyring: &Keyring, recorded: &Recorded) -> Result<()> {
    meta::put(conn, keyring.mac(), meta::key::EMBEDDER, recorded.name.as_bytes())?;
    meta::put(conn, keyring.mac(), meta::key::DIMENSION, &recorded.dimension.to_le_bytes())
}
