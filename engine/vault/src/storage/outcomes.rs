//! The ledger of remembered outcomes: what a request with an idempotency key was answered, until it expires.
//! Owns the table and its tags; what an outcome says, and when one is looked for, is the write door's.

use rusqlite::{Connection, OptionalExtension as _, Row};
use undercroft_crypto::{Blind, MacKey, Tag, TagDomain};

use crate::error::{Error, Result};

/// A remembered outcome, once its tag was checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OutcomeRow {
    /// Blind form of scope and key.
    pub(crate) key: Blind,
    /// Keyed digest of the request, bound to the key: equal requests under two keys have nothing in common.
    pub(crate) request: Tag,
    /// From this moment on the key is unknown, microseconds since the epoch.
    pub(crate) expires: i64,
    /// What was answered, sealed.
    pub(crate) outcome: Vec<u8>,
}

/// A row as it stands in the table, unchecked.
pub(crate) struct StoredRow {
    pub(crate) key: Vec<u8>,
    request: Vec<u8>,
    expires: i64,
    outcome: Vec<u8>,
    tag: Vec<u8>,
}

impl StoredRow {
    pub(crate) fn new(key: &[u8], request: &[u8], expires: i64, outcome: &[u8], tag: &[u8]) -> Self {
        Self {
            key: key.to_vec(),
            request: request.to_vec(),
            expires,
            outcome: outcome.to_vec(),
            tag: tag.to_vec(),
        }
    }

    fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            key: row.get(0)?,
            request: row.get(1)?,
            expires: row.get(2)?,
            outcome: row.get(3)?,
            tag: row.get(4)?,
        })
    }

    /// The row, when its tag covers it.
    pub(crate) fn verified(self, mac: &MacKey) -> Result<OutcomeRow> {
        let shown = hex::encode(&self.key);
        let fail = |finding| Error::record("remembered outcome", &shown, finding);
        let key = Blind::from_slice(&self.key).map_err(|_| fail("its key is malformed"))?;
        let request = Tag::from_slice(&self.request).map_err(|_| fail("its request is malformed"))?;
        let stored = Tag::from_slice(&self.tag).map_err(|_| fail("its tag is malformed"))?;
        let row = OutcomeRow { key, request, expires: self.expires, outcome: self.outcome };
        if stored == tag(mac, &row) { Ok(row) } else { Err(fail("its tag does not match")) }
    }
}

/// The keyed digest of a request under a key.
pub(crate) fn request(mac: &MacKey, key: &Blind, digest: &[u8; 32]) -> Tag {
    // The number of fields tells it from the tag of a row.
    mac.tag(TagDomain::Outcome, &[key.as_bytes(), digest])
}

/// The outcome under `key`, expired or not.
pub(crate) fn load(conn: &Connection, mac: &MacKey, key: &Blind) -> Result<Option<OutcomeRow>> {
    let mut statement =
        conn.prepare_cached("SELECT key, request, expires, outcome, tag FROM outcomes WHERE key = ?1")?;
    let stored = statement.query_row([key.as_bytes()], StoredRow::read).optional()?;
    stored.map(|row| row.verified(mac)).transpose()
}

/// Remembers an outcome in place of an expired one of the same key.
pub(crate) fn store(conn: &Connection, mac: &MacKey, row: &OutcomeRow) -> Result<()> {
    conn.prepare_cached(
        "INSERT INTO outcomes (key, request, expires, outcome, tag) VALUES (?1, ?2, ?3, ?4, ?5)
         ON CONFLICT (key) DO UPDATE SET request = excluded.request, expires = excluded.expires,
           outcome = excluded.outcome, tag = excluded.tag",
    )?
    .execute((
        row.key.as_bytes(),
        row.request.as_bytes(),
        row.expires,
        &row.outcome,
        tag(mac, row).as_bytes(),
    ))?;
    Ok(())
}

/// Forgets what has expired at `now`, the oldest first and at most `limit`.
pub(crate) fn forget_expired(conn: &Connection, now: i64, limit: usize) -> Result<usize> {
    let mut statement = conn.prepare_cached(
        "DELETE FROM outcomes WHERE key IN (SELECT key FROM outcomes WHERE expires <= ?1 ORDER BY expires LIMIT ?2)",
    )?;
    Ok(statement.execute((now, i64::try_from(limit).unwrap_or(i64::MAX)))?)
}

/// The next rows in the order of their keys, unchecked.
pub(crate) fn after(conn: &Connection, key: &[u8], limit: usize) -> Result<Vec<StoredRow>> {
    let mut statement = conn.prepare_cached(
        "SELECT key, request, expires, outcome, tag FROM outcomes WHERE key > ?1 ORDER BY key LIMIT ?2",
    )?;
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    Ok(statement.query_map((key, limit), StoredRow::read)?.collect::<Result<_, _>>()?)
}

/// Number of rows, whatever stands in them.
pub(crate) fn count(conn: &Connection) -> Result<i64> {
    Ok(conn.query_row("SELECT count(*) FROM outcomes NOT INDEXED", [], |row| row.get(0))?)
}

fn tag(mac: &MacKey, row: &OutcomeRow) -> Tag {
    let fields: [&[u8]; 4] =
        [row.key.as_bytes(), row.request.as_bytes(), &row.expires.to_le_bytes(), &row.outcome];
    mac.tag(TagDomain::Outcome, &fields)
}
