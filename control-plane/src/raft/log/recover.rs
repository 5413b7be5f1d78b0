//! Reading the log when a member starts: every record in order, a torn tail cut, anything else refused.

use std::fs::{self, File};
use std::io;
use std::path::Path;

use super::files::{self, HEAD};
use super::record::{Record, mark_behind};
use super::view::View;
use crate::Error;
use crate::raft::folder;

/// A file as it was read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Known {
    pub(super) sequence: u64,
    /// The highest entry in it.
    pub(super) highest: Option<u64>,
    /// Its length in bytes.
    pub(super) length: u64,
}

/// The log as it was found: its content, and its files in order.
#[derive(Debug)]
pub(super) struct Recovered {
    pub(super) view: View,
    pub(super) files: Vec<Known>,
    /// The highest entry in files before the first one that is left.
    before: Option<u64>,
}

/// Reads all files.
///
/// # Errors
/// [`Error::LogMissing`] when there are none, [`Error::LogDamaged`] when something that was flushed cannot be read.
pub(super) fn recover(folder: &Path, member: u64) -> Result<Recovered, Error> {
    let mut sequences = files::listed(folder).map_err(|error| Error::io("read", folder, error))?;
    // A file is begun before anything is written to it: one that was not begun whole holds nothing.
    if let Some(last) = sequences.last().copied()
        && unbegun(folder, member, last)?
    {
        remove(folder, last)?;
        sequences.pop();
    }
    if sequences.is_empty() {
        return Err(Error::LogMissing(folder.to_path_buf()));
    }
    if let Some(gap) = sequences.windows(2).find(|pair| pair[0] + 1 != pair[1]) {
        return Err(damaged(folder, gap[0] + 1, 0, "the file is missing"));
    }
    let mut recovered = Recovered { view: View::default(), files: Vec::new(), before: None };
    let last = sequences.last().copied().unwrap_or_default();
    for sequence in sequences {
        read_file(folder, member, sequence, sequence == last, &mut recovered)?;
    }
    // Files go, oldest first, when all their entries are purged; any other that is missing was lost.
    let lost = recovered.before > recovered.view.purged.map(|log_id| log_id.index);
    if lost || !recovered.view.is_whole() {
        return Err(damaged(folder, last, 0, "entries between the purged one and the first are missing"));
    }
    Ok(recovered)
}

fn damaged(folder: &Path, sequence: u64, at: usize, problem: &str) -> Error {
    Error::LogDamaged { file: files::path(folder, sequence), at: at as u64, problem: problem.to_owned() }
}

fn unbegun(folder: &Path, member: u64, sequence: u64) -> Result<bool, Error> {
    let path = files::path(folder, sequence);
    let bytes = fs::read(&path).map_err(|error| Error::io("read", &path, error))?;
    let headed = files::check_head(&bytes, member, sequence);
    let headed = headed.map_err(|error| damaged(folder, sequence, 0, &error.to_string()))?;
    let begun = headed && Record::read(&bytes[HEAD..]).is_some();
    Ok(!begun && !mark_behind(&bytes, 0, sequence))
}

fn remove(folder: &Path, sequence: u64) -> Result<(), Error> {
    let path = files::path(folder, sequence);
    fs::remove_file(&path)
        .and_then(|()| folder::sync(folder))
        .map_err(|error| Error::io("remove", &path, error))
}

fn read_file(
    folder: &Path,
    member: u64,
    sequence: u64,
    is_last: bool,
    into: &mut Recovered,
) -> Result<(), Error> {
    let path = files::path(folder, sequence);
    let bytes = fs::read(&path).map_err(|error| Error::io("read", &path, error))?;
    let headed = files::check_head(&bytes, member, sequence);
    if !headed.map_err(|error| damaged(folder, sequence, 0, &error.to_string()))? {
        return Err(damaged(folder, sequence, 0, "its head cannot be read"));
    }
    let (mut at, mut highest_here) = (HEAD, None);
    while at < bytes.len() {
        let Some((record, length)) = Record::read(&bytes[at..]) else { break };
        if let Record::Entry(entry) = &record {
            highest_here = highest_here.max(Some(openraft::entry::RaftEntry::log_id(entry).index));
        }
        if let Record::State { highest, .. } = &record
            && into.files.is_empty()
        {
            into.before = *highest;
        }
        into.view.take(&record).map_err(|error| damaged(folder, sequence, at, &error.to_string()))?;
        at += length;
    }
    if at < bytes.len() {
        // Only the last file can end in the middle: it was flushed before the next one was begun.
        if !is_last || mark_behind(&bytes, at, sequence) {
            return Err(damaged(folder, sequence, at, "a record that was flushed cannot be read"));
        }
        cut(&path, at as u64).map_err(|error| Error::io("cut", &path, error))?;
    }
    into.files.push(Known { sequence, highest: highest_here, length: at as u64 });
    Ok(())
}

/// Cuts what was never acknowledged. Left there, it could look like damage once more is written behind it.
fn cut(path: &Path, length: u64) -> io::Result<()> {
    let file = File::options().write(true).open(path)?;
    file.set_len(length)?;
    file.sync_all()
}
