//! Which shard holds which vault, in which ownership epoch and which life, and the records of its key generations.
//!
//! Generations are sealed by nodes for nodes: here they are bytes.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use undercroft_proto::{Epoch, Incarnation, MoveId, ShardId, TenantId, VaultId};

use super::context::Context;
use super::listed::listed;
use super::{Noun, Outcome, Refusal, State, Subject, check};
use crate::limits;

/// How a vault keeps its texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Level {
    /// Encrypted and authenticated.
    #[serde(rename = "sealed")]
    Sealed,
    /// Authenticated only.
    #[serde(rename = "hmac-only")]
    HmacOnly,
}

/// The record of one key generation of a vault.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Generation {
    /// The life of the vault that it belongs to.
    pub incarnation: Incarnation,
    /// Counts up within the vault.
    pub number: u64,
    /// Salt and seed, sealed so that only nodes can open them.
    pub sealed: Box<[u8]>,
}

/// A move of a vault that has not been decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Moving {
    /// The move.
    pub id: MoveId,
    /// Where to.
    pub to: ShardId,
    /// When it began, by the cluster's time.
    pub since: u64,
}

/// A vault.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Vault {
    /// Its id.
    pub id: VaultId,
    /// Whose it is.
    pub tenant: TenantId,
    /// The shard that owns it.
    pub shard: ShardId,
    /// Which ownership this is.
    pub epoch: Epoch,
    /// Which life this is.
    pub incarnation: Incarnation,
    /// How it keeps its texts.
    pub level: Level,
    /// The move under way.
    pub moving: Option<Moving>,
    /// Its key generations, oldest first.
    pub generations: Vec<Generation>,
}

/// A vault that was dropped and whose generations an archive may still need.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dropped {
    /// Whose it was.
    pub tenant: TenantId,
    /// When it was dropped, by the cluster's time.
    pub at: u64,
    /// Its key generations, oldest first.
    pub generations: Vec<Generation>,
}

/// A decision about vaults.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum VaultCommand {
    /// Begins to move a vault.
    BeginMove {
        /// The vault.
        vault: VaultId,
        /// Where to.
        to: ShardId,
        /// Why.
        reason: String,
    },
    /// Ends a move, one way or the other. Either way the vault gets a fresh epoch.
    DecideMove {
        /// The vault.
        vault: VaultId,
        /// The move.
        id: MoveId,
        /// Whether the vault is where it was to go; else it stays.
        flip: bool,
        /// Why.
        reason: String,
    },
    /// Keeps the record of a new key generation.
    AddGeneration {
        /// The vault.
        vault: VaultId,
        /// The generation: one above the newest, in the vault's present life.
        generation: Generation,
    },
    /// Destroys the records of generations below one, for good.
    DropGenerations {
        /// The vault, which may be dropped already.
        vault: VaultId,
        /// The lowest to keep.
        below: u64,
        /// Why.
        reason: String,
    },
    /// Begins a new life of a vault: it was restored to an earlier state by force.
    Revive {
        /// The vault.
        vault: VaultId,
        /// Why.
        reason: String,
    },
    /// Forgets a dropped vault with its generations: no archive needs them.
    Destroy {
        /// The vault.
        vault: VaultId,
    },
}

/// The vaults, by id.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Vaults {
    map: BTreeMap<VaultId, Vault>,
    dropped: BTreeMap<VaultId, Dropped>,
    /// The highest id that was ever minted: every later one is above it, so none is used twice.
    pub(super) highest: VaultId,
    pub(super) next_move: MoveId,
    /// Vaults of each shard. Derived.
    #[serde(skip)]
    counts: BTreeMap<ShardId, u64>,
}

impl Default for Vaults {
    fn default() -> Self {
        Self {
            map: BTreeMap::new(),
            dropped: BTreeMap::new(),
            highest: VaultId::from_u128(0),
            next_move: MoveId::FIRST,
            counts: BTreeMap::new(),
        }
    }
}

listed!(Vaults, VaultId, Vault, "vault", "vaults");

