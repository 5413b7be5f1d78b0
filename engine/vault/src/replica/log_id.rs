//! Where an entry stands in a shard's log, as a vault remembers it. Owns the order and the written forms.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// An entry of a shard's log. Entries of one shard are ordered by their index; entries of two shards are not comparable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct LogId {
    /// Which shard's log.
    pub shard: u32,
    /// Leadership under which it was appended.
    pub term: u64,
    /// Its place.
    pub index: u64,
}

impl LogId {
    /// Bytes of the stored form.
    const BYTES: usize = 20;

    /// Whether a copy that holds everything up to this entry holds `entry` as well.
    #[must_use]
    pub const fn reached(&self, entry: &Self) -> bool {
        self.shard == entry.shard && self.index >= entry.index
    }

    /// shard u32 ‖ term u64 ‖ index u64.
    pub(super) fn to_bytes(self) -> [u8; Self::BYTES] {
        let mut out = [0; Self::BYTES];
        out[..4].copy_from_slice(&self.shard.to_le_bytes());
        out[4..12].copy_from_slice(&self.term.to_le_bytes());
        out[12..].copy_from_slice(&self.index.to_le_bytes());
        out
    }

    pub(super) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (shard, rest) = bytes.split_first_chunk()?;
        let (term, rest) = rest.split_first_chunk()?;
        let index = rest.try_into().ok()?;
        Some(Self {
            shard: u32::from_le_bytes(*shard),
            term: u64::from_le_bytes(*term),
            index: u64::from_le_bytes(index),
        })
    }
}

impl fmt::Display for LogId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.shard, self.term, self.index)
    }
}

impl FromStr for LogId {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let read = || {
            let mut parts = text.split(':');
            let id = Self {
                shard: parts.next()?.parse().ok()?,
                term: parts.next()?.parse().ok()?,
                index: parts.next()?.parse().ok()?,
            };
            // Only the text that is written is read: no signs, no leading zeros, nothing behind.
            (id.to_string() == text).then_some(id)
        };
        read().ok_or_else(|| {
            Error::invalid("log id", "it is written <shard>:<term>:<index>, for example 3:2:1407")
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::LogId;

    proptest! {
        #[test]
        fn every_log_id_reads_back(shard: u32, term: u64, index: u64) {
            let id = LogId { shard, term, index };
            prop_assert_eq!(LogId::from_bytes(&id.to_bytes()), Some(id));
            prop_assert_eq!(id.to_string().parse::<LogId>().unwrap(), id);
        }

        #[test]
        fn any_text_that_reads_is_the_only_text(text in "[0-9:+ ]{0,12}") {
            if let Ok(id) = text.parse::<LogId>() {
                prop_assert_eq!(id.to_string(), text);
            }
        }

        #[test]
        fn bytes_of_another_length_are_none(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
            prop_assert_eq!(LogId::from_bytes(&bytes).is_some(), bytes.len() == LogId::BYTES);
        }
    }

    #[test]
    fn an_entry_of_another_log_is_never_reached() {
        let at = |shard, term, index| LogId { shard, term, index };
        assert!(at(1, 2, 7).reached(&at(1, 2, 7)) && at(1, 3, 8).reached(&at(1, 2, 7)));
        assert!(!at(1, 2, 6).reached(&at(1, 2, 7)) && !at(2, 9, 9).reached(&at(1, 2, 7)));
    }
}
