//! What the machines of a vault cannot take back: heights and digests of its chain, in a hash chain of their own.
//!
//! Each vault has a list with one entry a day, the newest report of that day, for as many days as the policy says. Each entry has
//! the hash of the one before it, so an entry whose day is over can be changed or left out only with all that follow.

use std::collections::BTreeMap;
use std::ops::Bound;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use undercroft_proto::{Height, Incarnation, NodeId, Position, ShardId, VaultId};

use super::context::Context;
use super::{Noun, Outcome, Refusal, State, Subject};
use crate::limits;

/// Milliseconds of a day.
const DAY_MS: u64 = 24 * 60 * 60 * 1000;

/// What the leader of a shard says of one vault.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// The vault.
    pub vault: VaultId,
    /// Its life and the height of its chain.
    pub position: Position,
    /// SHA-256 over the height and the running digest of the chain's labels.
    pub digest: [u8; 32],
    /// Head of the chain. It changes with rotation, so it corroborates and does not prove.
    pub head: [u8; 32],
    /// Term and index of the entry of the shard's log that brought the vault there.
    pub log_id: (u64, u64),
}

/// One entry of a vault's list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Witness {
    /// Counts up by one within the vault; the first ones go with time.
    pub number: u64,
    /// Life and height.
    pub position: Position,
    /// The digest at that height.
    pub digest: [u8; 32],
    /// The head at that height, when it was reported.
    pub head: [u8; 32],
    /// The entry of the shard's log.
    pub log_id: (u64, u64),
    /// Who reported it.
    pub reporter: NodeId,
    /// When, by the cluster's time.
    pub at: u64,
    /// Hash of the entry before it; zeros before the first.
    pub previous: [u8; 32],
}

impl Witness {
    /// SHA-256 over the vault and every field, numbers as eight bytes, little-endian, in the order of declaration.
    #[must_use]
    pub fn hash(&self, vault: VaultId) -> [u8; 32] {
        let mut hash = Sha256::new();
        hash.update(b"undercroft/witness/1\x1f");
        hash.update(vault.as_u128().to_be_bytes());
        for number in [self.number, self.position.incarnation.get(), self.position.height.get()] {
            hash.update(number.to_le_bytes());
        }
        hash.update(self.digest);
        hash.update(self.head);
        for number in [self.log_id.0, self.log_id.1, self.reporter.get(), self.at] {
            hash.update(number.to_le_bytes());
        }
        hash.update(self.previous);
        hash.finalize().into()
    }
}

/// A decision about witnesses.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum WitnessCommand {
    /// What the leader of a shard reports.
    Report {
        /// The shard.
        shard: ShardId,
        /// Who reports.
        reporter: NodeId,
        /// The vaults that changed.
        reports: Vec<Report>,
    },
}

/// The lists, by vault.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Witnesses(BTreeMap<VaultId, Vec<Witness>>);

impl Witnesses {
    /// The entries of a vault, oldest first.
    #[must_use]
    pub fn of(&self, vault: VaultId) -> &[Witness] {
        self.0.get(&vault).map_or(&[], Vec::as_slice)
    }

    /// The lists, by vault.
    pub fn iter(&self) -> impl Iterator<Item = (VaultId, &[Witness])> {
        self.0.iter().map(|(vault, list)| (*vault, list.as_slice()))
    }

    /// The lists of the vaults behind one, by vault; all of them behind none.
    pub fn after(&self, vault: Option<VaultId>) -> impl Iterator<Item = (VaultId, &[Witness])> {
        let from = vault.map_or(Bound::Unbounded, Bound::Excluded);
        self.0.range((from, Bound::Unbounded)).map(|(vault, list)| (*vault, list.as_slice()))
    }

    pub(super) fn forget(&mut self, vault: VaultId) {
        self.0.remove(&vault);
    }
}

