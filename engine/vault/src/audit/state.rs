//! The stored state of the chain: one tagged row with height, head and running digest, committed with the data.

use rusqlite::{Connection, OptionalExtension as _};
use undercroft_crypto::{ChainState, Digest, Head, Height, Tag, TagDomain};

use crate::error::{Error, Result};
use crate::keyring::Keyring;

/// Writes the state of a new vault.
pub(crate) fn create(conn: &Connection, keyring: &Keyring) -> Result<()> {
    let state = ChainState::genesis();
    let tag = tag(keyring, &state);
    conn.execute(
        "INSERT INTO chain (id, height, head, digest, tag) VALUES (1, 0, ?1, ?2, ?3)",
        (state.head.as_bytes(), state.digest.as_bytes(), tag.as_bytes()),
    )?;
    Ok(())
}

/// Reads and verifies the state that the connection's snapshot shows.
pub(crate) fn load(conn: &Connection, keyring: &Keyring) -> Result<ChainState> {
    let mut statement = conn.prepare_cached("SELECT height, head, digest, tag FROM chain WHERE id = 1")?;
    let row = statement
        .query_row([], |row| {
            Ok((
                row.get::<_, i64>(0)?,
                row.get::<_, Vec<u8>>(1)?,
                row.get::<_, Vec<u8>>(2)?,
                row.get::<_, Vec<u8>>(3)?,
            ))
        })
        .optional()?;
    let broken = || Error::record("chain state", 1, "its row is missing or malformed");
    let (height, head, digest, stored) = row.ok_or_else(broken)?;
    let state = ChainState {
        height: Height::new(u64::try_from(height).map_err(|_| broken())?),
        head: Head::from_slice(&head).map_err(|_| broken())?,
        digest: Digest::from_slice(&digest).map_err(|_| broken())?,
    };
    if Tag::from_slice(&stored).map_err(|_| broken())? != tag(keyring, &state) {
        return Err(Error::record("chain state", 1, "its tag does not match"));
    }
    Ok(state)
}

/// Stores the state inside the transaction that appended the records.
pub(crate) fn store(conn: &Connection, keyring: &Keyring, state: &ChainState) -> Result<()> {
    let tag = tag(keyring, state);
    conn.prepare_cached("UPDATE chain SET height = ?1, head = ?2, digest = ?3, tag = ?4 WHERE id = 1")?
        .execute((as_sql(state.height), state.head.as_bytes(), state.digest.as_bytes(), tag.as_bytes()))?;
    Ok(())
}

/// A height as SQLite stores it.
pub(crate) fn as_sql(height: Height) -> i64 {
    // Heights count rows of a SQLite table, whose keys are i64.
    i64::try_from(height.get()).unwrap_or(i64::MAX)
}

/// The tag of a stored state.
pub(crate) fn tag(keyring: &Keyring, state: &ChainState) -> Tag {
    let height = state.height.get().to_le_bytes();
    keyring.tag(TagDomain::ChainState, &[&height, state.head.as_bytes(), state.digest.as_bytes()])
}
