//! One vault: encrypted, tamper-evident, searched by meaning and by word.
//!
//! Everything that is true of one vault is here: its schema, the one write door, the one read door, search over it,
//! verification, repair, consistent copies, and what a copy demands of the changes that it follows. This crate never speaks
//! a network protocol, never reads the environment and knows nothing of tenants or of how copies agree. Start at [`Vault`].

mod audit;
mod clock;
mod config;
mod drawers;
mod error;
mod index;
mod keyring;
pub mod limits;
pub mod replica;
mod storage;
mod vault;
mod verify;

pub use audit::HistoryRecord;
pub use clock::{Clock, ManualClock, SystemClock, parse_rfc3339, rfc3339};
pub use config::{VaultConfig, VaultOptions};
pub use drawers::{
    AddedBy, Claims, Drawer, DrawerId, DrawerMeta, Kind, LinkVerdict, NewDrawer, Occurrence, Origin,
    SourceBatch, SourceState, SupersessionCounts, SupersessionLink, drawer_id,
};
pub use error::{Error, ErrorClass, Result};
pub use vault::{
    AnchorReport, Answers, BackupInfo, BypassReason, Change, DedupReport, Done, FiledFrom, GraphStats,
    Idempotency, ListedDrawer, Outcome, Outcomes, Past, Recovery, RepairReport, Room, Saved, Screening,
    SearchHit, SearchReply, SearchRequest, SourceOutcome, Stats, Supersessions, Taxonomy, Vault, Wing,
    WingCount, WriteRequest, alone,
};
pub use verify::VerifyReport;
