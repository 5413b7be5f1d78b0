//! Segment files: their names, their heads, how one begins. What is in them is `record`'s.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::disk::{Disk, DiskFile, write_all};
use super::names::JournalId;

/// Begins every segment; the last byte is the version of the format.
pub const MAGIC: [u8; 8] = *b"UCjrnal\x01";
/// Magic, journal, sequence, oldest, checksum.
pub const HEAD: usize = 8 + 16 + 8 + 8 + 4;

/// What a segment says of itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    /// Whose segment it is.
    pub journal: JournalId,
    /// Its place in the journal.
    pub sequence: u64,
    /// The oldest segment that was needed when it began.
    pub oldest: u64,
}

/// Why the head of a segment cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BadHead {
    /// It is damaged, or the file is none of a journal.
    Damaged,
    /// It is whole, of this version of the format.
    Version(u8),
}

impl Head {
    /// Its bytes.
    #[must_use]
    pub fn write(&self) -> [u8; HEAD] {
        let mut bytes = [0; HEAD];
        bytes[..8].copy_from_slice(&MAGIC);
        bytes[8..24].copy_from_slice(self.journal.as_bytes());
        bytes[24..32].copy_from_slice(&self.sequence.to_le_bytes());
        bytes[32..40].copy_from_slice(&self.oldest.to_le_bytes());
        let checksum = crc32c::crc32c(&bytes[..40]);
        bytes[40..].copy_from_slice(&checksum.to_le_bytes());
        bytes
    }

    /// The head at the beginning of a file.
    ///
    /// # Errors
    /// [`BadHead`].
    pub fn read(bytes: &[u8]) -> Result<Self, BadHead> {
        let bytes: &[u8; HEAD] = bytes.first_chunk().ok_or(BadHead::Damaged)?;
        let (content, checksum) = bytes.split_at(40);
        if crc32c::crc32c(content).to_le_bytes() != checksum || content[..7] != MAGIC[..7] {
            return Err(BadHead::Damaged);
        }
        if content[7] != MAGIC[7] {
            return Err(BadHead::Version(content[7]));
        }
        let mut journal = [0; 16];
        journal.copy_from_slice(&content[8..24]);
        let number = |at: usize| content[at..].first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
        Ok(Self { journal: JournalId::from_bytes(journal), sequence: number(24), oldest: number(32) })
    }
}

/// The path of the segment of this sequence.
#[must_use]
pub fn path(folder: &Path, sequence: u64) -> PathBuf {
    folder.join(format!("{sequence:016x}.journal"))
}

/// Segments that are there, in order, and files that were to become one.
pub(super) fn listed(disk: &dyn Disk, folder: &Path) -> io::Result<(Vec<u64>, Vec<PathBuf>)> {
    let (mut segments, mut unborn) = (Vec::new(), Vec::new());
    for name in disk.list(folder)? {
        if let Some(number) = name.strip_suffix(".journal") {
            // A name of another form is none that was given here.
            let number = u64::from_str_radix(number, 16).ok().filter(|_| number.len() == 16);
            segments.extend(number);
        } else if name.ends_with(".new") {
            unborn.push(folder.join(name));
        }
    }
    segments.sort_unstable();
    Ok((segments, unborn))
}

/// Makes a segment of these bytes. It gets its name when it is on disk whole, so that a segment without a head is a damaged one.
pub(super) fn begin(
    disk: &dyn Disk,
    folder: &Path,
    sequence: u64,
    bytes: &[u8],
) -> io::Result<Arc<dyn DiskFile>> {
    let path = path(folder, sequence);
    let beside = path.with_extension("new");
    let file = disk.create(&beside)?;
    write_all(&*file, bytes, 0)?;
    file.sync()?;
    disk.rename(&beside, &path)?;
    disk.sync_folder(folder)?;
    Ok(file)
}
