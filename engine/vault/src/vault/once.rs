//! Requests that are sent again: under an idempotency key a change is made once, and its outcome is remembered beside it.
//!
//! The key is looked up inside the transaction that makes the change, so whoever comes second, from whichever handle or
//! process, finds what the first one did. Only what was done is remembered: a request that failed may be sent again.

use serde::{Deserialize, Serialize};
use undercroft_crypto::{Blind, BlindColumn, SealDomain};

use super::dedup::DedupReport;
use super::door::{Change, Outcome, Saved, SourceOutcome};
use super::txn::Txn;
use crate::drawers::DrawerId;
use crate::error::{Error, Result};
use crate::keyring::Keyring;
use crate::limits;
use crate::storage::outcomes::{self, OutcomeRow};

/// A change, and under which key it is asked for.
#[derive(Debug, Clone)]
pub struct WriteRequest {
    /// What to do.
    pub change: Change,
    /// With one, it is done once, however often it is sent within a day.
    pub idempotency: Option<Idempotency>,
}

impl From<Change> for WriteRequest {
    fn from(change: Change) -> Self {
        Self { change, idempotency: None }
    }
}

/// The key of a request that may be sent again. Neither key nor scope nor digest stands on disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Idempotency {
    scope: String,
    key: String,
    request: [u8; 32],
}

impl Idempotency {
    /// Takes a key of 1 to 128 visible ASCII characters. Within `scope` (on HTTP: method and path) it stands for one
    /// request, which `request` tells from others: SHA-256 over all of it that the scope does not name.
    ///
    /// # Errors
    /// [`Error::InvalidField`] for a key of another form.
    pub fn new(scope: impl Into<String>, key: impl Into<String>, request: [u8; 32]) -> Result<Self> {
        let (scope, key) = (scope.into(), key.into());
        let fits = (1..=limits::MAX_IDEMPOTENCY_KEY_BYTES).contains(&key.len());
        if fits && key.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Ok(Self { scope, key, request });
        }
        Err(Error::invalid(
            "Idempotency-Key",
            format!(
                "a key is 1 to {} visible ASCII characters without spaces; send for example a UUID",
                limits::MAX_IDEMPOTENCY_KEY_BYTES
            ),
        ))
    }

    /// scope length u64 ‖ scope ‖ key, blinded.
    fn blind(&self, keyring: &Keyring) -> Blind {
        let mut value = Vec::with_capacity(8 + self.scope.len() + self.key.len());
        value.extend_from_slice(&(self.scope.len() as u64).to_le_bytes());
        value.extend_from_slice(self.scope.as_bytes());
        value.extend_from_slice(self.key.as_bytes());
        keyring.blind(BlindColumn::Idempotency, &value)
    }
}

/// What a request led to.
#[derive(Debug)]
pub struct Done {
    /// What the change did.
    pub outcome: Outcome,
    /// It was done before under the same key; nothing was written this time.
    pub replayed: bool,
}

/// What each request of a transaction led to, in order.
pub type Answers = Vec<Result<Done>>;

impl Done {
    pub(super) fn now(outcome: Outcome) -> Self {
        Self { outcome, replayed: false }
    }
}

/// Does `work` unless it was done under this key; then gives what it did. To be called inside a savepoint.
pub(super) fn once(
    txn: &mut Txn<'_>,
    asked: &Idempotency,
    work: impl FnOnce(&mut Txn<'_>) -> Result<Outcome>,
) -> Result<Done> {
    let (keyring, mac) = (txn.keyring(), txn.keyring().mac());
    let key = asked.blind(keyring);
    let request = outcomes::request(mac, &key, &asked.request);
    if let Some(known) = outcomes::load(txn.conn(), mac, &key)?
        && known.expires > txn.now()
    {
        if known.request != request {
            return Err(Error::IdempotencyConflict);
        }
        return Ok(Done { outcome: open(keyring, &known)?, replayed: true });
    }
    let outcome = work(txn)?;
    if let Some(remembered) = Remembered::of(&outcome) {
        let outcome = keyring.seal_field(SealDomain::Outcome, key.as_bytes(), &remembered.to_bytes()?);
        let expires = txn.now().saturating_add(limits::IDEMPOTENCY_MICROS);
        outcomes::store(txn.conn(), mac, &OutcomeRow { key, request, expires, outcome })?;
    }
    Ok(Done::now(outcome))
}

fn open(keyring: &Keyring, row: &OutcomeRow) -> Result<Outcome> {
    let plain = keyring.open_field(SealDomain::Outcome, row.key.as_bytes(), &row.outcome)?;
    let remembered: Remembered = serde_json::from_slice(&plain).map_err(|_| {
        Error::record("remembered outcome", hex::encode(row.key.as_bytes()), "it is not one of this format")
    })?;
    Ok(remembered.into())
}

/// The stored form of an outcome.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum Remembered {
    Saved(Saved),
    Source { drawers: Vec<Saved>, removed: Vec<DrawerId> },
    Updated(DrawerId),
    Deleted(Vec<DrawerId>),
    Deduplicated(DedupReport),
}

impl Remembered {
    /// None for a source of which a text failed: sent again, that text is tried again.
    fn of(outcome: &Outcome) -> Option<Self> {
        Some(match outcome {
            Outcome::Saved(saved) => Self::Saved(*saved),
            Outcome::Source(source) => {
                let drawers = source.drawers.iter().map(|one| one.as_ref().ok().copied());
                Self::Source { drawers: drawers.collect::<Option<_>>()?, removed: source.removed.clone() }
            }
            Outcome::Updated(id) => Self::Updated(*id),
            Outcome::Deleted(ids) => Self::Deleted(ids.clone()),
            Outcome::Deduplicated(report) => Self::Deduplicated(*report),
        })
    }

    fn to_bytes(&self) -> Result<Vec<u8>> {
        serde_json::to_vec(self).map_err(|error| Error::invalid("outcome", format!("internal: {error}")))
    }
}

impl From<Remembered> for Outcome {
    fn from(remembered: Remembered) -> Self {
        match remembered {
            Remembered::Saved(saved) => Self::Saved(saved),
            Remembered::Source { drawers, removed } => {
                let drawers = drawers.into_iter().map(Ok).collect();
                Self::Source(SourceOutcome { drawers, removed, state: None })
            }
            Remembered::Updated(id) => Self::Updated(id),
            Remembered::Deleted(ids) => Self::Deleted(ids),
            Remembered::Deduplicated(report) => Self::Deduplicated(report),
        }
    }
}
