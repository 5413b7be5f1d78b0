//! What the machines of a vault cannot take back: heights and digests of its chain, in a hash chain of their own.
//!
//! Each vault has a list that is only appended to. It is thinned by policy to one entry a day, never below the newest; each
//! entry keeps the hash of the one before it, so what is left still proves its own place.

use std::collections::BTreeMap;

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
    /// Counts up by one within the vault; a gap was thinned out.
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

    pub(super) fn forget(&mut self, vault: VaultId) {
        self.0.remove(&vault);
    }
}

/// The first entry of a list whose neighbour it does not follow from; `None` for a list that holds together.
#[must_use]
pub fn broken_at(vault: VaultId, list: &[Witness]) -> Option<u64> {
    let broken = list.windows(2).find(|pair| {
        let follows = pair[1].number == pair[0].number + 1;
        pair[1].number <= pair[0].number || (follows && pair[1].previous != pair[0].hash(vault))
    });
    broken.map(|pair| pair[1].number)
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
            append(list, report, *reporter, cx.now);
            thin(list, cx.now, days);
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

fn append(list: &mut Vec<Witness>, report: &Report, reporter: NodeId, at: u64) {
    let (number, previous) =
        list.last().map_or((1, [0; 32]), |last| (last.number + 1, last.hash(report.vault)));
    list.push(Witness {
        number,
        position: report.position,
        digest: report.digest,
        head: report.head,
        log_id: report.log_id,
        reporter,
        at,
        previous,
    });
}

/// Keeps the newest entry, the newest of each day, and nothing older than the policy says.
///
/// Lists are short, because each report thins: at most one entry a day and today's newest are looked at.
fn thin(list: &mut Vec<Witness>, now: u64, days: u16) {
    let oldest = (now / DAY_MS).saturating_sub(days.into());
    let mut keep: Vec<bool> = list
        .iter()
        .zip(list.iter().skip(1).map(Some).chain([None]))
        .map(|(entry, next)| {
            let last_of_its_day = next.is_none_or(|next| next.at / DAY_MS != entry.at / DAY_MS);
            next.is_none() || (last_of_its_day && entry.at / DAY_MS >= oldest)
        })
        .collect();
    let over = keep.iter().filter(|keep| **keep).count().saturating_sub(limits::WITNESSES);
    keep.iter_mut().filter(|keep| **keep).take(over).for_each(|keep| *keep = false);
    let mut at = 0;
    list.retain(|_| {
        at += 1;
        keep[at - 1]
    });
    list.shrink_to_fit();
}

/// The height that a copy of a vault must have reached, by what was witnessed of its present life.
#[must_use]
pub fn witnessed_height(list: &[Witness], incarnation: Incarnation) -> Option<Height> {
    let newest = list.iter().rev().find(|entry| entry.position.incarnation == incarnation);
    newest.map(|entry| entry.position.height)
}
