//! Blind forms that were computed before: a vault has few wings and rooms, and many drawers in each.

use rustc_hash::FxHashMap;
use undercroft_crypto::{Blind, BlindColumn};

use crate::keyring::Keyring;

/// Values remembered at most; past that the memory begins anew.
const VALUES: usize = 4_096;

/// The blind forms of one column's values, of one key generation.
#[derive(Debug)]
pub(super) struct Memo {
    column: BlindColumn,
    known: FxHashMap<String, Blind>,
}

impl Memo {
    pub(super) fn new(column: BlindColumn) -> Self {
        Self { column, known: FxHashMap::default() }
    }

    /// The blind form of `value`.
    pub(super) fn blind(&mut self, keyring: &Keyring, value: &str) -> Blind {
        if let Some(known) = self.known.get(value) {
            return *known;
        }
        if self.known.len() == VALUES {
            self.known.clear();
        }
        let blind = keyring.blind(self.column, value.as_bytes());
        self.known.insert(value.to_owned(), blind);
        blind
    }
}
