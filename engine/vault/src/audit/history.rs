//! The chain as an operator reads it: newest first, labels in words.

use rusqlite::Connection;
use serde::Serialize;

use super::table::{AuditRow, COLUMNS};
use crate::clock::rfc3339;
use crate::error::Result;
use crate::keyring::Keyring;

/// One record of the history.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct HistoryRecord {
    /// Position in the chain, from 1.
    pub seq: u64,
    /// Label in words: a drawer id, `del/<id>`, `migrate/<kind>`.
    pub record_id: String,
    /// Tag of the record, hex.
    pub tag: String,
    /// When it was appended (RFC 3339).
    pub at: String,
}

/// A page of records, newest first, of one subject or of all.
pub(crate) fn page(
    conn: &Connection,
    keyring: &Keyring,
    subject: Option<&str>,
    limit: usize,
    offset: usize,
) -> Result<Vec<HistoryRecord>> {
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let offset = i64::try_from(offset).unwrap_or(i64::MAX);
    let labels: Vec<Vec<u8>> = match subject {
        None => Vec::new(),
        // A drawer's history is its writes and its end.
        Some(text) => [text.to_owned(), format!("del/{text}")]
            .iter()
            .map(|label| keyring.label_text(label).as_bytes().to_vec())
            .collect(),
    };
    let mut out = Vec::new();
    let mut collect = |rows: &mut rusqlite::Rows<'_>| -> Result<()> {
        while let Some(row) = rows.next()? {
            let row = AuditRow::read(row)?;
            out.push(HistoryRecord {
                seq: u64::try_from(row.n).unwrap_or(0),
                record_id: row.open_label(keyring)?,
                tag: hex::encode(row.tag.as_bytes()),
                at: rfc3339(row.at),
            });
        }
        Ok(())
    };
    if let [own, destroyed] = labels.as_slice() {
        let sql =
            format!("SELECT {COLUMNS} FROM audit WHERE label IN (?1, ?2) ORDER BY n DESC LIMIT ?3 OFFSET ?4");
        collect(&mut conn.prepare_cached(&sql)?.query((own, destroyed, limit, offset))?)?;
    } else {
        let sql = format!("SELECT {COLUMNS} FROM audit ORDER BY n DESC LIMIT ?1 OFFSET ?2");
        collect(&mut conn.prepare_cached(&sql)?.query((limit, offset))?)?;
    }
    Ok(out)
}
