//! A vault as one of several copies that follow a log: what the writing copy hands over, what the others demand of it before
//! they take it, and the commands that change who may write. Knows the order of entries (a [`LogId`]) and nothing of how a
//! log agrees on it; speaks to nobody.
//!
//! Who holds the log does this, in this order: [`open`] the copy; on the writer [`make_ready`], [`prepare`], propose the
//! segment, then [`Parked::commit`]; on every other copy [`apply`]; now and then [`checkpoint`], which says up to where the
//! log is no longer needed. [`copy_to`], [`verify_copy`] and [`install`] replace a copy that is missing, behind or suspect.

mod apply;
mod changes;
mod checkpoint;
mod command;
mod copy;
mod files;
mod generation;
mod log_id;
mod ownership;
mod parked;
mod prepare;
mod state;
mod verdict;

#[cfg(test)]
mod changes_test;
#[cfg(test)]
mod forge;
#[cfg(test)]
mod forged_test;

pub use apply::{Entry, apply};
pub use checkpoint::checkpoint;
pub use command::Command;
pub use copy::{copy_to, evidence_copy, install, verify_copy};
pub use files::{Adopt, Create, DropVault, adopt, create, drop_vault, sweep};
pub use generation::Generation;
pub use log_id::LogId;
pub use ownership::Ownership;
pub(crate) use ownership::applied;
pub use parked::Parked;
pub use prepare::{Answer, Batch, Pending, Terms, make_ready, prepare};
pub use state::{State, open, read, state};
pub use verdict::{NoOp, Outcome, Suspect};
