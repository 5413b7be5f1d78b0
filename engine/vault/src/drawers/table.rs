//! The `drawers` table: rows as stored, their tag, and every statement that touches them.
//! Owns no plaintext: opening a row is the read door's.

use rusqlite::{Connection, OptionalExtension as _, Row, types::ValueRef};
use undercroft_crypto::{Blind, MacKey, Tag, TagDomain};

use super::new::SourceState;
use crate::error::{Error, Result};

/// One row as stored, with its long columns owned, or borrowed from the statement that reads them. Every column is
/// covered by the tag.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DrawerRow<B = Vec<u8>> {
    /// Filing order; from a counter, never used again.
    pub(crate) seq: i64,
    /// Position in the audit chain of the record that wrote this version.
    pub(crate) written: i64,
    pub(crate) rid: Blind,
    pub(crate) wing: Blind,
    pub(crate) room: Blind,
    pub(crate) source: Option<Blind>,
    /// Fingerprint of the duplicate form of the text.
    pub(crate) fp: Blind,
    /// Record id of the superseded drawer.
    pub(crate) supersedes: Option<Blind>,
    pub(crate) meta: B,
    pub(crate) content: B,
    pub(crate) embedding: B,
    pub(crate) tag: Tag,
}

/// Columns in the order that [`DrawerRow::read`] expects.
const COLUMNS: &str = "seq, written, rid, wing, room, source, fp, supersedes, meta, content, embedding, tag";

impl DrawerRow {
    pub(crate) fn read(row: &Row<'_>) -> Result<Self> {
        let row = DrawerRow::borrow(row)?;
        Ok(Self {
            seq: row.seq,
            written: row.written,
            rid: row.rid,
            wing: row.wing,
            room: row.room,
            source: row.source,
            fp: row.fp,
            supersedes: row.supersedes,
            meta: row.meta.to_vec(),
            content: row.content.to_vec(),
            embedding: row.embedding.to_vec(),
            tag: row.tag,
        })
    }
}

impl<'r> DrawerRow<&'r [u8]> {
    /// Reads a row in place.
    pub(crate) fn borrow(row: &'r Row<'_>) -> Result<Self> {
        let seq: i64 = row.get(0)?;
        let fail = || Error::record("drawer row", seq, "a column is malformed");
        Ok(Self {
            seq,
            written: row.get_ref(1)?.as_i64().map_err(|_| fail())?,
            rid: blind(row.get_ref(2)?).ok_or_else(fail)?,
            wing: blind(row.get_ref(3)?).ok_or_else(fail)?,
            room: blind(row.get_ref(4)?).ok_or_else(fail)?,
            source: optional_blind(row.get_ref(5)?).ok_or_else(fail)?,
            fp: blind(row.get_ref(6)?).ok_or_else(fail)?,
            supersedes: optional_blind(row.get_ref(7)?).ok_or_else(fail)?,
            meta: row.get_ref(8)?.as_blob().map_err(|_| fail())?,
            content: row.get_ref(9)?.as_blob().map_err(|_| fail())?,
            embedding: row.get_ref(10)?.as_blob().map_err(|_| fail())?,
            tag: row.get_ref(11)?.as_blob().ok().and_then(|b| Tag::from_slice(b).ok()).ok_or_else(fail)?,
        })
    }
}

impl<B: AsRef<[u8]>> DrawerRow<B> {
    /// The tag that the other columns demand.
    pub(crate) fn compute_tag(&self, mac: &MacKey) -> Tag {
        let empty: &[u8] = &[];
        let source = self.source.as_ref().map_or(empty, |b| b.as_bytes());
        let supersedes = self.supersedes.as_ref().map_or(empty, |b| b.as_bytes());
        mac.tag(
            TagDomain::Drawer,
            &[
                &self.seq.to_le_bytes(),
                &self.written.to_le_bytes(),
                self.rid.as_bytes(),
                self.wing.as_bytes(),
                self.room.as_bytes(),
                source,
                self.fp.as_bytes(),
                supersedes,
                self.meta.as_ref(),
                self.content.as_ref(),
                self.embedding.as_ref(),
            ],
        )
    }
}

fn blind(value: ValueRef<'_>) -> Option<Blind> {
    value.as_blob().ok().and_then(|bytes| Blind::from_slice(bytes).ok())
}

/// Outer `None`: malformed. Inner `None`: NULL.
#[expect(clippy::option_option, reason = "malformed and absent are different answers")]
fn optional_blind(value: ValueRef<'_>) -> Option<Option<Blind>> {
    match value {
        ValueRef::Null => Some(None),
        other => blind(other).map(Some),
    }
}

/// Stores a new row.
pub(crate) fn insert(conn: &Connection, row: &DrawerRow) -> Result<()> {
    let sql =
        format!("INSERT INTO drawers ({COLUMNS}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)");
    execute(conn, &sql, row).map(|_| ())
}

