//! The files of the log: their names, their heads, the order in which they come and go.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use super::record::Record;
use crate::raft::codec::invalid;
use crate::raft::{Disk, folder};

/// Begins every file.
const MAGIC: [u8; 8] = *b"UCctlog\x01";
/// Magic, member, sequence, checksum.
pub(super) const HEAD: usize = 8 + 8 + 8 + 4;
/// A file that reached this size is followed by another.
pub(super) const FILE_BYTES: u64 = 8 << 20;

/// The path of the file of this sequence number.
pub(super) fn path(folder: &Path, sequence: u64) -> PathBuf {
    folder.join(format!("{sequence:016x}.log"))
}

/// Sequence numbers of the files that there are, in order.
pub(super) fn listed(folder: &Path) -> io::Result<Vec<u64>> {
    let mut found = Vec::new();
    for file in fs::read_dir(folder)? {
        let name = file?.file_name();
        let number = name.to_str().and_then(|name| name.strip_suffix(".log"));
        found.extend(number.and_then(|number| u64::from_str_radix(number, 16).ok()));
    }
    found.sort_unstable();
    Ok(found)
}

/// The head of a file.
fn head(member: u64, sequence: u64) -> [u8; HEAD] {
    let mut head = [0; HEAD];
    head[..8].copy_from_slice(&MAGIC);
    head[8..16].copy_from_slice(&member.to_le_bytes());
    head[16..24].copy_from_slice(&sequence.to_le_bytes());
    let checksum = crc32fast::hash(&head[..24]);
    head[24..].copy_from_slice(&checksum.to_le_bytes());
    head
}

/// Whether the file begins with a whole head.
///
/// # Errors
/// `InvalidData` when it is whole and of another member or place.
pub(super) fn check_head(bytes: &[u8], member: u64, sequence: u64) -> io::Result<bool> {
    let Some(found) = bytes.first_chunk::<HEAD>() else { return Ok(false) };
    if *found == head(member, sequence) {
        return Ok(true);
    }
    let (content, checksum) = found.split_at(24);
    if content[..8] == MAGIC && crc32fast::hash(content).to_le_bytes() == checksum {
        return Err(invalid(format!("it is a log of another member than {member}, or was renamed")));
    }
    Ok(false)
}

/// Begins a file with what holds now, and flushes it and its name.
pub(super) fn begin(
    disk: &dyn Disk,
    folder: &Path,
    (member, sequence): (u64, u64),
    state: &Record,
) -> io::Result<(File, u64)> {
    let mut bytes = head(member, sequence).to_vec();
    state.write(&mut bytes)?;
    let mut options = File::options();
    let mut file =
        options.create_new(true).append(true).mode(folder::FILE_MODE).open(path(folder, sequence))?;
    disk.write(&mut file, &bytes)?;
    disk.flush(&file)?;
    folder::sync(folder)?;
    Ok((file, bytes.len() as u64))
}
