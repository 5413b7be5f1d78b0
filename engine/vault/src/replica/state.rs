//! Where a copy stands: what its holder compares with a floor, with a position in a request, and with other copies.

use std::path::Path;

use rusqlite::Connection;
use undercroft_crypto::{ChainState, KeyGeneration, MasterKey, SealId};

use super::log_id::LogId;
use super::ownership::{self, Ownership};
use crate::audit;
use crate::config::VaultOptions;
use crate::error::Result;
use crate::keyring::Keyring;
use crate::vault::{Access, Vault};

/// Where a copy stands, as one committed state of it shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct State {
    /// The vault's identity in every cipher.
    pub seal_id: SealId,
    /// Its keys.
    pub generation: KeyGeneration,
    /// Who may write it.
    pub ownership: Ownership,
    /// The last entry that it holds.
    pub applied: LogId,
    /// Its audit chain.
    pub chain: ChainState,
}

impl State {
    /// Incarnation and height: what a reply states and a later read can demand.
    #[must_use]
    pub const fn position(&self) -> (u64, u64) {
        (self.ownership.incarnation, self.chain.height.get())
    }

    /// Reads and verifies the state that the connection shows.
    pub(super) fn load(conn: &Connection, keyring: &Keyring) -> Result<Self> {
        let mac = keyring.mac();
        Ok(Self {
            seal_id: *keyring.seal_id(),
            generation: keyring.generation(),
            ownership: Ownership::load(conn, mac)?,
            applied: ownership::applied(conn, mac)?,
            chain: audit::state::load(conn, keyring)?,
        })
    }
}

/// Opens the copy in `dir` for its shard. Nothing is written, healed or anchored by that, and a copy that was not
/// checkpointed is brought to the state of its write-ahead log.
///
/// # Errors
/// As [`Vault::open`]; [`NotOfCluster`](crate::Error::NotOfCluster) for a vault of this machine.
pub fn open(dir: &Path, master: &MasterKey, options: VaultOptions) -> Result<Vault> {
    Vault::open_as(dir, master, options, Access::Shard)
}

/// Where an open copy stands now.
///
/// # Errors
/// An integrity error when its rows do not verify.
pub fn state(vault: &Vault) -> Result<State> {
    vault.readers().snapshot()?.with(|conn| State::load(conn, vault.keyring()))
}

/// Where the copy in `dir` stands, read without changing a byte of it.
///
/// # Errors
/// As [`open`].
pub fn read(dir: &Path, master: &MasterKey, options: &VaultOptions) -> Result<State> {
    let options = VaultOptions { read_only: true, ..options.clone() };
    state(&open(dir, master, options)?)
}
