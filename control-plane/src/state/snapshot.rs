//! The state as bytes and back. What is derived is left out and made again.

use super::State;
use crate::Error;

/// The newest version of snapshots that this build knows.
pub const SNAPSHOT_VERSION: u32 = 1;

const WHAT: &str = "a snapshot of the control group's state";

impl State {
    /// The state's bytes: the version as four bytes, little-endian, then every part in postcard.
    ///
    /// # Errors
    /// [`Error::Unreadable`], which does not happen: every part can be written.
    pub fn encode(&self) -> Result<Vec<u8>, Error> {
        let head = SNAPSHOT_VERSION.to_le_bytes().to_vec();
        postcard::to_extend(self, head).map_err(|error| unreadable(error.to_string()))
    }

    /// Reads a state and checks every invariant of it.
    ///
    /// # Errors
    /// [`Error::Version`] for one that a newer build wrote, [`Error::Unreadable`] for damage, [`Error::Invariant`] for a
    /// state that cannot be.
    pub fn decode(bytes: &[u8]) -> Result<Self, Error> {
        let Some((head, body)) = bytes.split_first_chunk::<4>() else {
            return Err(unreadable(format!("it has {} bytes", bytes.len())));
        };
        let found = u32::from_le_bytes(*head);
        if found == 0 || found > SNAPSHOT_VERSION {
            return Err(Error::Version { what: WHAT, found, known: SNAPSHOT_VERSION });
        }
        let (mut state, rest) =
            postcard::take_from_bytes::<Self>(body).map_err(|error| unreadable(error.to_string()))?;
        if !rest.is_empty() {
            return Err(unreadable(format!("{} bytes are left", rest.len())));
        }
        state.vaults.reindex();
        state.tenants.reindex();
        super::invariants::all(&state)?;
        Ok(state)
    }
}

fn unreadable(problem: String) -> Error {
    Error::Unreadable { what: WHAT, problem }
}
