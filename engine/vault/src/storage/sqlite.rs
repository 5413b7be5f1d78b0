//! Opening connections with the settings that every vault relies on. Owns pragmas and nothing about rows.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};
use undercroft_crypto::regular;

use super::lock::Writers;
use super::unwritable::{Obstacle, obstacle};
use super::{journal, schema};
use crate::error::{DATABASE_REMEDY, Error, Result};
use crate::limits;

/// Name of the database in a vault's folder.
pub(crate) const DATABASE: &str = "vault.db";

/// Name of its write-ahead log, which holds what is committed and not in the database yet.
const LOG: &str = "vault.db-wal";

/// What a database file begins with, how long its header is, and where in it the application's mark lies
/// (<https://sqlite.org/fileformat2.html>, section 1.3).
const MAGIC: &[u8] = b"SQLite format 3\0";
const HEADER_BYTES: u64 = 100;
const APPLICATION_ID_AT: usize = 68;

/// Path of the database of the vault in `dir`, as SQLite too takes it for a path: one that begins like a URI would be
/// read as one, and lead to another file or to none.
pub(crate) fn database_path(dir: &Path) -> PathBuf {
    let path = dir.join(DATABASE);
    if path.as_os_str().as_encoded_bytes().starts_with(b"file:") { Path::new(".").join(path) } else { path }
}

/// The files that hold what is committed.
pub(crate) fn data_files(dir: &Path) -> [PathBuf; 2] {
    [dir.join(DATABASE), dir.join(LOG)]
}

/// Looks at the database and the files that SQLite keeps beside it before SQLite does: what is no regular file could be waited
/// for, and another program's database would be opened, and changed by that, as if it were a vault's.
///
/// # Errors
/// An integrity error that says what is there.
pub(crate) fn check_files(dir: &Path) -> Result<()> {
    for name in [DATABASE, LOG, "vault.db-shm", journal::JOURNAL] {
        let path = dir.join(name);
        regular::check(&path).map_err(|error| refused(name, &path, error))?;
    }
    journal::check(dir)?;
    let path = database_path(dir);
    let mut header = Vec::new();
    let file = regular::open(&path).map_err(|error| refused(DATABASE, &path, error))?;
    file.take(HEADER_BYTES).read_to_end(&mut header).map_err(Error::io("read", &path))?;
    let id = header.get(APPLICATION_ID_AT..APPLICATION_ID_AT + 4);
    let found = if header.is_empty() {
        "is empty"
    } else if !header.starts_with(MAGIC) {
        "is not a database"
    } else if id != Some(&schema::APPLICATION_ID.to_be_bytes()) {
        "is not marked as a vault's: it is cut short, or another program's database"
    } else {
        return Ok(());
    };
    Err(Error::Damaged(format!("{DATABASE} {found}; {DATABASE_REMEDY}")))
}

fn refused(name: &str, path: &Path, error: std::io::Error) -> Error {
    let Some(found) = regular::refused_kind(&error) else { return Error::io("open", path)(error) };
    let remedy = match name {
        DATABASE => return Error::Damaged(format!("{name} cannot be opened: {error}")),
        LOG => {
            "move it away, and put the file of this name back if you moved one away: it holds what was written last. Without \
             one, the vault opens as vault.db has it"
        }
        _ => "move it away: it holds nothing of the vault",
    };
    Error::Damaged(format!("{name} cannot be opened: it is {found} where a regular file belongs; {remedy}"))
}

/// Whether another process has the database open, found out by asking for all of it: every connection holds a lock on the
/// file for as long as it lives. A database that cannot even be asked is nobody's.
pub(crate) fn is_open_elsewhere(dir: &Path) -> bool {
    let ask = || -> rusqlite::Result<()> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let conn = Connection::open_with_flags(database_path(dir), flags)?;
        keep_log(&conn, true)?;
        conn.busy_timeout(std::time::Duration::ZERO)?;
        conn.pragma_update(None, "locking_mode", "EXCLUSIVE")?;
        conn.execute_batch("BEGIN EXCLUSIVE; ROLLBACK")
    };
    let busy = [rusqlite::ErrorCode::DatabaseBusy, rusqlite::ErrorCode::DatabaseLocked];
    check_files(dir).is_ok()
        && ask().is_err_and(|error| error.sqlite_error_code().is_some_and(|code| busy.contains(&code)))
}

/// Opens the one writing connection, creating the file when asked to. Closing it leaves the log as it is until
/// [`keep_log`] lets it go: what lies beside the database may be the log of another one.
pub(crate) fn open_writer(dir: &Path, create: bool) -> Result<Connection> {
    let mut flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    flags.set(OpenFlags::SQLITE_OPEN_CREATE, create);
    let conn = Connection::open_with_flags(database_path(dir), flags)?;
    keep_log(&conn, true)?;
    harden(&conn)?;
    conn.pragma_update(None, "journal_mode", "WAL")?;
    conn.pragma_update(None, "synchronous", "FULL")?;
    conn.pragma_update(None, "secure_delete", true)?;
    conn.pragma_update(None, "cache_size", -16_384)?;
    Ok(conn)
}

