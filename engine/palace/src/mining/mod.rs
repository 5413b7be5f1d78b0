//! Files and transcripts in, drawers out: which files, which room, which pieces. The vault decides what is kept.
//!
//! Nothing here changes a text: a file's drawers concatenate to the file, byte for byte.

mod convos;
mod files;
mod filing;
mod held;
mod places;
mod report;
mod said;
mod source;
mod sweep;
mod walk;

pub use convos::mine_convos;
pub use files::mine_files;
pub use report::{MineReport, PassedOver, Skipped};
pub use sweep::{SweepReport, sweep};
pub use walk::read as read_text_file;

/// Larger files are named as skipped: they are no notes and no transcripts.
const MAX_FILE_BYTES: u64 = 256 << 20;

#[cfg(test)]
mod filing_again_test;
#[cfg(test)]
mod mining_test;
