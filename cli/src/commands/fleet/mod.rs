//! The commands that ask a fleet's Admin API, and what operators keep for it: one file a subject.

mod access;
mod cluster;
mod given;
mod job;
mod join_key;
mod kit;
mod member;
mod node;
mod shard;
mod shown;
mod tenant;

pub(super) use cluster::{found, status};
pub(super) use job::run as job;
pub(super) use join_key::run as join_key;
pub(super) use kit::run as kit;
pub(super) use member::run as member;
pub(super) use node::run as node;
pub(super) use shard::run as shard;
pub(super) use tenant::run as tenant;
