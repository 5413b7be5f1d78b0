//! The `audit` table: appending records and looking them up. Rows are only ever inserted.

use rusqlite::{Connection, OptionalExtension as _, Row};
use undercroft_crypto::{Blind, ChainState, SealDomain, Tag};

use super::label::Label;
use super::state::as_sql;
use crate::error::{Error, Result};
use crate::keyring::Keyring;

/// One row as stored, with its sealed label owned, or borrowed from the statement that reads it.
#[derive(Debug, Clone)]
pub(crate) struct AuditRow<B = Vec<u8>> {
    pub(crate) n: i64,
    pub(crate) label: Blind,
    pub(crate) tag: Tag,
    pub(crate) at: i64,
    pub(crate) shown: B,
}

/// Columns in the order that [`AuditRow::read`] expects.
pub(crate) const COLUMNS: &str = "n, label, tag, at, shown";

impl AuditRow {
    pub(crate) fn read(row: &Row<'_>) -> Result<Self> {
        let row = AuditRow::borrow(row)?;
        Ok(Self { n: row.n, label: row.label, tag: row.tag, at: row.at, shown: row.shown.to_vec() })
    }
}

impl<'r> AuditRow<&'r [u8]> {
    /// Reads a row in place.
    pub(crate) fn borrow(row: &'r Row<'_>) -> Result<Self> {
        let n: i64 = row.get(0)?;
        let malformed = || Error::record("audit record", n, "a column is malformed");
        Ok(Self {
            n,
            label: Blind::from_slice(row.get_ref(1)?.as_blob().map_err(|_| malformed())?)
                .map_err(|_| malformed())?,
            tag: Tag::from_slice(row.get_ref(2)?.as_blob().map_err(|_| malformed())?)
                .map_err(|_| malformed())?,
            at: row.get_ref(3)?.as_i64().map_err(|_| malformed())?,
            shown: row.get_ref(4)?.as_blob().map_err(|_| malformed())?,
        })
    }
}

impl<B: AsRef<[u8]>> AuditRow<B> {
    /// The label in words; an error when the sealed label is not the one that the chain covers.
    pub(crate) fn open_label(&self, keyring: &Keyring) -> Result<String> {
        let mut bytes = Vec::new();
        self.open_label_into(keyring, &mut bytes).map(str::to_owned)
    }

    /// As [`AuditRow::open_label`], in a buffer that keeps its capacity.
    pub(crate) fn open_label_into<'b>(&self, keyring: &Keyring, buffer: &'b mut Vec<u8>) -> Result<&'b str> {
        let fail = |finding| Error::record("audit record", self.n, finding);
        keyring.open_field_into(
            SealDomain::AuditLabel,
            &self.n.to_le_bytes(),
            self.shown.as_ref(),
            buffer,
        )?;
        let text = str::from_utf8(buffer).map_err(|_| fail("its shown label is not text"))?;
        if keyring.label_text(text) != self.label {
            return Err(fail("its shown label is not the one that the chain covers"));
        }
        Ok(text)
    }
}

/// Appends one record and returns the chain's next state. The caller stores the state before it commits.
pub(crate) fn append(
    conn: &Connection,
    keyring: &Keyring,
    state: &ChainState,
    label: &Label,
    tag: &Tag,
    at: i64,
) -> Result<ChainState> {
    let blind = keyring.label(label);
    let next = keyring.step(state, &blind, tag, at);
    let n = as_sql(next.height);
    let shown = keyring.seal_field(SealDomain::AuditLabel, &n.to_le_bytes(), label.to_string().as_bytes());
    conn.prepare_cached("INSERT INTO audit (n, label, tag, at, shown) VALUES (?1, ?2, ?3, ?4, ?5)")?
        .execute((n, blind.as_bytes(), tag.as_bytes(), at, shown))?;
    Ok(next)
}

/// Reads the index over labels alone.
pub(crate) const LABEL_INDEX: &str = "SELECT label, n FROM audit INDEXED BY audit_label";

/// Whether the index over labels leads to this row.
pub(crate) fn is_indexed<B>(conn: &Connection, row: &AuditRow<B>) -> Result<bool> {
    let mut statement =
        conn.prepare_cached("SELECT 1 FROM audit INDEXED BY audit_label WHERE label = ?1 AND n = ?2")?;
    Ok(statement.exists((row.label.as_bytes(), row.n))?)
}

/// Position and tag of the newest record with this label.
pub(crate) fn newest(conn: &Connection, label: &Blind) -> Result<Option<(i64, Tag)>> {
    let mut statement =
        conn.prepare_cached("SELECT n, tag FROM audit WHERE label = ?1 ORDER BY n DESC LIMIT 1")?;
    let found = statement
        .query_row([label.as_bytes()], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, Vec<u8>>(1)?)))
        .optional()?;
    found
        .map(|(n, tag)| {
            let tag = Tag::from_slice(&tag)
                .map_err(|_| Error::record("audit record", n, "its tag is malformed"))?;
            Ok((n, tag))
        })
        .transpose()
}

/// Position of the last record, 0 when there is none.
pub(crate) fn last(conn: &Connection) -> Result<i64> {
    let last: Option<i64> =
        conn.prepare_cached("SELECT max(n) FROM audit")?.query_row([], |row| row.get(0))?;
    Ok(last.unwrap_or(0))
}

/// Position of the first record, `None` when there is none.
pub(crate) fn first(conn: &Connection) -> Result<Option<i64>> {
    Ok(conn.prepare_cached("SELECT min(n) FROM audit")?.query_row([], |row| row.get(0))?)
}

/// Shows `each` the rows after `n`, oldest first, in place and each on its own (one malformed row does not hide the
/// others), at most `limit`. Gives the last position shown.
pub(crate) fn each_after(
    conn: &Connection,
    n: i64,
    limit: usize,
    mut each: impl FnMut(i64, Result<AuditRow<&[u8]>>),
) -> Result<Option<i64>> {
    let sql = format!("SELECT {COLUMNS} FROM audit WHERE n > ?1 ORDER BY n LIMIT ?2");
    let mut statement = conn.prepare_cached(&sql)?;
    let mut rows = statement.query((n, i64::try_from(limit).unwrap_or(i64::MAX)))?;
    let mut last = None;
    while let Some(row) = rows.next()? {
        let n = row.get(0)?;
        each(n, AuditRow::borrow(row));
        last = Some(n);
    }
    Ok(last)
}

/// Rows after `n`, oldest first, at most `limit`.
pub(crate) fn after(conn: &Connection, n: i64, limit: usize) -> Result<Vec<AuditRow>> {
    let sql = format!("SELECT {COLUMNS} FROM audit WHERE n > ?1 ORDER BY n LIMIT ?2");
    let mut statement = conn.prepare_cached(&sql)?;
    let mut rows = statement.query((n, i64::try_from(limit).unwrap_or(i64::MAX)))?;
    let mut out = Vec::new();
    while let Some(row) = rows.next()? {
        out.push(AuditRow::read(row)?);
    }
    Ok(out)
}
