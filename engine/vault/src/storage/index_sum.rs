//! Whether a SQL index holds exactly the entries that its table demands, without asking for each. An index that leads nowhere
//! makes a lookup miss what is there, and SQLite believes it.

use std::hash::{DefaultHasher, Hasher as _};

use rusqlite::Connection;
use rusqlite::types::ValueRef;
use undercroft_crypto::TagDomain;

use crate::error::Result;
use crate::keyring::Keyring;

/// Hashes entries with a key of the vault's: the sum of the hashes, modulo 2^64, does not depend on the order of rows, and
/// without the key nobody can choose entries whose sum is the same.
pub(crate) struct EntryHash {
    keyed: DefaultHasher,
}

impl EntryHash {
    pub(crate) fn new(keyring: &Keyring) -> Self {
        let mut keyed = DefaultHasher::new();
        keyed.write(keyring.tag(TagDomain::Event, &[b"verify/index-sums"]).as_bytes());
        Self { keyed }
    }

    /// The hash of the entry with these columns, numbers as eight bytes, highest first. `None` for one that no index of
    /// this format can hold.
    pub(crate) fn of(&self, columns: &[&[u8]]) -> Option<u64> {
        let mut entry = Entry::EMPTY;
        columns.iter().all(|column| entry.push(column)).then(|| self.hash(&entry))
    }

    fn hash(&self, entry: &Entry) -> u64 {
        let mut hasher = self.keyed.clone();
        hasher.write(entry.bytes());
        hasher.finish()
    }

    /// The sum over the entries that `sql` reads from an index alone (`columns` columns, then the row's number or key), `None`
    /// when they are not in order.
    pub(crate) fn scan(&self, conn: &Connection, sql: &str, columns: usize) -> Result<Option<u64>> {
        let mut statement = conn.prepare(sql)?;
        let mut rows = statement.query([])?;
        let (mut sum, mut last) = (0u64, Entry::EMPTY);
        while let Some(row) = rows.next()? {
            let mut entry = Entry::EMPTY;
            for at in 0..=columns {
                let taken = match row.get_ref(at)? {
                    ValueRef::Integer(number) => entry.push(&number.to_be_bytes()),
                    ValueRef::Blob(bytes) => entry.push(bytes),
                    _ => false,
                };
                if !taken {
                    return Ok(None);
                }
            }
            if last >= entry {
                return Ok(None);
            }
            sum = sum.wrapping_add(self.hash(&entry));
            last = entry;
        }
        Ok(Some(sum))
    }
}

/// Longest entry: two blind columns and a number, each after its length.
const ENTRY_BYTES: usize = 2 * (1 + 16) + (1 + 8);

/// The columns of an entry, each after its length. Entries of one index have columns of equal lengths and no negative
/// numbers, so they sort as SQLite sorts them; any other entry is in no sum.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    bytes: [u8; ENTRY_BYTES],
    len: usize,
}

impl Entry {
    const EMPTY: Self = Self { bytes: [0; ENTRY_BYTES], len: 0 };

    /// Adds a column; `false` when it does not fit.
    fn push(&mut self, column: &[u8]) -> bool {
        let end = self.len + 1 + column.len();
        let (Ok(length), Some(room)) = (u8::try_from(column.len()), self.bytes.get_mut(self.len..end)) else {
            return false;
        };
        room[0] = length;
        room[1..].copy_from_slice(column);
        self.len = end;
        true
    }

    fn bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}
