//! Who may write a vault of a cluster: kept in the vault itself, changed by commands of its shard's log and by nothing else,
//! so that every copy decides alike. Owns the stored form.

use rusqlite::Connection;
use undercroft_crypto::MacKey;

use super::log_id::LogId;
use crate::error::{Error, Result};
use crate::storage::meta;

/// Who may write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ownership {
    /// Which ownership this is; each move of the vault, and each one given up, gives a fresh one.
    pub epoch: u64,
    /// Which life of the vault: 1 when it was created in a cluster, one more after a forced restore.
    pub incarnation: u64,
    /// The move (or the hold) for which it takes no writes.
    pub frozen_for: Option<u64>,
    /// Index up to which its shard's log is known to be archived.
    pub archived_up_to: u64,
}

/// Version of the stored form.
const VERSION: u8 = 1;
const BYTES: usize = 34;

impl Ownership {
    /// version u8 ‖ epoch u64 ‖ incarnation u64 ‖ frozen u8 ‖ frozen for u64 ‖ archived up to u64.
    fn to_bytes(self) -> Vec<u8> {
        let mut out = Vec::with_capacity(BYTES);
        out.push(VERSION);
        out.extend_from_slice(&self.epoch.to_le_bytes());
        out.extend_from_slice(&self.incarnation.to_le_bytes());
        out.push(u8::from(self.frozen_for.is_some()));
        out.extend_from_slice(&self.frozen_for.unwrap_or_default().to_le_bytes());
        out.extend_from_slice(&self.archived_up_to.to_le_bytes());
        out
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (version, rest) = bytes.split_first()?;
        let (epoch, rest) = rest.split_first_chunk()?;
        let (incarnation, rest) = rest.split_first_chunk()?;
        let (frozen, rest) = rest.split_first()?;
        let (frozen_for, rest) = rest.split_first_chunk()?;
        let found = Self {
            epoch: u64::from_le_bytes(*epoch),
            incarnation: u64::from_le_bytes(*incarnation),
            frozen_for: (*frozen == 1).then(|| u64::from_le_bytes(*frozen_for)),
            archived_up_to: u64::from_le_bytes(rest.try_into().ok()?),
        };
        // What would not be written like this was not written by this program.
        (*version == VERSION && found.to_bytes() == bytes).then_some(found)
    }

    /// Reads and verifies it.
    pub(super) fn load(conn: &Connection, mac: &MacKey) -> Result<Self> {
        required(conn, mac, meta::key::OWNERSHIP, Self::from_bytes)
    }

    /// Stores it inside the caller's transaction.
    pub(super) fn store(self, conn: &Connection, mac: &MacKey) -> Result<()> {
        meta::put(conn, mac, meta::key::OWNERSHIP, &self.to_bytes())
    }
}

/// The last entry that the vault holds, verified.
pub(crate) fn applied(conn: &Connection, mac: &MacKey) -> Result<LogId> {
    required(conn, mac, meta::key::APPLIED, LogId::from_bytes)
}

/// Stores the last entry inside the transaction that carries it.
pub(super) fn store_applied(conn: &Connection, mac: &MacKey, log_id: LogId) -> Result<()> {
    meta::put(conn, mac, meta::key::APPLIED, &log_id.to_bytes())
}

fn required<T>(conn: &Connection, mac: &MacKey, key: &str, read: fn(&[u8]) -> Option<T>) -> Result<T> {
    let missing = || Error::record("meta", key, "its row is missing or malformed");
    read(&meta::get(conn, mac, key)?.ok_or_else(missing)?).ok_or_else(missing)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::Ownership;

    proptest! {
        #[test]
        fn every_ownership_reads_back(
            epoch: u64, incarnation: u64, frozen_for: Option<u64>, archived_up_to: u64,
        ) {
            let ownership = Ownership { epoch, incarnation, frozen_for, archived_up_to };
            prop_assert_eq!(Ownership::from_bytes(&ownership.to_bytes()), Some(ownership));
        }

        #[test]
        fn any_bytes_that_read_are_the_only_bytes(
            bytes in prop::collection::vec(0_u8..3, 30..40),
        ) {
            if let Some(read) = Ownership::from_bytes(&bytes) {
                prop_assert_eq!(read.to_bytes(), bytes);
            }
        }
    }

    #[test]
    fn another_version_and_another_length_are_none() {
        let whole = Ownership { epoch: 1, incarnation: 1, frozen_for: None, archived_up_to: 0 }.to_bytes();
        assert!(Ownership::from_bytes(&whole[..whole.len() - 1]).is_none());
        let mut newer = whole.clone();
        newer[0] = 2;
        assert!(Ownership::from_bytes(&newer).is_none());
        let mut thawed = whole;
        thawed[18] = 1;
        assert!(Ownership::from_bytes(&thawed).is_none());
    }
}
