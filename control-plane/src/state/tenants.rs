//! The tenants: a name, a token of which only an HMAC is kept, one vault, and what they may use.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use undercroft_proto::{Epoch, Incarnation, ShardId, TenantId, TokenMac, VaultId};

use super::context::Context;
use super::listed::listed;
use super::vaults::emptiest_shard;
use super::{Level, Noun, Outcome, Refusal, State, Subject, Vault, check};

/// What a tenant may use. `None` is no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Limits {
    /// Requests a minute, at each router.
    pub requests_per_minute: Option<u64>,
    /// Bytes of text in its vault.
    pub bytes: Option<u64>,
    /// Drawers in its vault.
    pub drawers: Option<u64>,
}

/// Who answers a tenant's reads when the request does not say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum ReadPolicy {
    /// The leader.
    #[default]
    Strong,
    /// Any replica that has come as far as the request demands.
    Session,
    /// Any replica that lags at most this long.
    Eventual {
        /// The bound, in milliseconds.
        lag_ms: u32,
    },
}

/// A tenant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tenant {
    /// Its id.
    pub id: TenantId,
    /// Its name.
    pub name: String,
    /// Its vault.
    pub vault: VaultId,
    /// What is kept of its token; `None` after it was revoked.
    pub token: Option<TokenMac>,
    /// When it was created, in milliseconds since 1970 by the cluster's time.
    pub created_at: u64,
    /// What it may use.
    pub limits: Limits,
    /// Who answers its reads.
    pub read: ReadPolicy,
    /// A credential for its vault, sealed to the nodes.
    pub credential: Option<Box<[u8]>>,
}

/// A decision about tenants.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum TenantCommand {
    /// Creates a tenant with its vault.
    Create {
        /// Its name, which nobody has.
        name: String,
        /// What is kept of its token.
        token: TokenMac,
        /// How its vault keeps texts.
        level: Level,
        /// What it may use.
        limits: Limits,
        /// Who answers its reads.
        read: ReadPolicy,
        /// Eighty random bits for the vault's id.
        random: u128,
        /// Where its vault goes; by default to the shard with the fewest.
        shard: Option<ShardId>,
    },
    /// Replaces the token. The old one is dead at once.
    Rotate {
        /// The tenant.
        tenant: TenantId,
        /// What is kept of the new token.
        token: TokenMac,
    },
    /// Takes the token away.
    Revoke {
        /// The tenant.
        tenant: TenantId,
    },
    /// Deletes the tenant and drops its vault.
    Delete {
        /// The tenant.
        tenant: TenantId,
    },
    /// Replaces what it may use.
    Limits {
        /// The tenant.
        tenant: TenantId,
        /// What it may use.
        limits: Limits,
    },
    /// Replaces who answers its reads.
    Read {
        /// The tenant.
        tenant: TenantId,
        /// The policy.
        read: ReadPolicy,
    },
    /// Replaces the credential for its vault.
    Credential {
        /// The tenant.
        tenant: TenantId,
        /// The sealed bytes; `None` takes it away.
        sealed: Option<Box<[u8]>>,
    },
}

/// The tenants, by id, name and token.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Tenants {
    map: BTreeMap<TenantId, Tenant>,
    /// How many there ever were. Ids follow from it, so none is used twice.
    pub(super) count: u64,
    #[serde(skip)]
    names: BTreeMap<Box<str>, TenantId>,
    #[serde(skip)]
    tokens: BTreeMap<TokenMac, TenantId>,
}

listed!(Tenants, TenantId, Tenant, "tenant", "tenants");

impl Tenants {
    /// The tenant of this name.
    #[must_use]
    pub fn named(&self, name: &str) -> Option<&Tenant> {
        self.map.get(self.names.get(name)?)
    }

    /// The tenant whose token this is.
    #[must_use]
    pub fn of_token(&self, token: &TokenMac) -> Option<&Tenant> {
        self.map.get(self.tokens.get(token)?)
    }

    /// The sizes of the derived indexes: names and tokens.
    pub(super) fn indexed(&self) -> (usize, usize) {
        (self.names.len(), self.tokens.len())
    }

    pub(super) fn reindex(&mut self) {
        self.names = self.map.values().map(|tenant| (tenant.name.as_str().into(), tenant.id)).collect();
        self.tokens = self.map.values().filter_map(|tenant| Some((tenant.token?, tenant.id))).collect();
    }

    fn get_mut(&mut self, tenant: TenantId) -> Result<&mut Tenant, Refusal> {
        self.map.get_mut(&tenant).ok_or_else(|| Refusal::no_such(Noun::Tenant, tenant))
    }

    /// Puts another token, or none, in the place of a tenant's.
    fn set_token(&mut self, tenant: TenantId, token: Option<TokenMac>) -> Result<(), Refusal> {
        if token.is_some_and(|token| self.tokens.contains_key(&token)) {
            return Err(Refusal::TokenInUse);
        }
        let old = std::mem::replace(&mut self.get_mut(tenant)?.token, token);
        if let Some(old) = old {
            self.tokens.remove(&old);
        }
        if let Some(token) = token {
            self.tokens.insert(token, tenant);
        }
        Ok(())
    }

