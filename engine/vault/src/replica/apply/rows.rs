//! Rows as they were and as they will be: a change compares only what it names, here the whole row is put together on both
//! sides. Reads and writes; judges only whether the row is the one that the change remembers.

use rusqlite::types::Value as Stored;
use rusqlite::{Connection, OptionalExtension as _};

use super::super::changes::{Change, Op, Table, Value};
use super::super::verdict::Suspect;
use crate::error::{Error, Result};

/// A row's values, all of them.
pub(super) type Row<'a> = Vec<Value<'a>>;

/// One row before and after.
pub(super) struct Version<'a> {
    pub(super) table: Table,
    pub(super) key: Value<'a>,
    /// `None` for a row that is inserted.
    pub(super) old: Option<Row<'a>>,
    /// `None` for a row that is deleted.
    pub(super) new: Option<Row<'a>>,
}

/// The rows that the copy holds where changes need one, in the order of the changes.
pub(super) fn before(conn: &Connection, changes: &[Change<'_>]) -> Result<Vec<Option<Vec<Stored>>>> {
    changes.iter().map(|change| if change.op == Op::Insert { Ok(None) } else { held(conn, change) }).collect()
}

fn held(conn: &Connection, change: &Change<'_>) -> Result<Option<Vec<Stored>>> {
    let columns = change.table.columns();
    let sql = format!("SELECT {} FROM {} WHERE {} = ?1", columns.join(", "), change.table.name(), columns[0]);
    let mut statement = conn.prepare_cached(&sql)?;
    let read =
        |row: &rusqlite::Row<'_>| (0..columns.len()).map(|at| row.get(at)).collect::<Result<Vec<_>, _>>();
    Ok(statement.query_row([change.key], read).optional()?)
}

/// Puts each row together on both sides.
pub(super) fn versions<'a>(
    changes: &[Change<'a>],
    before: &'a [Option<Vec<Stored>>],
) -> Result<Vec<Version<'a>>, Suspect> {
    changes
        .iter()
        .zip(before)
        .map(|(change, held)| version(change, held.as_deref()).ok_or(Suspect::Conflict(change.table.name())))
        .collect()
}

/// `None` when the copy's row is not the one that the change remembers.
fn version<'a>(change: &Change<'a>, held: Option<&'a [Stored]>) -> Option<Version<'a>> {
    let (table, key) = (change.table, change.key);
    if change.op == Op::Insert {
        let new = change.new.iter().copied().collect::<Option<Row<'a>>>()?;
        return Some(Version { table, key, old: None, new: Some(new) });
    }
    let old = held?.iter().map(as_value).collect::<Option<Row<'a>>>()?;
    let remembered = change.old.iter().zip(&old).all(|(told, held)| told.is_none_or(|told| told == *held));
    let new = (change.op == Op::Update)
        .then(|| change.new.iter().zip(&old).map(|(told, held)| told.unwrap_or(*held)).collect());
    remembered.then_some(Version { table, key, old: Some(old), new })
}

fn as_value(stored: &Stored) -> Option<Value<'_>> {
    Some(match stored {
        Stored::Null => Value::Null,
        Stored::Integer(number) => Value::Integer(*number),
        Stored::Text(text) => Value::Text(text),
        Stored::Blob(bytes) => Value::Blob(bytes),
        Stored::Real(_) => return None,
    })
}

/// Writes them. Deletions come first: what they free may be used again in the same segment.
pub(super) fn write(conn: &Connection, versions: &[Version<'_>]) -> Result<()> {
    for version in versions.iter().filter(|version| version.new.is_none()) {
        let (table, key) = (version.table.name(), version.table.columns()[0]);
        execute(conn, &format!("DELETE FROM {table} WHERE {key} = ?1"), &[version.key])?;
    }
    for version in versions.iter().filter(|version| version.old.is_some()) {
        if let Some(new) = &version.new {
            execute(conn, &update_of(version.table), new)?;
        }
    }
    for version in versions.iter().filter(|version| version.old.is_none()) {
        if let Some(new) = &version.new {
            execute(conn, &insertion_of(version.table), new)?;
        }
    }
    Ok(())
}

fn update_of(table: Table) -> String {
    let columns = table.columns();
    let sets: Vec<String> =
        columns.iter().enumerate().skip(1).map(|(at, column)| format!("{column} = ?{}", at + 1)).collect();
    format!("UPDATE {} SET {} WHERE {} = ?1", table.name(), sets.join(", "), columns[0])
}

fn insertion_of(table: Table) -> String {
    let columns = table.columns();
    let places: Vec<String> = (1..=columns.len()).map(|at| format!("?{at}")).collect();
    format!("INSERT INTO {} ({}) VALUES ({})", table.name(), columns.join(", "), places.join(", "))
}

/// Every statement here is about one row, which was there, or was not, when the transaction looked.
fn execute(conn: &Connection, sql: &str, values: &[Value<'_>]) -> Result<()> {
    match conn.prepare_cached(sql)?.execute(rusqlite::params_from_iter(values))? {
        1 => Ok(()),
        _ => Err(Error::record("segment", "row", "it vanished inside a transaction")),
    }
}
