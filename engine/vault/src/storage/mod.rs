//! The database file: how it is opened, its schema, the small tagged tables, snapshots and changesets.

pub(crate) mod changeset;
pub(crate) mod counters;
pub(crate) mod index_sum;
mod journal;
pub(crate) mod lock;
pub(crate) mod meta;
pub(crate) mod outcomes;
pub(crate) mod schema;
mod session;
pub(crate) mod snapshot;
pub(crate) mod sqlite;
mod unwritable;

#[cfg(test)]
mod changeset_test;
#[cfg(test)]
mod snapshot_test;