/// Replaces the version of a row; `seq` and `rid` stay.
pub(crate) fn update(conn: &Connection, row: &DrawerRow) -> Result<()> {
    let sql = "UPDATE drawers SET written = ?2, wing = ?4, room = ?5, source = ?6, fp = ?7, supersedes = ?8, \
               meta = ?9, content = ?10, embedding = ?11, tag = ?12 WHERE seq = ?1 AND rid = ?3";
    match execute(conn, sql, row)? {
        1 => Ok(()),
        _ => Err(Error::record("drawer row", row.seq, "its filing number is another drawer's")),
    }
}

/// Gives the number of rows that changed.
fn execute(conn: &Connection, sql: &str, row: &DrawerRow) -> Result<usize> {
    Ok(conn.prepare_cached(sql)?.execute(rusqlite::params![
        row.seq,
        row.written,
        row.rid.as_bytes(),
        row.wing.as_bytes(),
        row.room.as_bytes(),
        row.source.as_ref().map(Blind::as_bytes),
        row.fp.as_bytes(),
        row.supersedes.as_ref().map(Blind::as_bytes),
        row.meta,
        row.content,
        row.embedding,
        row.tag.as_bytes(),
    ])?)
}

/// Removes a row.
pub(crate) fn delete(conn: &Connection, seq: i64) -> Result<()> {
    conn.prepare_cached("DELETE FROM drawers WHERE seq = ?1")?.execute([seq])?;
    Ok(())
}

/// The row with this record id.
pub(crate) fn by_rid(conn: &Connection, rid: &Blind) -> Result<Option<DrawerRow>> {
    one(conn, "rid = ?1", rid)
}

/// The oldest row with this fingerprint.
pub(crate) fn by_fingerprint(conn: &Connection, fp: &Blind) -> Result<Option<DrawerRow>> {
    one(conn, "fp = ?1 ORDER BY seq LIMIT 1", fp)
}

/// Every row with this fingerprint, oldest first.
pub(crate) fn all_by_fingerprint(conn: &Connection, fp: &Blind) -> Result<Vec<DrawerRow>> {
    many(conn, "fp = ?1 ORDER BY seq", [fp.as_bytes()])
}

/// Whether any row has this fingerprint.
pub(crate) fn has_fingerprint(conn: &Connection, fp: &Blind) -> Result<bool> {
    Ok(conn.prepare_cached("SELECT 1 FROM drawers WHERE fp = ?1 LIMIT 1")?.exists([fp.as_bytes()])?)
}

/// Every row of a source, in filing order.
pub(crate) fn by_source(conn: &Connection, source: &Blind) -> Result<Vec<DrawerRow>> {
    many(conn, "source = ?1 ORDER BY seq", [source.as_bytes()])
}

/// How many rows a source has, and the newest record that wrote one of them.
pub(crate) fn source_state(conn: &Connection, source: &Blind) -> Result<SourceState> {
    let sql = "SELECT count(*), coalesce(max(written), 0) FROM drawers WHERE source = ?1";
    let state = conn.prepare_cached(sql)?.query_row([source.as_bytes()], |row| {
        Ok(SourceState { drawers: row.get(0)?, newest: row.get(1)? })
    })?;
    Ok(state)
}

/// Rows after `seq`, in filing order, at most `limit`.
pub(crate) fn after(conn: &Connection, seq: i64, limit: usize) -> Result<Vec<DrawerRow>> {
    many(conn, "seq > ?1 ORDER BY seq LIMIT ?2", (seq, i64::try_from(limit).unwrap_or(i64::MAX)))
}

/// How a page of rows is ordered, newest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Newest {
    /// By when they were first filed.
    Filed,
    /// By when they were last written.
    Written,
}

/// A page of rows of a wing and room (each optional), newest first.
pub(crate) fn newest(
    conn: &Connection,
    wing: Option<&Blind>,
    room: Option<&Blind>,
    order: Newest,
    limit: usize,
    offset: usize,
) -> Result<Vec<DrawerRow>> {
    let order = match order {
        Newest::Filed => "seq",
        Newest::Written => "written",
    };
    let condition = format!(
        "(?1 IS NULL OR wing = ?1) AND (?2 IS NULL OR room = ?2) ORDER BY {order} DESC LIMIT ?3 OFFSET ?4"
    );
    let parameters = rusqlite::params![
        wing.map(Blind::as_bytes),
        room.map(Blind::as_bytes),
        i64::try_from(limit).unwrap_or(i64::MAX),
        i64::try_from(offset).unwrap_or(i64::MAX),
    ];
    many(conn, &condition, parameters)
}

/// One wing and room: how many drawers it holds and the oldest of them, from which the names are read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place {
    pub(crate) count: u64,
    pub(crate) sample: i64,
}

