//! The façade of one vault: the only place that joins keys, tables, chain and index.
//! Every change passes `door`, every content that leaves passes `read`.

mod anchor;
mod backup;
mod create;
mod dedup;
mod door;
mod embedder;
mod found_log;
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
mod writer;

pub use anchor::AnchorReport;
pub(crate) use backup::make_new;
pub use backup::{BackupInfo, alone};
pub(crate) use create::{Making, make_folder, make_vault};
pub use dedup::DedupReport;
pub(crate) use door::Ready;
pub use door::{BypassReason, Change, Outcome, Outcomes, Saved, Screening, SourceOutcome};
pub(crate) use handle::Access;
pub use handle::Vault;
pub use list::{ListedDrawer, Room, Taxonomy, Wing};
pub use once::{Answers, Done, Idempotency, WriteRequest};
pub(crate) use read::{Buffers, Opened, open_in, open_stored, open_unchained, open_vector};
pub use reconcile::Recovery;
pub use repair::RepairReport;
pub(crate) use save::tombstone_tag;
pub use search::{SearchHit, SearchReply, SearchRequest};
pub use source::{FiledFrom, Past};
pub use stats::{GraphStats, Stats, WingCount};
pub use supersessions::Supersessions;
pub(crate) use txn::{Committed, IndexChange, Txn, roll_back};
