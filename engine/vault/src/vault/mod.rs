//! The façade of one vault: the only place that joins keys, tables, chain and index.
//! Every change passes `door`, every content that leaves passes `read`.

mod anchor;
mod backup;
mod create;
mod dedup;
mod door;
mod embedder;
mod handle;
mod list;
mod once;
mod open;
mod prepare;
mod read;
mod reconcile;
mod repair;
mod save;
mod search;
mod source;
mod stats;
mod supersessions;
mod txn;
mod validate;

pub use anchor::AnchorReport;
pub use backup::{BackupInfo, alone};
pub use dedup::DedupReport;
pub use door::{BypassReason, Change, Outcome, Outcomes, Saved, Screening, SourceOutcome};
pub use handle::Vault;
pub use list::{ListedDrawer, Room, Taxonomy, Wing};
pub use once::{Answers, Done, Idempotency, WriteRequest};
pub(crate) use read::{Buffers, Opened, open_in, open_unchained};
pub use reconcile::Recovery;
pub use repair::RepairReport;
pub use search::{SearchHit, SearchReply, SearchRequest};
pub use stats::{GraphStats, Stats, WingCount};
pub use supersessions::Supersessions;
pub(crate) use txn::{Committed, IndexChange};
