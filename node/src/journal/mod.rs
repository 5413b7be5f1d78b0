//! The journal: one append-only log on disk for all Raft groups of a node.
//!
//! [`Journal`] is the log of the node, [`GroupLog`] that of one group in it, [`GroupStore`] the same behind openraft's storage
//! traits. Appends of all groups that wait share one flush, and a *sync mark* behind it. On opening, what cannot be read behind
//! the last mark is a torn tail and is cut; what cannot be read below one may have been acknowledged: then the journal is
//! retired, and the Raft ids that belong to it. The format is in `docs/formats/journal.md`. Nothing here knows what an entry says.

pub mod body;
pub mod disk;
mod group;
#[expect(clippy::module_inception, reason = "the type of this name is what the module is about")]
mod journal;
mod keeper;
pub mod limits;
mod log;
mod names;
mod reading;
pub mod record;
mod recover;
mod replay;
mod room;
pub mod segment;
mod shared;
mod store;

pub use disk::{Disk, DiskFile, SystemDisk};
pub use journal::{Journal, Recovered, Status};
pub use limits::Sizes;
pub use log::GroupLog;
pub use names::{Floor, FloorChange, Group, JournalId, LogId, Vote};
pub use recover::{Retired, Why};
pub use store::{GroupStore, GroupTypes};

#[cfg(test)]
mod damage_test;
#[cfg(test)]
mod format_test;
#[cfg(test)]
mod history_test;
#[cfg(test)]
mod journal_test;
#[cfg(test)]
mod model_test;
#[cfg(test)]
mod sim_test;
#[cfg(test)]
mod suite_test;
