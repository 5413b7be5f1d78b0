//! How much a process may hold at once. Decides how many vaults fit into the files that it may open.

use std::time::Duration;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::limits;

/// Bounds of a serving process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// Vaults open at once.
    pub open_vaults: usize,
    /// Memory of all indexes, in bytes.
    pub index_bytes: usize,
    /// A vault that nobody used for so long is closed.
    pub idle: Duration,
    /// Reads that run at once.
    pub reads: usize,
    /// Reads of one vault that run at once, at least 2: all of them while no other vault is read, else half.
    pub reads_per_vault: usize,
    /// Writes that may wait for one vault.
    pub waiting_writes: usize,
    /// Reads that may wait for one vault.
    pub waiting_reads: usize,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            open_vaults: limits::OPEN_VAULTS,
            index_bytes: limits::INDEX_BYTES,
            idle: limits::IDLE,
            reads: limits::READS_AT_LEAST,
            reads_per_vault: limits::READS_PER_VAULT,
            waiting_writes: limits::WAITING_WRITES,
            waiting_reads: limits::WAITING_READS,
        }
    }
}

impl Bounds {
    /// The bounds that this machine gives: twice its cores for reads, its cores for those of one vault, and as many vaults as the files of this process
    /// allow, after the soft limit of files was raised to the hard one.
    #[must_use]
    pub fn of_this_machine() -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Self {
            open_vaults: vaults_within(raise_file_limit()),
            reads: limits::READS_AT_LEAST.max(cores * 2),
            reads_per_vault: limits::READS_PER_VAULT.max(cores),
            ..Self::default()
        }
    }
}

/// How many files the process may open, when that is not enough for every connection and one vault.
#[must_use]
pub fn too_few_files() -> Option<u64> {
    let needed = limits::DESCRIPTORS_RESERVED + limits::DESCRIPTORS_PER_VAULT;
    getrlimit(Resource::Nofile).current.filter(|files| *files < needed)
}

/// Raises the soft limit of open files as far as the process may, and says what holds now; `None` is no limit.
fn raise_file_limit() -> Option<u64> {
    let found = getrlimit(Resource::Nofile);
    let wanted = Rlimit { current: found.maximum, maximum: found.maximum };
    match setrlimit(Resource::Nofile, wanted) {
        Ok(()) => found.maximum,
        Err(_) => found.current,
    }
}

/// Vaults that fit into so many files; always at least one.
fn vaults_within(files: Option<u64>) -> usize {
    let Some(files) = files else { return limits::OPEN_VAULTS };
    let fit = files.saturating_sub(limits::DESCRIPTORS_RESERVED) / limits::DESCRIPTORS_PER_VAULT;
    usize::try_from(fit).unwrap_or(usize::MAX).clamp(1, limits::OPEN_VAULTS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vaults_fit_into_the_files_that_may_be_open() {
        assert_eq!(vaults_within(None), limits::OPEN_VAULTS);
        assert_eq!(vaults_within(Some(u64::MAX)), limits::OPEN_VAULTS);
        assert_eq!(vaults_within(Some(0)), 1);
        let files = limits::DESCRIPTORS_RESERVED + 3 * limits::DESCRIPTORS_PER_VAULT;
        assert_eq!(vaults_within(Some(files)), 3);
        assert_eq!(vaults_within(Some(files - 1)), 2);
    }
}
