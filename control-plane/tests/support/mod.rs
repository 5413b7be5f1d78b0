//! What tests of a fleet share: a group of real members in one process, and what a node says to them.

#![allow(dead_code, unused_imports, reason = "each test uses a part of it")]

mod fleet;
mod node;

pub(crate) use fleet::{Client, Fleet, MASTER, PATIENCE, TOKEN};
pub(crate) use node::{heartbeat, joining};
