//! Bodies of records that have a structure of their own: what holds for a group, and floors. Bytes in, bytes out.

use std::collections::BTreeMap;

use bytes::Bytes;
use undercroft_proto::VaultId;

use super::names::{Floor, FloorChange, LogId, Vote};

/// Bytes of a [`Standing`].
pub const STANDING: usize = 17 + 3 * 25 + 8;

/// What holds for a group besides its entries and its floor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Standing {
    /// Whom its member voted for.
    pub vote: Option<Vote>,
    /// What is known to be committed.
    pub committed: Option<LogId>,
    /// The last entry that was purged.
    pub purged: Option<LogId>,
    /// The last entry, or the purged one when there is none.
    pub last: Option<LogId>,
    /// Where the log begins: behind the purged entry, otherwise where it was begun.
    pub begin: u64,
}

/// The bytes of a standing.
#[must_use]
pub fn write_standing(standing: &Standing) -> Vec<u8> {
    let mut out = Vec::with_capacity(STANDING);
    let vote = standing.vote;
    out.push(vote.map_or(0, |vote| 1 + u8::from(vote.committed)));
    out.extend(vote.map_or(0, |vote| vote.term).to_le_bytes());
    out.extend(vote.map_or(0, |vote| vote.node).to_le_bytes());
    for log_id in [standing.committed, standing.purged, standing.last] {
        write_optional(&mut out, log_id);
    }
    out.extend(standing.begin.to_le_bytes());
    out
}

/// A standing that fills `bytes` exactly.
#[must_use]
pub fn read_standing(bytes: &[u8]) -> Option<Standing> {
    let mut rest = Rest(bytes);
    let (voted, term, node) = (rest.byte()?, rest.number()?, rest.number()?);
    let vote = match voted {
        0 => None,
        1 | 2 => Some(Vote { term, node, committed: voted == 2 }),
        _ => return None,
    };
    let (committed, purged, last) = (rest.optional()?, rest.optional()?, rest.optional()?);
    let begin = rest.number()?;
    rest.0.is_empty().then_some(Standing { vote, committed, purged, last, begin })
}

/// The bytes of a floor; its log id stands in the frame.
#[must_use]
pub fn write_floor(floor: &Floor) -> Vec<u8> {
    let mut out = Vec::with_capacity(8 + floor.membership.len() + 40 * floor.vaults.len());
    write_lengthy(&mut out, &floor.membership);
    out.extend((floor.vaults.len() as u32).to_le_bytes());
    for (vault, log_id) in &floor.vaults {
        out.extend(vault.as_u128().to_le_bytes());
        write_log_id(&mut out, *log_id);
    }
    out
}

/// A floor that fills `bytes` exactly.
#[must_use]
pub fn read_floor(log_id: LogId, bytes: &[u8]) -> Option<Floor> {
    let mut rest = Rest(bytes);
    let membership = rest.lengthy()?;
    let mut vaults = BTreeMap::new();
    for _ in 0..rest.count()? {
        vaults.insert(rest.vault()?, rest.log_id()?);
    }
    let floor = Floor { log_id, membership, vaults };
    (rest.0.is_empty() && floor.is_bounded()).then_some(floor)
}

/// The bytes of a change; its log id stands in the frame.
#[must_use]
pub fn write_floor_change(change: &FloorChange) -> Vec<u8> {
    let mut out = Vec::with_capacity(16 + 41 * change.vaults.len());
    out.push(u8::from(change.membership.is_some()));
    write_lengthy(&mut out, change.membership.as_deref().unwrap_or_default());
    out.extend((change.vaults.len() as u32).to_le_bytes());
    for (vault, log_id) in &change.vaults {
        out.extend(vault.as_u128().to_le_bytes());
        write_optional(&mut out, *log_id);
    }
    out
}

/// A change that fills `bytes` exactly.
#[must_use]
pub fn read_floor_change(log_id: LogId, bytes: &[u8]) -> Option<FloorChange> {
    let mut rest = Rest(bytes);
    let (has, membership) = (rest.byte()?, rest.lengthy()?);
    let membership = match has {
        0 if membership.is_empty() => None,
        1 => Some(membership),
        _ => return None,
    };
    let mut vaults = Vec::new();
    for _ in 0..rest.count()? {
        vaults.push((rest.vault()?, rest.optional()?));
    }
    rest.0.is_empty().then_some(FloorChange { log_id, membership, vaults })
}

fn write_log_id(out: &mut Vec<u8>, log_id: LogId) {
    for number in [log_id.term, log_id.node, log_id.index] {
        out.extend(number.to_le_bytes());
    }
}

fn write_optional(out: &mut Vec<u8>, log_id: Option<LogId>) {
    out.push(u8::from(log_id.is_some()));
    write_log_id(out, log_id.unwrap_or(LogId::new(0, 0, 0)));
}

fn write_lengthy(out: &mut Vec<u8>, bytes: &[u8]) {
    out.extend((bytes.len() as u32).to_le_bytes());
    out.extend(bytes);
}

/// What is left to read. Nothing is taken for granted: every step may find too little.
struct Rest<'a>(&'a [u8]);

impl Rest<'_> {
    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (array, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*array)
    }

    fn byte(&mut self) -> Option<u8> {
        self.array::<1>().map(|[byte]| byte)
    }

    fn number(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }

    fn count(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    fn vault(&mut self) -> Option<VaultId> {
        self.array().map(u128::from_le_bytes).map(VaultId::from_u128)
    }

    fn log_id(&mut self) -> Option<LogId> {
        Some(LogId::new(self.number()?, self.number()?, self.number()?))
    }

    fn optional(&mut self) -> Option<Option<LogId>> {
        let (has, log_id) = (self.byte()?, self.log_id()?);
        match has {
            0 if log_id == LogId::new(0, 0, 0) => Some(None),
            1 => Some(Some(log_id)),
            _ => None,
        }
    }

    fn lengthy(&mut self) -> Option<Bytes> {
        let length = self.count()? as usize;
        let (bytes, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(Bytes::copy_from_slice(bytes))
    }
}
