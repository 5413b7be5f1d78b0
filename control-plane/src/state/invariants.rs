//! What always holds of the state, one function for each rule, with the reason above it.
//!
//! In builds with debug assertions the rules run after every entry: all of them on a small state, those about what was
//! touched on a large one. A snapshot must pass all of them before it is used. Simulation compares states as well, with
//! [`growth`].

use std::collections::BTreeSet;

use super::context::Key;
use super::{State, broken_at};
use crate::Error;
use undercroft_proto::{ShardId, TenantId, VaultId};

/// Vaults up to which every rule is checked after every entry.
const SMALL: usize = 256;

type Verdict = Result<(), Error>;

fn broken(rule: &str, what: impl std::fmt::Display) -> Error {
    Error::Invariant(format!("{rule}: {what}"))
}

/// The rules that an entry could have broken.
pub(super) fn after(state: &State, touched: &BTreeSet<Key>) -> Verdict {
    if state.vaults.iter().nth(SMALL).is_none() && state.tenants.len() <= SMALL {
        return all(state);
    }
    for key in touched {
        match key {
            Key::Vault(vault) => a_vault_is_in_one_shard_that_is_placed(state, *vault)?,
            Key::Tenant(tenant) => a_token_and_a_name_map_to_one_tenant(state, *tenant)?,
            Key::Shard(shard) => a_shard_is_well_formed(state, *shard)?,
            Key::Keys => {}
            Key::Node(_) => nodes_have_ids_below_the_next(state)?,
        }
    }
    Ok(())
}

/// Every rule about one state.
///
/// # Errors
/// [`Error::Invariant`] with the rule's name and what breaks it.
pub fn all(state: &State) -> Verdict {
    state.vaults.iter().try_for_each(|vault| a_vault_is_in_one_shard_that_is_placed(state, vault.id))?;
    state.tenants.iter().try_for_each(|tenant| a_token_and_a_name_map_to_one_tenant(state, tenant.id))?;
    state.shards.iter().try_for_each(|shard| a_shard_is_well_formed(state, shard.id))?;
    nodes_have_ids_below_the_next(state)?;
    every_vault_is_counted_once(state)?;
    indexes_have_nothing_else(state)?;
    a_name_of_a_node_means_a_node_of_that_name(state)?;
    dropped_vaults_stay_dropped(state)?;
    witnesses_hold_together(state)
}

/// A vault is a field of its shard's Raft group: in none it would be lost, in two it could be written twice. The map has one
/// shard field a vault, so what is left to check is that this shard can serve it, and that a move leads elsewhere.
fn a_vault_is_in_one_shard_that_is_placed(state: &State, id: VaultId) -> Verdict {
    let rule = "every vault is in exactly one shard";
    let Some(vault) = state.vaults.get(id) else { return Ok(()) };
    let placed = |shard| state.shards.get(shard).is_some_and(|shard| !shard.voters.is_empty());
    if !placed(vault.shard) {
        return Err(broken(rule, format!("vault {id} is in shard {}, which nobody serves", vault.shard)));
    }
    if vault.moving.is_some_and(|moving| moving.to == vault.shard || !placed(moving.to)) {
        return Err(broken(rule, format!("vault {id} moves to nowhere")));
    }
    if id > state.vaults.highest {
        return Err(broken("ids are never reused", format!("vault {id} is above the highest minted")));
    }
    let tenant = state.tenants.get(vault.tenant);
    if tenant.is_none_or(|tenant| tenant.vault != id) {
        return Err(broken("one tenant, one vault", format!("vault {id} is not its tenant's")));
    }
    Ok(())
}

/// Whoever shows a token gets the vault it maps to, so two tenants on one token would read each other.
fn a_token_and_a_name_map_to_one_tenant(state: &State, id: TenantId) -> Verdict {
    let rule = "a token maps to one tenant";
    let Some(tenant) = state.tenants.get(id) else { return Ok(()) };
    let by_token = tenant.token.map(|token| state.tenants.of_token(&token).map(|tenant| tenant.id));
    if by_token.is_some_and(|found| found != Some(id)) {
        return Err(broken(rule, format!("the token of tenant {id} leads elsewhere")));
    }
    if state.tenants.named(&tenant.name).map(|tenant| tenant.id) != Some(id) {
        return Err(broken(rule, format!("the name of tenant {id} leads elsewhere")));
    }
    if state.vaults.get(tenant.vault).is_none_or(|vault| vault.tenant != id) {
        return Err(broken("one tenant, one vault", format!("tenant {id} has no vault of its own")));
    }
    Ok(())
}