impl Vaults {
    /// The dropped vaults whose generations are kept, by id.
    pub fn dropped(&self) -> impl Iterator<Item = (VaultId, &Dropped)> {
        self.dropped.iter().map(|(id, dropped)| (*id, dropped))
    }

    /// How many vaults a shard holds.
    #[must_use]
    pub fn count(&self, shard: ShardId) -> u64 {
        self.counts.get(&shard).copied().unwrap_or(0)
    }

    pub(super) fn reindex(&mut self) {
        self.counts.clear();
        for vault in self.map.values() {
            *self.counts.entry(vault.shard).or_default() += 1;
        }
    }

    /// An id that was never given out: of this time and these random bits, or right behind the highest.
    ///
    /// A clock that goes back cannot bring an old id again (the "monotonic" ULIDs of the specification).
    pub(super) fn mint(&mut self, now: u64, random: u128) -> VaultId {
        let wanted = VaultId::from_parts(now & ((1 << 48) - 1), random);
        // Behind the highest there is always a next one: the time in it has 48 bits and ends in the year 10889.
        let id = if wanted > self.highest { wanted } else { self.highest.next().unwrap_or(wanted) };
        self.highest = id;
        id
    }

    pub(super) fn insert(&mut self, vault: Vault) {
        *self.counts.entry(vault.shard).or_default() += 1;
        self.map.insert(vault.id, vault);
    }

    pub(super) fn drop(&mut self, vault: VaultId, now: u64) {
        if let Some(gone) = self.map.remove(&vault) {
            self.uncount(gone.shard);
            if !gone.generations.is_empty() {
                let kept = Dropped { tenant: gone.tenant, at: now, generations: gone.generations };
                self.dropped.insert(vault, kept);
            }
        }
    }

    fn uncount(&mut self, shard: ShardId) {
        if let Some(count) = self.counts.get_mut(&shard) {
            *count = count.saturating_sub(1);
        }
    }

    fn get_mut(&mut self, vault: VaultId) -> Result<&mut Vault, Refusal> {
        self.map.get_mut(&vault).ok_or_else(|| Refusal::no_such(Noun::Vault, vault))
    }
}

/// The shard that a new vault goes to: of those with replicas the one with the fewest vaults, and of these the first.
#[must_use]
pub fn emptiest_shard(state: &State) -> Option<ShardId> {
    let placed = state.shards.iter().filter(|shard| !shard.voters.is_empty());
    placed.map(|shard| (state.vaults.count(shard.id), shard.id)).min().map(|(_, shard)| shard)
}

pub(super) fn apply(state: &mut State, cx: &mut Context, command: &VaultCommand) -> Result<Outcome, Refusal> {
    match command {
        VaultCommand::BeginMove { vault, to, reason } => begin_move(state, cx, *vault, *to, reason),
        VaultCommand::DecideMove { vault, id, flip, reason } => {
            decide_move(state, cx, (*vault, *id), *flip, reason)
        }
        VaultCommand::AddGeneration { vault, generation } => add_generation(state, cx, *vault, generation),
        VaultCommand::DropGenerations { vault, below, reason } => {
            drop_generations(state, cx, *vault, *below, reason)
        }
        VaultCommand::Revive { vault, reason } => {
            let found = state.vaults.get_mut(*vault)?;
            busy(found)?;
            found.incarnation = found.incarnation.next();
            found.epoch = found.epoch.next();
            let incarnation = found.incarnation;
            cx.touch_vault(*vault);
            cx.decide(Subject::Vault(*vault), &format!("began life {incarnation}"), reason);
            Ok(Outcome::Incarnation(incarnation))
        }
        VaultCommand::Destroy { vault } => {
            let gone = state.vaults.dropped.remove(vault);
            gone.ok_or_else(|| Refusal::no_such(Noun::Vault, vault))?;
            cx.decide(Subject::Vault(*vault), "generations destroyed", "no archive needs them");
            Ok(Outcome::Done)
        }
    }
}

