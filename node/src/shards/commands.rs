//! Carries out what a log says about a vault besides its writes. Each counts when it is durable, and is repeatable.

use undercroft_crypto::ErrorClass;
use undercroft_vault::replica::{self, Outcome, Suspect};

use super::entry::What;
use super::replica::Replica;
use super::slot::Slot;
use super::types::Verdict;
use crate::journal::LogId;
use crate::{Error, Result};

/// Carries a command out as the entry `at`.
///
/// # Errors
/// What the environment refuses; an integrity error when the copy is not what it should be.
pub(super) fn carry_out(replica: &Replica, slot: &Slot, what: &What, at: LogId) -> Result<Verdict> {
    let shared = &replica.shared;
    let log_id = replica.log_id(at);
    let (master, options) = (&*shared.master, &shared.options);
    let done = match what {
        What::Create(create) => {
            let generation = shared.generations.generation(slot.id, create.generation);
            let generation = generation.map_err(|error| Error::Generation(slot.id, error.to_string()))?;
            if generation.number.get() != create.generation {
                return Err(Error::Generation(slot.id, String::from("another one was handed out")));
            }
            replica::create(create, &slot.dir, &generation, master, options, log_id)
        }
        What::Adopt(adopt) => {
            let staged = shared.staged(slot.id, adopt.move_id);
            replica::adopt(adopt, &staged, &slot.dir, master, options, log_id)
        }
        What::Drop(drop) => {
            slot.close();
            replica::drop_vault(drop, &slot.dir, master, options, log_id)
        }
        What::Change(_) if !slot.state().present => return Ok(Verdict::Absent),
        What::Change(command) => command.apply(&*slot.open(shared)?, log_id),
        What::Segment(_) => return Ok(Verdict::Absent),
    };
    match done {
        Ok(outcome) => Ok(Verdict::Said(outcome)),
        // Another vault, or an older copy of this one, lies in the place.
        Err(undercroft_vault::Error::VaultExists(_)) => {
            Ok(Verdict::Said(Outcome::Suspect(Suspect::OtherVault)))
        }
        Err(error @ undercroft_vault::Error::Schema { .. }) => Err(error.into()),
        // What is wrong with the command itself is wrong with it everywhere.
        Err(error) if error.class() == ErrorClass::Invalid => Ok(Verdict::Refused(error.to_string())),
        Err(error) => Err(error.into()),
    }
}
