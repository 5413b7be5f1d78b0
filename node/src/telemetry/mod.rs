//! What the process says about itself: counters and logs. Counts, names of vaults and durations; never content.

mod lines;
mod logs;
mod metrics;

pub use logs::{Flushing, LogFormat, start_logs};
pub(crate) use metrics::{Metrics, route_label};