/// The first entry of a list that does not follow from the one before it; `None` for a list that holds together.
#[must_use]
pub fn broken_at(vault: VaultId, list: &[Witness]) -> Option<u64> {
    let follows =
        |pair: &[Witness]| pair[1].number == pair[0].number + 1 && pair[1].previous == pair[0].hash(vault);
    list.windows(2).find(|pair| !follows(pair)).map(|pair| pair[1].number)
}

pub(super) fn apply(
    state: &mut State,
    cx: &mut Context,
    command: &WitnessCommand,
) -> Result<Outcome, Refusal> {
    let WitnessCommand::Report { shard, reporter, reports } = command;
    let days = state.cluster.settings.as_ref().ok_or(Refusal::NotInitialised)?.witness_days;
    let found = state.shards.get(*shard).ok_or_else(|| Refusal::no_such(Noun::Shard, shard))?;
    if !found.mentions(*reporter) {
        return Err(Refusal::field("reporter", format!("node {reporter} has no replica of shard {shard}")));
    }
    let (mut kept, mut conflicting) = (0, Vec::new());
    for report in reports {
        // A report about a vault that has moved away or is gone was on its way when that was decided.
        let Some(vault) = state.vaults.get(report.vault).filter(|vault| vault.shard == *shard) else {
            continue;
        };
        if report.position.incarnation != vault.incarnation {
            continue;
        }
        let list = state.witnesses.0.entry(report.vault).or_default();
        if contradicts(list, report) {
            let at = report.position;
            let what = format!("node {reporter} reports another digest at {at} than was witnessed");
            cx.decide(
                Subject::Vault(report.vault),
                &what,
                "one of two copies is not what it was: verify both",
            );
            conflicting.push(report.vault);
        } else if list.last().is_none_or(|newest| newest.position < report.position) {
            keep(list, report, *reporter, cx.now);
            prune(list, cx.now, days);
            kept += 1;
        }
    }
    Ok(Outcome::Witnessed { kept, conflicting })
}

/// Whether an entry of the same life and height has another digest.
fn contradicts(list: &[Witness], report: &Report) -> bool {
    let same = list.binary_search_by(|entry| entry.position.cmp(&report.position));
    same.is_ok_and(|at| list[at].digest != report.digest)
}

/// Keeps a report as the entry of its day and life: in the place of what was said before on that day, or behind the last.
///
/// So numbers have no gap, and each entry but the last is what the next one's hash is about.
fn keep(list: &mut Vec<Witness>, report: &Report, reporter: NodeId, at: u64) {
    let position = report.position;
    let replaced = list
        .pop_if(|last| last.at / DAY_MS == at / DAY_MS && last.position.incarnation == position.incarnation);
    let (number, previous) = match (replaced, list.last()) {
        (Some(replaced), _) => (replaced.number, replaced.previous),
        (None, Some(last)) => (last.number + 1, last.hash(report.vault)),
        (None, None) => (1, [0; 32]),
    };
    let Report { digest, head, log_id, .. } = *report;
    list.push(Witness { number, position, digest, head, log_id, reporter, at, previous });
}

/// Lets the oldest entries go that the policy does not keep, and never the newest.
fn prune(list: &mut Vec<Witness>, now: u64, days: u16) {
    let oldest = (now / DAY_MS).saturating_sub(days.into());
    let old = list.iter().take_while(|entry| entry.at / DAY_MS < oldest).count();
    let over = list.len().saturating_sub(limits::WITNESSES);
    list.drain(..old.max(over).min(list.len().saturating_sub(1)));
    list.shrink_to_fit();
}

/// The height that a copy of a vault must have reached, by what was witnessed of its present life.
#[must_use]
pub fn witnessed_height(list: &[Witness], incarnation: Incarnation) -> Option<Height> {
    let newest = list.iter().rev().find(|entry| entry.position.incarnation == incarnation);
    newest.map(|entry| entry.position.height)
}

#[cfg(test)]
#[path = "witnesses_test.rs"]
mod witnesses_test;