fn busy(vault: &Vault) -> Result<(), Refusal> {
    let Some(moving) = vault.moving else { return Ok(()) };
    let doing = format!("move {} to shard {} is under way", moving.id, moving.to);
    Err(Refusal::Busy { what: Noun::Vault, id: vault.id.to_string(), doing })
}

fn begin_move(
    state: &mut State,
    cx: &mut Context,
    vault: VaultId,
    to: ShardId,
    reason: &str,
) -> Result<Outcome, Refusal> {
    let target = state.shards.get(to).ok_or_else(|| Refusal::no_such(Noun::Shard, to))?;
    if target.voters.is_empty() {
        return Err(Refusal::NoShard);
    }
    let id = state.vaults.next_move;
    let found = state.vaults.get_mut(vault)?;
    busy(found)?;
    if found.shard == to {
        return Err(Refusal::field("to", "is where the vault is"));
    }
    found.moving = Some(Moving { id, to, since: cx.now });
    let from = found.shard;
    state.vaults.next_move = id.next();
    cx.touch_vault(vault);
    cx.decide(Subject::Vault(vault), &format!("move {id} from shard {from} to {to} began"), reason);
    Ok(Outcome::Move(id))
}

fn decide_move(
    state: &mut State,
    cx: &mut Context,
    (vault, id): (VaultId, MoveId),
    flip: bool,
    reason: &str,
) -> Result<Outcome, Refusal> {
    let found = state.vaults.get_mut(vault)?;
    let Some(moving) = found.moving.filter(|moving| moving.id == id) else {
        let now = found.moving.map_or("no move is under way".to_owned(), |m| format!("move {} is", m.id));
        return Err(Refusal::Stale { what: Noun::Vault, id: vault.to_string(), now });
    };
    found.moving = None;
    found.epoch = found.epoch.next();
    let epoch = found.epoch;
    let from = found.shard;
    if flip {
        found.shard = moving.to;
        state.vaults.uncount(from);
        *state.vaults.counts.entry(moving.to).or_default() += 1;
    }
    let what = if flip {
        format!("moved from shard {from} to {} in epoch {epoch}", moving.to)
    } else {
        format!("stays in shard {from}, epoch {epoch}")
    };
    cx.touch_vault(vault);
    cx.decide(Subject::Vault(vault), &what, reason);
    Ok(Outcome::Epoch(epoch))
}

fn add_generation(
    state: &mut State,
    cx: &mut Context,
    vault: VaultId,
    generation: &Generation,
) -> Result<Outcome, Refusal> {
    check::sealed("sealed", &generation.sealed)?;
    let found = state.vaults.get_mut(vault)?;
    let newest = found.generations.last().map_or(0, |newest| newest.number);
    if generation.incarnation != found.incarnation || generation.number != newest + 1 {
        let now = format!("its newest generation is {newest} of life {}", found.incarnation);
        return Err(Refusal::Stale { what: Noun::Vault, id: vault.to_string(), now });
    }
    if found.generations.len() >= limits::GENERATIONS {
        return Err(Refusal::Full { what: Noun::Generation, most: limits::GENERATIONS as u64 });
    }
    found.generations.push(generation.clone());
    cx.touch_vault(vault);
    Ok(Outcome::Done)
}

fn drop_generations(
    state: &mut State,
    cx: &mut Context,
    vault: VaultId,
    below: u64,
    reason: &str,
) -> Result<Outcome, Refusal> {
    if let Some(dropped) = state.vaults.dropped.get_mut(&vault) {
        dropped.generations.retain(|generation| generation.number >= below);
    } else {
        let found = state.vaults.get_mut(vault)?;
        // The newest one is what the vault is sealed under.
        let newest = found.generations.last().map_or(0, |newest| newest.number);
        if below > newest {
            return Err(Refusal::field("below", format!("must be at most {newest}, the newest generation")));
        }
        found.generations.retain(|generation| generation.number >= below);
        cx.touch_vault(vault);
    }
    cx.decide(Subject::Vault(vault), &format!("generations below {below} destroyed"), reason);
    Ok(Outcome::Done)
}

#[cfg(test)]
#[path = "vaults_test.rs"]
mod vaults_test;
