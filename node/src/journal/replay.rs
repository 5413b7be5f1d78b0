//! Records in their order give the state of each group. Owns the rules of what may follow what; reads no file.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use super::body::{self, Standing};
use super::group::{self, Laid, Position};
use super::names::{Floor, Group, LogId, Vote};
use super::record::{Kind, Record};

/// What the records so far say.
#[derive(Default)]
pub(super) struct Replay {
    groups: BTreeMap<Group, Replayed>,
}

#[derive(Default)]
struct Replayed {
    standing: Standing,
    floor: Option<Floor>,
    /// May have gaps until the end: an entry that was carried forward comes later than its neighbours.
    entries: BTreeMap<u64, Position>,
}

impl Replay {
    /// Takes a record in.
    ///
    /// # Errors
    /// What it contradicts.
    pub(super) fn take(&mut self, record: &Record<'_>, position: Position) -> Result<(), &'static str> {
        let group = Group::new(record.group);
        if record.kind == Kind::Remove {
            self.groups.remove(&group);
            return Ok(());
        }
        if matches!(record.kind, Kind::Mark | Kind::Oldest | Kind::End) {
            return Ok(());
        }
        self.groups.entry(group).or_default().take(record, position)
    }

    /// The groups, each with all its entries.
    ///
    /// # Errors
    /// The group of which entries are missing.
    pub(super) fn finish(self) -> Result<BTreeMap<Group, Laid>, Group> {
        self.groups.into_iter().map(|(group, found)| Ok((group, found.finish().ok_or(group)?))).collect()
    }
}

impl Replayed {
    fn take(&mut self, record: &Record<'_>, position: Position) -> Result<(), &'static str> {
        let log_id = record.log_id;
        match record.kind {
            Kind::Entry => self.append(log_id, position)?,
            Kind::Carried => {
                let last = self.standing.last.map_or(0, |last| last.index);
                if log_id.index < self.standing.begin || log_id.index > last {
                    return Err("an entry was carried forward that the log does not have");
                }
                self.entries.insert(log_id.index, position);
            }
            Kind::Vote => {
                self.standing.vote =
                    Some(Vote { term: log_id.term, node: log_id.node, committed: log_id.index == 1 });
            }
            Kind::Committed => self.standing.committed = record.log_id(),
            Kind::Truncate => {
                let after = record.log_id();
                group::truncate(&mut self.standing, after);
                self.entries.split_off(&after.map_or(0, |after| after.index + 1));
            }
            Kind::Purge => {
                group::purge(&mut self.standing, log_id);
                self.entries = self.entries.split_off(&(log_id.index + 1));
            }
            Kind::Floor => {
                self.floor = Some(body::read_floor(log_id, record.body).ok_or("a floor cannot be read")?);
            }
            Kind::FloorChange => {
                let change = body::read_floor_change(log_id, record.body);
                let change = change.ok_or("a change of a floor cannot be read")?;
                self.floor =
                    Some(self.floor.as_ref().ok_or("a floor changed that is not there")?.changed(&change));
            }
            Kind::State => {
                self.standing = body::read_standing(record.body).ok_or("a state cannot be read")?;
                self.entries = self.entries.split_off(&self.standing.begin);
            }
            Kind::Remove | Kind::Mark | Kind::Oldest | Kind::End => {}
        }
        Ok(())
    }

    fn append(&mut self, log_id: LogId, position: Position) -> Result<(), &'static str> {
        match self.standing.last {
            Some(last) if last.index + 1 != log_id.index => {
                return Err("an entry does not follow the one before it");
            }
            Some(_) => {}
            None => self.standing.begin = log_id.index,
        }
        self.standing.last = Some(log_id);
        self.entries.insert(log_id.index, position);
        Ok(())
    }

    /// `None` when an entry is missing.
    fn finish(self) -> Option<Laid> {
        let end = self.standing.last.map_or(self.standing.begin, |last| last.index + 1);
        let whole = self.entries.keys().copied().eq(self.standing.begin..end);
        let positions: VecDeque<Position> = self.entries.into_values().collect();
        whole.then(|| Laid::found(self.standing, self.floor.map(Arc::new), positions))
    }
}
