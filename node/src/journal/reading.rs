//! Reading entries: from memory where they are new, otherwise from the disk, where each is checked again.

use std::io;
use std::sync::Arc;

use bytes::Bytes;

use super::disk::{DiskFile, read_full};
use super::group::{Cell, Found, Position};
use super::limits::READ_AGAIN;
use super::names::{Group, LogId};
use super::record::{self, FRAME, Kind, Place};
use super::segment;
use super::shared::Shared;

/// Which entries to read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wanted {
    pub(super) from: u64,
    /// Behind the last one.
    pub(super) to: u64,
    /// At most so many bytes, but the first entry in any case.
    pub(super) bytes: usize,
}

/// What was found, in order; or `None` when some of it lies on the disk and `disk` is false.
pub(super) fn read(
    shared: &Shared,
    cell: &Cell,
    wanted: Wanted,
    disk: bool,
) -> io::Result<Option<Vec<(LogId, Bytes)>>> {
    for _ in 0..READ_AGAIN {
        let found = cell.state.lock().find(wanted.from, wanted.to, wanted.bytes)?;
        if !disk && matches!(found.first(), Some(Found::There(..))) {
            return Ok(None);
        }
        let mut reader = Reader::new(shared);
        let entries = found.into_iter().map(|found| match found {
            Found::Here(log_id, payload) => Ok((log_id, payload)),
            Found::There(index, position) => reader.entry(cell.id, index, position),
        });
        match entries.collect() {
            // The file was deleted since: its entries stand elsewhere now, or are gone.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            entries => return entries.map(Some),
        }
    }
    Err(io::Error::new(io::ErrorKind::NotFound, "a file of the journal is missing; open the journal again"))
}

/// Reads entries one by one and keeps the file open in which the last one stood.
pub(super) struct Reader<'a> {
    shared: &'a Shared,
    open: Option<(u32, Arc<dyn DiskFile>)>,
}

impl<'a> Reader<'a> {
    pub(super) const fn new(shared: &'a Shared) -> Self {
        Self { shared, open: None }
    }

    /// The entry of a group that stands there.
    ///
    /// # Errors
    /// `InvalidData` when what stands there is not that entry, unharmed. `NotFound` when the file is gone.
    pub(super) fn entry(&mut self, group: Group, index: u64, at: Position) -> io::Result<(LogId, Bytes)> {
        let file = self.file(at.segment)?;
        let mut bytes = vec![0; FRAME + at.length as usize];
        let filled = read_full(&*file, &mut bytes, u64::from(at.offset))?;
        let place = Place::new(self.shared.id, u64::from(at.segment));
        let log_id = record::read(&bytes[..filled], place, u64::from(at.offset))
            .map(|(record, _)| record)
            .filter(|record| matches!(record.kind, Kind::Entry | Kind::Carried))
            .filter(|record| record.group == group.get() && record.log_id.index == index)
            .map(|record| record.log_id);
        let log_id = log_id.ok_or_else(|| {
            let problem = format!(
                "entry {index} of group {group} cannot be read at byte {} of segment {} of the journal; retire the journal and join anew",
                at.offset, at.segment
            );
            io::Error::new(io::ErrorKind::InvalidData, problem)
        })?;
        Ok((log_id, Bytes::from(bytes).slice(FRAME..)))
    }

    fn file(&mut self, segment: u32) -> io::Result<Arc<dyn DiskFile>> {
        if let Some((open, file)) = &self.open
            && *open == segment
        {
            return Ok(Arc::clone(file));
        }
        let file = self.shared.disk.open(&segment::path(&self.shared.folder, u64::from(segment)))?;
        self.open = Some((segment, Arc::clone(&file)));
        Ok(file)
    }
}
