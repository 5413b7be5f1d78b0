//! Vaults as a process serves them: which are open, who waits for which, what is written together.
//!
//! Nothing here knows a protocol. Blocking work runs on threads of its own, and every queue has a bound.

mod bounds;
mod cache;
mod counts;
mod crowd;
mod front;
mod gauges;
mod handle;
mod health;
mod lanes;
mod lifecycle;
mod pace;
mod shared;
mod sweeper;
mod writer;

pub use bounds::{Bounds, too_few_files};
pub use counts::{Counted, Surface};
pub use front::{Serving, ServingOptions};
pub use gauges::Gauge;
pub use handle::VaultHandle;
pub use health::Damaged;
pub use lanes::LongPlace;

#[cfg(test)]
mod cache_test;
#[cfg(test)]
mod long_test;
#[cfg(test)]
mod serving_test;
#[cfg(test)]
mod watching_test;
