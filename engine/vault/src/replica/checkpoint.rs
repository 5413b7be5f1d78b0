//! Making durable what a copy holds, without its log. In this order: the database's files, then the manifest, which never
//! leads them; whoever has the log may forget it up to what comes back.

use std::fs::File;
use std::path::Path;

use rusqlite::Connection;
use undercroft_crypto::durable;

use super::state::State;
use crate::error::{Error, Result};
use crate::storage::sqlite;
use crate::vault::Vault;

/// Makes everything that is committed durable, anchors it in the manifest, and says what that is.
///
/// # Errors
/// [`Error::Parked`] while a transaction waits for its replicas; what the disk refuses. The log is still needed then.
pub fn checkpoint(vault: &Vault) -> Result<State> {
    let conn = vault.replicating()?.lock()?;
    settle(vault, &conn)
}

/// The same on the writing connection.
pub(super) fn settle(vault: &Vault, conn: &Connection) -> Result<State> {
    let state = State::load(conn, vault.keyring())?;
    // Readers may hold parts of the log back; they stay in a file that is synced as well.
    sqlite::truncate_wal(conn)?;
    sync_database(vault.dir())?;
    vault.anchor_at(&state.chain, state.applied.to_string())?;
    Ok(state)
}

/// Syncs the database, its log and their names.
fn sync_database(dir: &Path) -> Result<()> {
    for path in sqlite::data_files(dir) {
        match File::open(&path) {
            Ok(file) => file.sync_all().map_err(Error::io("sync", &path))?,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(Error::io("open", &path)(error)),
        }
    }
    durable::sync_dir(dir).map_err(Error::io("sync", dir))
}
