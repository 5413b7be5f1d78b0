//! What should change next about nodes and replicas: `plan(state, observed, now) → moves`, pure.
//!
//! The leader of the control group runs it again and again. Each pass looks at what is decided and at what is seen, and
//! proposes commands, each with its reason; applied, they are what the next pass looks at. It keeps nothing in between.

mod changes;
mod health;
mod leaders;
mod observed;
mod pass;
mod replicas;
mod sketch;

#[cfg(test)]
mod world;

pub use observed::{Contact, Observed, Replica};
pub use pass::plan;
