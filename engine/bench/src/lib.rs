//! Measuring the engine: quality on LoCoMo, speed of search, ingest, open and verify, and the server under
//! load. Each run prints its figures and
//! ends with one machine-readable line. Nothing here is used by the product.

pub mod corpus;
pub mod ingest;
pub mod locomo;
pub mod locomo_run;
pub mod machine;
pub mod open;
pub mod palace;
pub mod replica;
pub mod scale;
pub mod serve;
pub mod stopwatch;
pub mod verify;
