//! Commands of the log that change who may write a vault and nothing that it holds. Each is durable in the copy before it
//! counts as applied, and changes the same on every copy.

use rusqlite::Connection;
use serde::{Deserialize, Serialize};

use super::checkpoint;
use super::log_id::LogId;
use super::ownership::{self, Ownership};
use super::state::State;
use super::verdict::{NoOp, Outcome, Refusal, Suspect};
use crate::error::{Error, ErrorClass, Result};
use crate::storage::schema;
use crate::vault::{Vault, roll_back};

/// A command about a vault that is there. Those that make, place or remove one are [`create`](super::create),
/// [`adopt`](super::adopt) and [`drop_vault`](super::drop_vault).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Command {
    /// Take no writes, for this move.
    Freeze {
        /// The move, or the hold of an operator.
        move_id: u64,
        /// The ownership that is frozen.
        epoch: u64,
    },
    /// Take writes under a fresh ownership: the new owner's half of a move.
    Activate {
        /// The move that ends.
        move_id: u64,
        /// The fresh ownership.
        epoch: u64,
    },
    /// Take writes again under a fresh ownership: the old owner's half of a move that was given up.
    AbortMove {
        /// The move that ends.
        move_id: u64,
        /// The fresh ownership.
        epoch: u64,
    },
    /// Change the schema, once every voter knows it.
    MigrateSchema {
        /// The version to come to.
        to: u32,
    },
    /// The shard's log is archived up to there.
    ArchivedUpTo {
        /// Its index.
        index: u64,
    },
    /// Change to another key generation.
    Rotate {
        /// Its number.
        generation: u32,
    },
}

impl Command {
    /// Carries the command out as the entry `log_id`, durably.
    ///
    /// # Errors
    /// [`Error::Schema`] for a version that this program does not know: the log cannot be followed before it is upgraded.
    /// What the environment refuses, and [`Error::Parked`]: nothing happened then.
    pub fn apply(&self, vault: &Vault, log_id: LogId) -> Result<Outcome> {
        if let Self::MigrateSchema { to } = *self
            && to > schema::SCHEMA_VERSION
        {
            return Err(Error::Schema { found: to, known: schema::SCHEMA_VERSION });
        }
        let conn = vault.replicating()?.lock()?;
        conn.execute_batch("BEGIN IMMEDIATE")?;
        let decided = self.carry_out(vault, &conn, log_id);
        roll_back(&conn);
        match decided {
            Ok(Err(Refusal::Suspect(suspect))) => Ok(Outcome::Suspect(suspect)),
            Err(error) if error.class() == ErrorClass::Integrity => {
                Ok(Outcome::Suspect(Suspect::Rows(error.finding())))
            }
            Err(error) => Err(error),
            // Also when it was held already: a crash may have come before it was durable.
            Ok(decided) => {
                let state = checkpoint::settle(vault, &conn)?;
                Ok(decided.map_or_else(Outcome::from, |()| Outcome::Applied(state)))
            }
        }
    }

    /// Commits what is decided, and the log id with it. Of a copy that is suspect nothing changes.
    fn carry_out(&self, vault: &Vault, conn: &Connection, log_id: LogId) -> Result<Result<(), Refusal>> {
        let (mac, state) = (vault.keyring().mac(), State::load(conn, vault.keyring())?);
        if state.applied.reached(&log_id) {
            return Ok(Err(Refusal::NoOp(NoOp::HeldAlready)));
        }
        let decision = self.decide(&state.ownership);
        match &decision {
            Ok(next) => next.store(conn, mac)?,
            Err(Refusal::Suspect(_)) => return Ok(decision.map(drop)),
            Err(_) => {}
        }
        ownership::store_applied(conn, mac, log_id)?;
        vault.check_in_place()?;
        conn.execute_batch("COMMIT")?;
        Ok(decision.map(drop))
    }

    /// What the ownership becomes, or why it stays.
    fn decide(&self, own: &Ownership) -> Result<Ownership, Refusal> {
        let no_op = |reason| Err(Refusal::NoOp(reason));
        match *self {
            Self::Freeze { epoch, .. } if epoch < own.epoch => no_op(NoOp::OldEpoch),
            Self::Freeze { epoch, .. } if epoch > own.epoch => {
                Err(Refusal::Suspect(Suspect::Missed("ownership epoch")))
            }
            Self::Freeze { move_id, .. } => match own.frozen_for {
                None => Ok(Ownership { frozen_for: Some(move_id), ..*own }),
                Some(held) if held == move_id => no_op(NoOp::NothingToDo),
                Some(_) => no_op(NoOp::Frozen),
            },
            Self::Activate { move_id, epoch } | Self::AbortMove { move_id, epoch } => {
                if epoch <= own.epoch {
                    no_op(NoOp::OldEpoch)
                } else if own.frozen_for != Some(move_id) {
                    no_op(NoOp::OtherMove)
                } else {
                    Ok(Ownership { epoch, frozen_for: None, ..*own })
                }
            }
            // There is one version so far.
            Self::MigrateSchema { .. } => no_op(NoOp::NothingToDo),
            Self::ArchivedUpTo { index } if index <= own.archived_up_to => no_op(NoOp::NothingToDo),
            Self::ArchivedUpTo { index } => Ok(Ownership { archived_up_to: index, ..*own }),
            Self::Rotate { .. } => Err(Refusal::NotAvailable("rotation of keys")),
        }
    }
}
