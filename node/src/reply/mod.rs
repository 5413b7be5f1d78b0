//! What is answered, as types: one for each reply object of `/v1`, which is also what the commands print with `--json`.
//!
//! Owns shapes and nothing else: no handler, no status, no vault. What the engine answers as it is (search, taxonomy,
//! repair, …) has its shape there.

mod drawers;
mod evidence;
mod health;
mod places;
mod refused;
mod vaults;

pub use drawers::{Deleted, DrawerList, Duplicate, FoundDrawer, Saved, SourceDeleted, Updated};
pub use evidence::{History, VaultStats, Verified};
pub use health::{Damaged, Readiness};
pub use places::{WakeUp, WakeUpDrawer};
pub use refused::{Class, Refused, RefusedBySurface};
pub use vaults::{BackupList, BackupMade, ListedBackup, Restored, VaultCreated, VaultDeleted, VaultList};
