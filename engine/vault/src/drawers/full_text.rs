//! The full-text table of `hmac-only` vaults: the folded words of each drawer under its filing number, so that SQLite's
//! own tools find words as search does. Derived data; search itself does not read it.
//!
//! The table keeps no text of its own, so what is removed has to be given again, word for word. In return nothing of it
//! stays: with the secure-delete option the entries themselves are removed, where other kinds of table only mark them.

use rusqlite::Connection;
use undercroft_text::fold::fold;

use crate::error::Result;

/// Files the words of a drawer that is not in the table.
pub(crate) fn put(conn: &Connection, seq: i64, text: &str) -> Result<()> {
    conn.prepare_cached("INSERT INTO drawers_fts (rowid, text) VALUES (?1, ?2)")?
        .execute((seq, fold(text)))?;
    Ok(())
}

/// Removes the words of a drawer, which are `text`.
pub(crate) fn remove(conn: &Connection, seq: i64, text: &str) -> Result<()> {
    conn.prepare_cached("INSERT INTO drawers_fts (drawers_fts, rowid, text) VALUES ('delete', ?1, ?2)")?
        .execute((seq, fold(text)))?;
    Ok(())
}
