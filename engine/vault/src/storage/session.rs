//! The session extension of SQLite, as little of it as replication needs: record the changes of listed tables on one
//! connection, take them as a changeset before commit, apply a changeset elsewhere.
//!
//! rusqlite offers this only behind a feature that runs bindgen, which needs libclang on the building machine. The
//! bundled SQLite is compiled with the extension (`.cargo/config.toml`), and the functions are declared here from
//! `sqlite3session.h`. This is the only file of the crate with `unsafe` in it.
#![allow(unsafe_code)]

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::marker::PhantomData;
use std::ptr;

use rusqlite::{Connection, ffi};

use crate::error::{Error, Result};

#[repr(C)]
struct RawSession {
    _opaque: [u8; 0],
}

#[repr(C)]
struct RawIter {
    _opaque: [u8; 0],
}

type Filter = unsafe extern "C" fn(*mut c_void, *const c_char) -> c_int;
type Conflict = unsafe extern "C" fn(*mut c_void, c_int, *mut RawIter) -> c_int;

unsafe extern "C" {
    fn sqlite3session_create(db: *mut ffi::sqlite3, name: *const c_char, out: *mut *mut RawSession) -> c_int;
    fn sqlite3session_delete(session: *mut RawSession);
    fn sqlite3session_attach(session: *mut RawSession, table: *const c_char) -> c_int;
    fn sqlite3session_object_config(session: *mut RawSession, option: c_int, argument: *mut c_void) -> c_int;
    fn sqlite3session_changeset_size(session: *mut RawSession) -> ffi::sqlite3_int64;
    fn sqlite3session_changeset(session: *mut RawSession, len: *mut c_int, out: *mut *mut c_void) -> c_int;
    fn sqlite3changeset_apply(
        db: *mut ffi::sqlite3,
        len: c_int,
        changeset: *mut c_void,
        filter: Option<Filter>,
        conflict: Option<Conflict>,
        context: *mut c_void,
    ) -> c_int;
}

/// `SQLITE_SESSION_OBJCONFIG_SIZE`: keep count of how large the changeset can become.
const COUNT_SIZE: c_int = 1;
/// `SQLITE_CHANGESET_ABORT`: a conflict undoes the whole changeset.
const ABORT: c_int = 2;

/// Records changes of the attached tables on one connection, from its creation until it is dropped.
/// Not `Send`: it lives on the thread of its connection's transaction.
pub(super) struct Session<'conn> {
    raw: *mut RawSession,
    conn: PhantomData<&'conn Connection>,
}

impl<'conn> Session<'conn> {
    /// Starts recording the named tables. Each must have a primary key: SQLite skips others silently.
    pub(super) fn start(conn: &'conn Connection, tables: &[&str]) -> Result<Self> {
        let mut raw = ptr::null_mut();
        // SAFETY: `handle` is open for the lifetime 'conn, which the session may not outlive; "main" is NUL-ended;
        // `raw` is a valid place for the result.
        let code = unsafe { sqlite3session_create(conn.handle(), c"main".as_ptr(), &raw mut raw) };
        check(code, "start recording changes")?;
        let session = Self { raw, conn: PhantomData };
        let mut on: c_int = 1;
        // SAFETY: the session is live and has no table yet, as the option demands; `on` is the integer that it reads.
        let code = unsafe { sqlite3session_object_config(raw, COUNT_SIZE, (&raw mut on).cast()) };
        check(code, "count the size of changes")?;
        for table in tables {
            let name =
                CString::new(*table).map_err(|_| Error::invalid("table", "a table name holds no NUL"))?;
            // SAFETY: the session is live and `name` is NUL-ended; SQLite copies it.
            let code = unsafe { sqlite3session_attach(session.raw, name.as_ptr()) };
            check(code, "record a table's changes")?;
        }
        Ok(session)
    }