    fn insert(&mut self, tenant: Tenant) {
        self.names.insert(tenant.name.as_str().into(), tenant.id);
        if let Some(token) = tenant.token {
            self.tokens.insert(token, tenant.id);
        }
        self.map.insert(tenant.id, tenant);
    }

    fn remove(&mut self, tenant: TenantId) -> Result<Tenant, Refusal> {
        let gone = self.map.remove(&tenant).ok_or_else(|| Refusal::no_such(Noun::Tenant, tenant))?;
        self.names.remove(gone.name.as_str());
        if let Some(token) = gone.token {
            self.tokens.remove(&token);
        }
        Ok(gone)
    }
}

pub(super) fn apply(
    state: &mut State,
    cx: &mut Context,
    command: &TenantCommand,
) -> Result<Outcome, Refusal> {
    let tenant = match command {
        TenantCommand::Create { .. } => return create(state, cx, command),
        TenantCommand::Delete { tenant } => return delete(state, cx, *tenant),
        TenantCommand::Rotate { tenant, token } => {
            state.tenants.set_token(*tenant, Some(*token))?;
            cx.decide(Subject::Tenant(*tenant), "token replaced", "an operator asked");
            *tenant
        }
        TenantCommand::Revoke { tenant } => {
            state.tenants.set_token(*tenant, None)?;
            cx.decide(Subject::Tenant(*tenant), "token revoked", "an operator asked");
            *tenant
        }
        TenantCommand::Limits { tenant, limits } => {
            state.tenants.get_mut(*tenant)?.limits = *limits;
            cx.decide(Subject::Tenant(*tenant), "limits replaced", "an operator asked");
            *tenant
        }
        TenantCommand::Read { tenant, read } => {
            state.tenants.get_mut(*tenant)?.read = *read;
            cx.decide(Subject::Tenant(*tenant), "read policy replaced", "an operator asked");
            *tenant
        }
        TenantCommand::Credential { tenant, sealed } => {
            if let Some(sealed) = sealed {
                check::sealed("sealed", sealed)?;
            }
            state.tenants.get_mut(*tenant)?.credential.clone_from(sealed);
            *tenant
        }
    };
    cx.touch_tenant(tenant);
    about(state, tenant)
}

/// The outcome that names a tenant, its vault and its shard.
fn about(state: &State, tenant: TenantId) -> Result<Outcome, Refusal> {
    let found = state.tenants.get(tenant).ok_or_else(|| Refusal::no_such(Noun::Tenant, tenant))?;
    let vault = state.vaults.get(found.vault).ok_or_else(|| Refusal::no_such(Noun::Vault, found.vault))?;
    Ok(Outcome::Tenant { tenant, vault: vault.id, shard: vault.shard })
}

fn create(state: &mut State, cx: &mut Context, command: &TenantCommand) -> Result<Outcome, Refusal> {
    let TenantCommand::Create { name, token, level, limits, read, random, shard } = command else {
        return Ok(Outcome::Done);
    };
    check::name("name", name)?;
    let settings = state.cluster.settings.as_ref().ok_or(Refusal::NotInitialised)?;
    if state.tenants.names.contains_key(name.as_str()) {
        return Err(Refusal::Exists { what: Noun::Tenant, name: name.clone() });
    }
    if state.tenants.tokens.contains_key(token) {
        return Err(Refusal::TokenInUse);
    }
    let chosen = match shard {
        Some(asked) => {
            let found = state.shards.get(*asked).ok_or_else(|| Refusal::no_such(Noun::Shard, asked))?;
            (!found.voters.is_empty()).then_some(*asked)
        }
        None => emptiest_shard(state),
    };
    let shard_of_vault = chosen.ok_or(Refusal::NoShard)?;
    let id = TenantId::from_count(state.tenants.count, settings.salt);
    state.tenants.count += 1;
    let vault = Vault {
        id: state.vaults.mint(cx.now, *random),
        tenant: id,
        shard: shard_of_vault,
        epoch: Epoch::new(1),
        incarnation: Incarnation::new(1),
        level: *level,
        moving: None,
        generations: Vec::new(),
    };
    let why = if shard.is_some() { "the operator named the shard" } else { "it has the fewest vaults" };
    cx.decide(Subject::Vault(vault.id), &format!("placed in shard {shard_of_vault}"), why);
    cx.touch_vault(vault.id);
    cx.touch_tenant(id);
    let tenant = Tenant {
        id,
        name: name.clone(),
        vault: vault.id,
        token: Some(*token),
        created_at: cx.now,
        limits: *limits,
        read: *read,
        credential: None,
    };
    state.vaults.insert(vault);
    state.tenants.insert(tenant);
    about(state, id)
}

fn delete(state: &mut State, cx: &mut Context, tenant: TenantId) -> Result<Outcome, Refusal> {
    let outcome = about(state, tenant)?;
    let gone = state.tenants.remove(tenant)?;
    state.vaults.drop(gone.vault, cx.now);
    state.witnesses.forget(gone.vault);
    cx.touch_tenant(tenant);
    cx.touch_vault(gone.vault);
    cx.decide(
        Subject::Tenant(tenant),
        &format!("deleted, vault {} dropped", gone.vault),
        "an operator asked",
    );
    Ok(outcome)
}
