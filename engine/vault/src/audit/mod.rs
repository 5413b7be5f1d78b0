//! The audit chain of a vault: what is recorded, where, and how it is replayed and shown.

mod history;
mod label;
mod replay;
pub(crate) mod state;
pub(crate) mod table;

pub use history::HistoryRecord;
pub(crate) use history::page;
pub(crate) use label::{Label, REPAIR};
pub(crate) use replay::{replay, replay_indexed};

#[cfg(test)]
mod label_test;
