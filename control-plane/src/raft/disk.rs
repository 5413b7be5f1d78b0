//! Bytes to files, as the log and the snapshots put them there: in one place, so that a test can make the disk fail.

use std::fs::File;
use std::io::{self, Write};

/// Where files are written.
pub trait Disk: Send + Sync {
    /// Appends all of these bytes.
    ///
    /// # Errors
    /// What the system says. Some of the bytes may be there all the same.
    fn write(&self, file: &mut File, bytes: &[u8]) -> io::Result<()>;

    /// Waits until everything that was written survives a loss of power.
    ///
    /// # Errors
    /// What the system says. What was written before is then unknown.
    fn flush(&self, file: &File) -> io::Result<()>;
}

/// The disk of this machine.
pub struct RealDisk;

impl Disk for RealDisk {
    fn write(&self, file: &mut File, bytes: &[u8]) -> io::Result<()> {
        file.write_all(bytes)
    }

    fn flush(&self, file: &File) -> io::Result<()> {
        file.sync_data()
    }
}
