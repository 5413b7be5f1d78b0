//! The one writing connection of a handle, and who has it: whoever locks it, or an open transaction that waits for others.
//! Waits for a lock, never for a transaction.

use parking_lot::{MappedMutexGuard, Mutex, MutexGuard};
use rusqlite::Connection;

use super::txn::roll_back;
use crate::error::{Error, Result};

/// The place of the writing connection.
pub(crate) struct Writer {
    name: String,
    /// `None` while an open transaction has it.
    slot: Mutex<Option<Connection>>,
}

impl Writer {
    pub(super) fn new(name: &str, conn: Connection) -> Self {
        Self { name: name.to_owned(), slot: Mutex::new(Some(conn)) }
    }

    /// The connection, for as long as the guard lives.
    ///
    /// # Errors
    /// [`Error::Parked`] while an open transaction has it.
    pub(crate) fn lock(&self) -> Result<MappedMutexGuard<'_, Connection>> {
        MutexGuard::try_map(self.slot.lock(), Option::as_mut).map_err(|_| self.parked())
    }

    /// Takes the connection away; [`Writer::put_back`] returns it.
    ///
    /// # Errors
    /// As [`Writer::lock`].
    pub(crate) fn take(&self) -> Result<Connection> {
        self.slot.lock().take().ok_or_else(|| self.parked())
    }

    /// Returns the connection; a transaction that is still open on it did not happen.
    pub(crate) fn put_back(&self, conn: Connection) {
        roll_back(&conn);
        *self.slot.lock() = Some(conn);
    }

    fn parked(&self) -> Error {
        Error::Parked(self.name.clone())
    }
}