/// As [`open_writer`], for a replica: its log makes writes durable, so commits do not wait for the disk, and closing it after a
/// batch does not pay for a checkpoint.
pub(crate) fn open_replica(dir: &Path) -> Result<Connection> {
    let conn = open_writer(dir, false)?;
    conn.pragma_update(None, "synchronous", "NORMAL")?;
    Ok(conn)
}

/// Whether the log stays when the last connection is closed, instead of being moved into the database and removed.
pub(crate) fn keep_log(conn: &Connection, keep: bool) -> rusqlite::Result<()> {
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, keep).map(|_| ())
}

/// Opens a connection that can only read, in a folder that takes the files that SQLite needs beside the database.
pub(crate) fn open_reader(dir: &Path) -> Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let conn = Connection::open_with_flags(database_path(dir), flags)?;
    // The first read is what finds out whether the shared-memory file can be made.
    conn.query_row("SELECT count(*) FROM sqlite_master", [], |_| Ok(()))?;
    for_reading(conn)
}

/// As [`open_reader`], also where the folder cannot be written: the file is then read as an immutable one, which is right
/// only while nobody writes; the second value says so.
pub(crate) fn open_reader_anywhere(dir: &Path) -> Result<(Connection, bool)> {
    let error = match open_reader(dir) {
        Err(Error::Sqlite(error)) if lacks_files(&error) => error,
        opened => return opened.map(|conn| (conn, false)),
    };
    match obstacle(dir) {
        Some(Obstacle::Forbidden) => {}
        // Room may be made while others have it open, and then they write.
        Some(Obstacle::Full) if !Writers::join(dir, true)?.1 => {}
        Some(Obstacle::Untold) if lacks_shared_memory(&error) && !Writers::join(dir, true)?.1 => {}
        Some(Obstacle::Other(source)) => return Err(Error::io("open the database in", dir)(source)),
        Some(Obstacle::Full | Obstacle::Untold) | None => return Err(error.into()),
    }
    // An immutable file is read without its log: what the log holds would be missing without a word.
    if wal_bytes(dir) > 0 {
        return Err(Error::LogPending(database_path(dir)));
    }
    Ok((open_immutable(dir)?, true))
}

/// Opens the database as a file that nobody changes.
pub(crate) fn open_immutable(dir: &Path) -> Result<Connection> {
    let flags =
        OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_URI;
    for_reading(Connection::open_with_flags(immutable_uri(&database_path(dir)), flags)?)
}

fn for_reading(conn: Connection) -> Result<Connection> {
    keep_log(&conn, true)?;
    harden(&conn)?;
    conn.pragma_update(None, "query_only", true)?;
    Ok(conn)
}

/// Whether SQLite could not make or reach a file that it needs beside the database.
fn lacks_files(error: &rusqlite::Error) -> bool {
    use rusqlite::ErrorCode::{CannotOpen, ReadOnly};
    matches!(error.sqlite_error_code(), Some(CannotOpen | ReadOnly)) || lacks_shared_memory(error)
}

/// On a full disk, the shared-memory file can be made and takes nothing.
fn lacks_shared_memory(error: &rusqlite::Error) -> bool {
    use rusqlite::ffi::{SQLITE_IOERR_SHMOPEN, SQLITE_IOERR_SHMSIZE};
    let codes = [SQLITE_IOERR_SHMOPEN, SQLITE_IOERR_SHMSIZE];
    error.sqlite_error().is_some_and(|failure| codes.contains(&failure.extended_code))
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
    std::fs::metadata(dir.join(LOG)).map_or(0, |data| data.len())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whether_a_file_is_lacking_is_asked_where_sqlite_could_not_make_one_and_in_no_other_case() {
        let failed = |code| rusqlite::Error::SqliteFailure(rusqlite::ffi::Error::new(code), None);
        use rusqlite::ffi;
        for code in
            [ffi::SQLITE_CANTOPEN, ffi::SQLITE_READONLY, ffi::SQLITE_IOERR_SHMOPEN, ffi::SQLITE_IOERR_SHMSIZE]
        {
            assert!(lacks_files(&failed(code)), "{code}");
        }
        for code in [
            ffi::SQLITE_IOERR_SHMMAP,
            ffi::SQLITE_IOERR_READ,
            ffi::SQLITE_BUSY,
            ffi::SQLITE_CORRUPT,
            ffi::SQLITE_NOTADB,
        ] {
            assert!(!lacks_files(&failed(code)), "{code}");
        }
    }

    #[test]
    fn a_folder_whose_name_looks_like_a_uri_is_a_folder() {
        assert_eq!(
            database_path(Path::new("file:a?mode=memory")),
            Path::new("./file:a?mode=memory/vault.db")
        );
        assert_eq!(database_path(Path::new("/file:a")), Path::new("/file:a/vault.db"));
    }
}
