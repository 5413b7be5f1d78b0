//! Tagged counters: numbers that are issued once and never again, equal on every copy of a vault.

use rusqlite::{Connection, OptionalExtension as _};
use undercroft_crypto::{MacKey, Tag, TagDomain};

use crate::error::{Error, Result};

/// Number of drawers ever filed: gives each row its `seq` and each direct save its append index.
pub(crate) const DRAWERS: &str = "drawers";

/// Creates the counters of a new vault at zero.
pub(crate) fn create(conn: &Connection, mac: &MacKey) -> Result<()> {
    let tag = tag(mac, DRAWERS, 0);
    conn.execute("INSERT INTO counters (name, value, tag) VALUES (?1, 0, ?2)", (DRAWERS, tag.as_bytes()))?;
    Ok(())
}

/// Last number issued.
pub(crate) fn load(conn: &Connection, mac: &MacKey, name: &str) -> Result<i64> {
    let mut statement = conn.prepare_cached("SELECT value, tag FROM counters WHERE name = ?1")?;
    let row = statement
        .query_row([name], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, Vec<u8>>(1)?)))
        .optional()?;
    let (value, stored) = row.ok_or_else(|| Error::record("counter", name, "its row is missing"))?;
    let stored =
        Tag::from_slice(&stored).map_err(|_| Error::record("counter", name, "its tag is malformed"))?;
    if stored != tag(mac, name, value) {
        return Err(Error::record("counter", name, "its tag does not match"));
    }
    Ok(value)
}

/// Every name present.
pub(crate) fn names(conn: &Connection) -> Result<Vec<String>> {
    let mut statement = conn.prepare_cached("SELECT name FROM counters ORDER BY name")?;
    Ok(statement.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?)
}

/// Stores the last number issued.
pub(crate) fn store(conn: &Connection, mac: &MacKey, name: &str, value: i64) -> Result<()> {
    let tag = tag(mac, name, value);
    conn.prepare_cached("UPDATE counters SET value = ?2, tag = ?3 WHERE name = ?1")?.execute((
        name,
        value,
        tag.as_bytes(),
    ))?;
    Ok(())
}

/// The tag of a counter that stands at `value`.
pub(crate) fn tag(mac: &MacKey, name: &str, value: i64) -> Tag {
    mac.tag(TagDomain::Counter, &[name.as_bytes(), &value.to_le_bytes()])
}
