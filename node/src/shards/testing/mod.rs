//! Several hosts in one process, with real files and a network that can be cut, slowed and made to lose: what the tests of
//! shards stand on.

mod cluster;
mod net;

mod faults_test;
mod healing_test;
mod history_test;
mod writing_test;

pub(super) use cluster::{Cluster, TERMS, keyed, saving, until, vault};