    /// The most bytes that the changeset can have, without making it. What was rolled back still counts.
    pub(super) fn size_bound(&self) -> u64 {
        // SAFETY: the session is live.
        let bytes = unsafe { sqlite3session_changeset_size(self.raw) };
        u64::try_from(bytes).unwrap_or(u64::MAX)
    }

    /// The changes so far, in SQLite's changeset format.
    pub(super) fn changeset(&self) -> Result<Vec<u8>> {
        let mut len: c_int = 0;
        let mut out: *mut c_void = ptr::null_mut();
        // SAFETY: the session is live, both out-places are valid; on success `out` points at `len` bytes that we own.
        let code = unsafe { sqlite3session_changeset(self.raw, &raw mut len, &raw mut out) };
        check(code, "take the changes")?;
        let bytes = if out.is_null() {
            Vec::new()
        } else {
            let len = usize::try_from(len).unwrap_or(0);
            // SAFETY: SQLite just wrote `len` initialised bytes there.
            unsafe { std::slice::from_raw_parts(out.cast::<u8>(), len) }.to_vec()
        };
        // SAFETY: the buffer came from SQLite's allocator and is not used again; NULL is allowed.
        unsafe { ffi::sqlite3_free(out) };
        Ok(bytes)
    }
}

impl Drop for Session<'_> {
    fn drop(&mut self) {
        // SAFETY: the session is live and its connection still open; nothing uses it afterwards.
        unsafe { sqlite3session_delete(self.raw) }
    }
}

/// Applies a changeset to the listed tables. Any conflict (a row that is not as the changeset remembers it), or a
/// table outside the list, undoes all of it and is an error.
pub(super) fn apply(conn: &Connection, changeset: &[u8], tables: &[&str]) -> Result<()> {
    // SQLite skips a table that the filter refuses and goes on with the others: those are undone here.
    conn.execute_batch("SAVEPOINT changeset")?;
    let applied = apply_open(conn, changeset, tables);
    if applied.is_err() {
        conn.execute_batch("ROLLBACK TO changeset")?;
    }
    conn.execute_batch("RELEASE changeset")?;
    applied
}

fn apply_open(conn: &Connection, changeset: &[u8], tables: &[&str]) -> Result<()> {
    let len = c_int::try_from(changeset.len())
        .map_err(|_| Error::invalid("changeset", "larger than 2 GiB; split the transaction"))?;
    let mut context = ApplyContext { tables, foreign: false };
    // SAFETY: the connection is open and used by this thread alone during the call; SQLite only reads `len` bytes of
    // the changeset (the parameter is `void*` for historical reasons); the callbacks get the pointer to `context`,
    // which outlives the call, and nothing else points at it.
    let code = unsafe {
        sqlite3changeset_apply(
            conn.handle(),
            len,
            changeset.as_ptr().cast_mut().cast(),
            Some(listed),
            Some(refuse),
            (&raw mut context).cast(),
        )
    };
    if context.foreign {
        return Err(Error::record("changeset", "segment", "it changes a table outside the list"));
    }
    check(code, "apply the changes")
}

struct ApplyContext<'a> {
    tables: &'a [&'a str],
    foreign: bool,
}

unsafe extern "C" fn listed(context: *mut c_void, table: *const c_char) -> c_int {
    // SAFETY: SQLite hands back the context given to `sqlite3changeset_apply` and a NUL-ended table name.
    let (context, table) = unsafe { (&mut *context.cast::<ApplyContext<'_>>(), CStr::from_ptr(table)) };
    let known = table.to_str().is_ok_and(|name| context.tables.contains(&name));
    context.foreign |= !known;
    c_int::from(known)
}

unsafe extern "C" fn refuse(_: *mut c_void, _: c_int, _: *mut RawIter) -> c_int {
    ABORT
}

fn check(code: c_int, action: &str) -> Result<()> {
    if code == ffi::SQLITE_OK {
        return Ok(());
    }
    let failure = ffi::Error::new(code);
    Err(rusqlite::Error::SqliteFailure(failure, Some(format!("cannot {action}"))).into())
}
