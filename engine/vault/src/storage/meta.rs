//! The tagged key-value ledger of a vault: constants of its making and the identity of its embedder.

use rusqlite::{Connection, OptionalExtension as _};
use undercroft_crypto::{MacKey, Tag, TagDomain};

use crate::error::{Error, Result};

/// Keys of the ledger.
pub(crate) mod key {
    /// Schema version, u32 little-endian.
    pub(crate) const SCHEMA: &str = "schema";
    /// The label key, sealed.
    pub(crate) const LABEL_KEY: &str = "label_key";
    /// Proof of which generation's keys hold: tag over a constant.
    pub(crate) const KEYCHECK: &str = "keycheck";
    /// Name of the embedder whose vectors are stored.
    pub(crate) const EMBEDDER: &str = "embedder";
    /// Its dimension, u32 little-endian.
    pub(crate) const DIMENSION: &str = "dimension";
    /// All that every vault has, sorted.
    pub(crate) const ALL: [&str; 5] = [DIMENSION, EMBEDDER, KEYCHECK, LABEL_KEY, SCHEMA];
    /// Who owns a vault of a cluster.
    pub(crate) const OWNERSHIP: &str = "ownership";
    /// Log id of the last entry that the vault holds.
    pub(crate) const APPLIED: &str = "applied";
    /// What a vault of a cluster has besides, sorted.
    pub(crate) const OF_CLUSTER: [&str; 2] = [APPLIED, OWNERSHIP];
}

/// Writes a value under its tag.
pub(crate) fn put(conn: &Connection, mac: &MacKey, key: &str, value: &[u8]) -> Result<()> {
    let tag = tag(mac, key, value);
    conn.prepare_cached(
        "INSERT INTO meta (key, value, tag) VALUES (?1, ?2, ?3)
         ON CONFLICT (key) DO UPDATE SET value = excluded.value, tag = excluded.tag",
    )?
    .execute((key, value, tag.as_bytes()))?;
    Ok(())
}

/// Reads a value and verifies its tag.
pub(crate) fn get(conn: &Connection, mac: &MacKey, key: &str) -> Result<Option<Vec<u8>>> {
    let Some((value, stored)) = raw(conn, key)? else { return Ok(None) };
    let stored = Tag::from_slice(&stored).map_err(|_| Error::record("meta", key, "its tag is malformed"))?;
    if stored != tag(mac, key, &value) {
        return Err(Error::record("meta", key, "its tag does not match"));
    }
    Ok(Some(value))
}

/// Value and tag as stored, unverified: for the values that are needed before the keys are known to be right.
pub(crate) fn raw(conn: &Connection, key: &str) -> Result<Option<(Vec<u8>, Vec<u8>)>> {
    let mut statement = conn.prepare_cached("SELECT value, tag FROM meta WHERE key = ?1")?;
    Ok(statement.query_row([key], |row| Ok((row.get(0)?, row.get(1)?))).optional()?)
}

/// Every key present.
pub(crate) fn keys(conn: &Connection) -> Result<Vec<String>> {
    let mut statement = conn.prepare_cached("SELECT key FROM meta ORDER BY key")?;
    Ok(statement.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?)
}

fn tag(mac: &MacKey, key: &str, value: &[u8]) -> Tag {
    mac.tag(TagDomain::Meta, &[key.as_bytes(), value])
}