/// Every wing and room in use.
pub(crate) fn places(conn: &Connection) -> Result<Vec<Place>> {
    let mut statement = conn.prepare_cached("SELECT count(*), min(seq) FROM drawers GROUP BY wing, room")?;
    let rows = statement.query_map([], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?)))?;
    rows.map(|row| {
        let (count, sample) = row?;
        Ok(Place { count: u64::try_from(count).unwrap_or(0), sample })
    })
    .collect()
}

/// The row with this filing number.
pub(crate) fn by_seq(conn: &Connection, seq: i64) -> Result<Option<DrawerRow>> {
    Ok(many(conn, "seq = ?1", [seq])?.pop())
}

/// The lowest filing number in use, `None` when there is none.
pub(crate) fn first_seq(conn: &Connection) -> Result<Option<i64>> {
    Ok(conn.prepare_cached("SELECT min(seq) FROM drawers")?.query_row([], |row| row.get(0))?)
}

/// The highest filing number in use, 0 when there is none.
pub(crate) fn last_seq(conn: &Connection) -> Result<i64> {
    let last: Option<i64> =
        conn.prepare_cached("SELECT max(seq) FROM drawers")?.query_row([], |row| row.get(0))?;
    Ok(last.unwrap_or(0))
}

/// Number of drawers.
pub(crate) fn count(conn: &Connection) -> Result<u64> {
    let count: i64 = conn.prepare_cached("SELECT count(*) FROM drawers")?.query_row([], |row| row.get(0))?;
    Ok(u64::try_from(count).unwrap_or(0))
}

/// Filing numbers of each group of rows of one wing that share a fingerprint, oldest first.
pub(crate) fn duplicate_groups(conn: &Connection) -> Result<Vec<Vec<i64>>> {
    let mut statement = conn.prepare_cached(
        "SELECT wing, fp, seq FROM drawers WHERE (wing, fp) IN
           (SELECT wing, fp FROM drawers GROUP BY wing, fp HAVING count(*) > 1)
         ORDER BY wing, fp, seq",
    )?;
    let mut rows = statement.query([])?;
    let mut groups: Vec<Vec<i64>> = Vec::new();
    let mut last: Option<(Vec<u8>, Vec<u8>)> = None;
    while let Some(row) = rows.next()? {
        let key = (row.get(0)?, row.get(1)?);
        let seq = row.get(2)?;
        match groups.last_mut() {
            Some(group) if last.as_ref() == Some(&key) => group.push(seq),
            _ => groups.push(vec![seq]),
        }
        last = Some(key);
    }
    Ok(groups)
}

/// Rows that supersede another, in filing order after `seq`.
pub(crate) fn superseding(conn: &Connection, seq: i64, limit: usize) -> Result<Vec<DrawerRow>> {
    many(
        conn,
        "supersedes IS NOT NULL AND seq > ?1 ORDER BY seq LIMIT ?2",
        (seq, i64::try_from(limit).unwrap_or(i64::MAX)),
    )
}

fn one(conn: &Connection, condition: &str, key: &Blind) -> Result<Option<DrawerRow>> {
    let sql = format!("SELECT {COLUMNS} FROM drawers WHERE {condition}");
    let mut statement = conn.prepare_cached(&sql)?;
    statement.query_row([key.as_bytes()], |row| Ok(DrawerRow::read(row))).optional()?.transpose()
}

fn many(conn: &Connection, condition: &str, parameters: impl rusqlite::Params) -> Result<Vec<DrawerRow>> {
    let sql = format!("SELECT {COLUMNS} FROM drawers WHERE {condition}");
    let mut statement = conn.prepare_cached(&sql)?;
    let mut rows = statement.query(parameters)?;
    let mut out = Vec::new();
    while let Some(row) = rows.next()? {
        out.push(DrawerRow::read(row)?);
    }
    Ok(out)
}

/// Whether any row supersedes the drawer with this blind link.
pub(crate) fn is_superseded(conn: &Connection, link: &Blind) -> Result<bool> {
    Ok(conn
        .prepare_cached("SELECT 1 FROM drawers WHERE supersedes = ?1 LIMIT 1")?
        .exists([link.as_bytes()])?)
}

/// Shows `each` the rows with `after < seq <= to` in filing order, in place and each on its own (one malformed row
/// does not hide the others), at most `limit`. Gives the last filing number shown.
pub(crate) fn each_between(
    conn: &Connection,
    after: i64,
    to: i64,
    limit: usize,
    mut each: impl FnMut(i64, Result<DrawerRow<&[u8]>>),
) -> Result<Option<i64>> {
    let sql = format!("SELECT {COLUMNS} FROM drawers WHERE seq > ?1 AND seq <= ?2 ORDER BY seq LIMIT ?3");
    let mut statement = conn.prepare_cached(&sql)?;
    let mut rows = statement.query((after, to, i64::try_from(limit).unwrap_or(i64::MAX)))?;
    let mut last = None;
    while let Some(row) = rows.next()? {
        let seq = row.get(0)?;
        each(seq, DrawerRow::borrow(row));
        last = Some(seq);
    }
    Ok(last)
}