/// Two replicas on one node are lost together and count twice in a quorum. A second change at a time could leave old and new
/// voters without a common majority; the one field makes it impossible, and what it names must fit the voters.
fn a_shard_is_well_formed(state: &State, id: ShardId) -> Verdict {
    let rule = "replicas of a shard are on distinct nodes";
    let Some(shard) = state.shards.get(id) else { return Ok(()) };
    let mut seen = BTreeSet::new();
    let added = shard.change.as_ref().and_then(|change| change.add);
    // A read replica that becomes a voter is one replica.
    let learners = shard.learners.iter().filter(|node| added != Some(**node));
    for node in shard.voters.iter().chain(learners).chain(&added) {
        if !seen.insert(*node) {
            return Err(broken(rule, format!("node {node} is twice in shard {id}")));
        }
        if state.nodes.get(*node).is_none() {
            return Err(broken(rule, format!("shard {id} names node {node}, which there is not")));
        }
    }
    if !shard.voters.is_sorted() || !shard.learners.is_sorted() {
        return Err(broken(rule, format!("the replicas of shard {id} are out of order")));
    }
    let rule = "one change a shard at a time";
    if let Some(change) = &shard.change {
        let fits = change.remove.is_none_or(|node| shard.voters.contains(&node));
        if !fits || change.id != shard.changes || shard.wanted().is_empty() {
            return Err(broken(rule, format!("change {} does not fit shard {id}", change.id)));
        }
    }
    if shard.preferred.is_some_and(|node| !shard.voters.contains(&node)) {
        return Err(broken(rule, format!("who should lead shard {id} has no vote in it")));
    }
    Ok(())
}

/// Ids count up. One at or above the next to be given would be given again.
fn nodes_have_ids_below_the_next(state: &State) -> Verdict {
    match state.nodes.iter().last() {
        Some(last) if last.id >= state.nodes.next => {
            Err(broken("ids are never reused", format!("node {} is above the next", last.id)))
        }
        _ => Ok(()),
    }
}

/// New vaults go where the count is lowest, so a wrong count would fill one shard.
fn every_vault_is_counted_once(state: &State) -> Verdict {
    let counted: u64 = state.shards.iter().map(|shard| state.vaults.count(shard.id)).sum();
    let there = state.vaults.iter().count() as u64;
    if counted == there { Ok(()) } else { Err(broken("every vault is counted once", counted)) }
}

/// A name or token that is left behind would still let somebody in.
fn indexes_have_nothing_else(state: &State) -> Verdict {
    let with_token = state.tenants.iter().filter(|tenant| tenant.token.is_some()).count();
    if state.tenants.indexed() == (state.tenants.len(), with_token)
        && state.vaults.iter().count() == state.tenants.len()
    {
        return Ok(());
    }
    Err(broken("a token maps to one tenant", "an index holds what no tenant has"))
}

/// A name leads to the newest life of a node.
fn a_name_of_a_node_means_a_node_of_that_name(state: &State) -> Verdict {
    let wrong =
        state.nodes.by_name().find(|(name, id)| state.nodes.get(*id).is_none_or(|node| node.name != *name));
    wrong.map_or(Ok(()), |(name, _)| Err(broken("a node's name means that node", name)))
}

/// A vault that was dropped and is there again would let old segments and tokens in.
fn dropped_vaults_stay_dropped(state: &State) -> Verdict {
    let back = state.vaults.dropped().find(|(id, _)| state.vaults.get(*id).is_some());
    back.map_or(Ok(()), |(id, _)| Err(broken("ids are never reused", format!("vault {id} is back"))))
}

/// Each list of witnesses follows from itself.
fn witnesses_hold_together(state: &State) -> Verdict {
    let wrong = state.witnesses.iter().find_map(|(vault, list)| Some((vault, broken_at(vault, list)?)));
    wrong.map_or(Ok(()), |(vault, at)| Err(broken("witnesses are a chain", format!("vault {vault} at {at}"))))
}

/// What only grows from one state to a later one: epochs, lives, versions, time, and every counter of ids.
///
/// # Errors
/// [`Error::Invariant`] with what went back.
pub fn growth(before: &State, later: &State) -> Verdict {
    let rule = "epochs only grow";
    for old in before.vaults.iter() {
        let Some(new) = later.vaults.get(old.id) else { continue };
        let moved = old.shard != new.shard || old.incarnation != new.incarnation;
        if new.epoch < old.epoch || new.incarnation < old.incarnation || (moved && new.epoch == old.epoch) {
            return Err(broken(rule, format!("vault {} went back or moved without an epoch", old.id)));
        }
    }
    if let Some(back) =
        later.vaults.iter().find(|new| new.id <= before.vaults.highest && before.vaults.get(new.id).is_none())
    {
        return Err(broken("ids are never reused", format!("vault {}", back.id)));
    }
    if let Some(back) =
        later.nodes.iter().find(|new| new.id < before.nodes.next && before.nodes.get(new.id).is_none())
    {
        return Err(broken("ids are never reused", format!("node {}", back.id)));
    }
    let grew = later.version >= before.version
        && later.now >= before.now
        && later.vaults.next_move >= before.vaults.next_move
        && later.jobs.next >= before.jobs.next
        && later.keys.count >= before.keys.count
        && later.tenants.count >= before.tenants.count
        && later.decisions.count() >= before.decisions.count();
    if grew { Ok(()) } else { Err(broken(rule, "a counter went back")) }
}
