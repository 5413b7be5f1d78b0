//! Opening connections with the settings that every vault relies on. Owns pragmas and nothing about rows.

use std::path::{Path, PathBuf};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use crate::error::{Error, Result};
use crate::limits;

/// Name of the database in a vault's folder.
pub(crate) const DATABASE: &str = "vault.db";

/// Path of the database of the vault in `dir`.
pub(crate) fn database_path(dir: &Path) -> PathBuf {
    dir.join(DATABASE)
}

/// Opens the one writing connection, creating the file when asked to.
pub(crate) fn open_writer(dir: &Path, create: bool) -> Result<Connection> {
    let mut flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    flags.set(OpenFlags::SQLITE_OPEN_CREATE, create);
    let conn = Connection::open_with_flags(database_path(dir), flags)?;
    harden(&conn)?;
    conn.pragma_update(None, "journal_mode", "WAL")?;
    conn.pragma_update(None, "synchronous", "FULL")?;
    conn.pragma_update(None, "secure_delete", true)?;
    conn.pragma_update(None, "cache_size", -16_384)?;
    Ok(conn)
}

/// Opens a connection that can only read. The folder stays as it is: where it cannot be written, the file is read as
/// an immutable one, which is right only while nobody writes; the second value says so.
pub(crate) fn open_reader(dir: &Path) -> Result<(Connection, bool)> {
    let path = database_path(dir);
    let flags =
        OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_URI;
    let plain = Connection::open_with_flags(&path, flags).and_then(|conn| {
        // The first read is what finds out whether the shared-memory file can be made.
        conn.query_row("SELECT count(*) FROM sqlite_master", [], |_| Ok(()))?;
        Ok(conn)
    });
    match plain {
        Ok(conn) => {
            harden(&conn)?;
            conn.pragma_update(None, "query_only", true)?;
            Ok((conn, false))
        }
        // An immutable file is read without its log: what the log holds would be missing without a word.
        Err(error) if cannot_open(&error) && wal_bytes(dir) > 0 => Err(Error::LogPending(path)),
        Err(error) if cannot_open(&error) => {
            let conn = Connection::open_with_flags(immutable_uri(&path), flags)?;
            harden(&conn)?;
            conn.pragma_update(None, "query_only", true)?;
            Ok((conn, true))
        }
        Err(error) => Err(error.into()),
    }
}

fn cannot_open(error: &rusqlite::Error) -> bool {
    use rusqlite::{ErrorCode, ffi};
    // On a full disk the shared-memory file cannot be made, either.
    let no_shared_memory = [ffi::SQLITE_IOERR_SHMOPEN, ffi::SQLITE_IOERR_SHMSIZE, ffi::SQLITE_IOERR_SHMMAP];
    matches!(error.sqlite_error_code(), Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly))
        || error.sqlite_error().is_some_and(|failure| no_shared_memory.contains(&failure.extended_code))
}

/// `file:` URI of a path with the characters that SQLite's URI parser would read as syntax escaped.
fn immutable_uri(path: &Path) -> String {
    use std::fmt::Write as _;
    let mut uri = String::from("file:");
    for byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' | b'~' => {
                uri.push(char::from(*byte))
            }
            other => {
                // Writing into a String cannot fail.
                let _ = write!(uri, "%{other:02X}");
            }
        }
    }
    uri.push_str("?immutable=1");
    uri
}

/// Settings against a hostile database file: no writes to the schema, no functions from the schema, cells checked.
fn harden(conn: &Connection) -> Result<()> {
    conn.busy_timeout(limits::BUSY_TIMEOUT)?;
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false)?;
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false)?;
    // A plan that depends on bound values is made anew at every execution; none here is better for it.
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    conn.pragma_update(None, "cell_size_check", true)?;
    conn.pragma_update(None, "temp_store", "MEMORY")?;
    conn.pragma_update(None, "foreign_keys", true)?;
    conn.set_prepared_statement_cache_capacity(64);
    Ok(())
}

/// Size of the write-ahead log, 0 when there is none.
pub(crate) fn wal_bytes(dir: &Path) -> u64 {
    std::fs::metadata(dir.join("vault.db-wal")).map_or(0, |data| data.len())
}

/// Moves the write-ahead log into the database and cuts it to nothing; `false` when a reader still needs it.
pub(crate) fn truncate_wal(conn: &Connection) -> Result<bool> {
    // Waiting for readers here would stall the writer: it tries, and tries again after the next commit.
    conn.busy_timeout(std::time::Duration::ZERO)?;
    let busy = conn.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get::<_, i64>(0));
    conn.busy_timeout(limits::BUSY_TIMEOUT)?;
    match busy {
        Ok(busy) => Ok(busy == 0),
        Err(error) if error.sqlite_error_code() == Some(rusqlite::ErrorCode::DatabaseBusy) => Ok(false),
        Err(error) => Err(error.into()),
    }
}
