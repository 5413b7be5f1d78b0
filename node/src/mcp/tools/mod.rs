//! The inventory: every tool that an agent sees, one file a group.
//!
//! A capability that the engine does not have has no tool here, and one that belongs to the operator never gets one.

mod call;
mod drawers;
mod evidence;
mod places;
mod searching;
mod tool;

pub use super::arguments::{Argument, Holds, Otherwise};
pub(super) use call::{Call, Finish, Plan};
pub use tool::{Class, Tool};

/// The groups, in the order in which a client lists them.
const GROUPS: [&[Tool]; 4] = [searching::TOOLS, drawers::TOOLS, places::TOOLS, evidence::TOOLS];

/// Every tool.
pub fn all() -> impl Iterator<Item = &'static Tool> {
    GROUPS.into_iter().flatten()
}

/// The tool called `name`.
#[must_use]
pub fn find(name: &str) -> Option<&'static Tool> {
    all().find(|tool| tool.name == name)
}
