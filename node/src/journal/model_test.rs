//! What a journal must hold after what was asked of it: the model of the tests, and a host that runs a journal beside it.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use parking_lot::Mutex;
use undercroft_proto::VaultId;

use super::journal::{created, opened};
use super::keeper::Keeper;
use super::limits::BATCH_BYTES;
use super::log::GroupLog;
use super::shared::{Done, Op};
use super::sim_test::SimDisk;
use super::{Floor, FloorChange, Group, Journal, JournalId, LogId, Retired, Sizes, Vote};

pub(super) const ID: JournalId = JournalId::from_bytes([7; 16]);
/// Bounds that a few writes reach.
pub(super) const SMALL: Sizes = Sizes {
    segment_bytes: 1500,
    journal_bytes: 1 << 20,
    entries: 10_000,
    waiting_bytes: 1 << 20,
    cache_bytes: 40 * super::limits::CACHE_SHARES,
    carry_bytes: 200,
    groups: 16,
};

pub(super) fn folder() -> &'static Path {
    Path::new("j")
}

/// What one group holds.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Content {
    pub(super) vote: Option<Vote>,
    pub(super) committed: Option<LogId>,
    pub(super) purged: Option<LogId>,
    pub(super) last: Option<LogId>,
    pub(super) floor: Option<Floor>,
    pub(super) entries: Vec<(LogId, Bytes)>,
}

/// Something that is asked of a group, before it is known at which index.
#[derive(Debug, Clone)]
pub(super) enum Ask {
    Append { count: u64, size: usize },
    Vote(u64),
    Committed(u64),
    Truncate(u64),
    Purge(u64),
    Floor(u64),
    FloorChange(u64),
    Remove,
}

/// A group's past: what it would hold after each thing that was asked, and how much of that was acknowledged.
#[derive(Default)]
struct Past {
    states: Vec<Content>,
    acknowledged: usize,
    removed: bool,
    term: u64,
}

pub(super) struct Host {
    pub(super) disk: SimDisk,
    pub(super) journal: Journal,
    pub(super) keeper: Keeper,
    past: BTreeMap<u64, Past>,
    /// Group, place in its past, and whether it was done.
    told: Arc<Mutex<Vec<(u64, usize, bool)>>>,
}

impl Host {
    pub(super) fn create(disk: SimDisk) -> Self {
        let parts = created(Arc::new(disk.clone()), folder(), ID, SMALL).expect("a journal");
        Self::of(disk, parts, BTreeMap::new())
    }

    fn of(disk: SimDisk, (shared, keeper, taken): super::journal::Parts, past: BTreeMap<u64, Past>) -> Self {
        let journal = Journal::of(shared, None, taken);
        Self { disk, journal, keeper, past, told: Arc::default() }
    }

    pub(super) fn log(&self, group: u64) -> GroupLog {
        self.journal.group(Group::new(group)).expect("a group")
    }

    /// Everything that waits, in one flush.
    pub(super) fn pump(&mut self) {
        let tasks = self.keeper.shared.queue.take(BATCH_BYTES, false).unwrap_or_default();
        self.keeper.batch(tasks);
        for (group, place, done) in std::mem::take(&mut *self.told.lock()) {
            let past = self.past.get_mut(&group).expect("it was asked");
            if done {
                past.acknowledged = past.acknowledged.max(place);
                if past.removed && place + 1 == past.states.len() {
                    past.removed = false;
                }
            }
        }
    }

    /// Asks something of a group; what it makes no sense to ask is not asked.
    pub(super) fn ask(&mut self, group: u64, ask: &Ask) {
        let log = self.log(group);
        let past = self
            .past
            .entry(group)
            .or_insert_with(|| Past { states: vec![Content::default()], ..Past::default() });
        if past.removed {
            return;
        }
        let mut after = past.states.last().expect("a state").clone();
        let Some(op) = after.plan(past.states.len() as u64, &mut past.term, ask) else { return };
        // A loss of power may leave the first entries of an append.
        let parts = past.states.last().expect("a state").parts(&op);
        let (told, place) = (Arc::clone(&self.told), past.states.len() + parts.len());
        let done: Done = Box::new(move |result| told.lock().push((group, place, result.is_ok())));
        let done = Some(done).filter(|_| !matches!(ask, Ask::Committed(_)));
        match log.hand_over(op, done, None) {
            Ok(()) => {
                past.removed = matches!(ask, Ask::Remove);
                past.states.extend(parts);
                past.states.push(after);
            }
            Err(error) => assert!(self.journal.status().failed.is_some(), "refused: {error}"),
        }
    }

    /// What callers see must be what was asked, whether it was written or not.
    pub(super) fn check(&self) {
        for (group, past) in self.past.iter().filter(|(_, past)| !past.removed) {
            let expected = past.states.last().expect("a state");
            assert_eq!(&seen(&self.log(*group)), expected, "group {group}");
        }
    }

    /// Goes on with the disk as it is now. What was acknowledged must be there, in each group nothing but what was asked, and that
    /// in its order.
    pub(super) fn reopen(self, disk: SimDisk) -> Self {
        let Self { mut past, .. } = self;
        let opened = open(&disk).unwrap_or_else(|retired| panic!("retired: {}", retired.why));
        let mut host = Self::of(disk, opened, BTreeMap::new());
        for (group, past) in &mut past {
            let found = seen(&host.log(*group));
            let possible = past.states.iter().enumerate().skip(past.acknowledged);
            let at = possible.filter(|(_, state)| **state == found).map(|(at, _)| at).last();
            let at = at.unwrap_or_else(|| {
                panic!("group {group} holds {found:?}, acknowledged was {:?}", past.states[past.acknowledged])
            });
            past.states.truncate(at + 1);
            (past.acknowledged, past.removed) = (at, false);
        }
        let known: Vec<u64> = past.keys().copied().collect();
        assert!(
            host.journal.groups().iter().all(|group| known.contains(&group.get())),
            "a group was invented"
        );
        host.past = past;
        host
    }

    /// Whether every group holds something that it must hold.
    pub(super) fn agrees(&self, found: &Journal) -> bool {
        self.past.iter().all(|(group, past)| {
            let found = seen(&found.group(Group::new(*group)).expect("a group"));
            past.states[past.acknowledged..].contains(&found)
        })
    }
}

pub(super) fn open(disk: &SimDisk) -> Result<super::journal::Parts, Retired> {
    opened(Arc::new(disk.clone()), folder(), SMALL).expect("the disk can be read")
}

/// What callers of a group see.
pub(super) fn seen(log: &GroupLog) -> Content {
    let (purged, last) = log.ends();
    Content {
        vote: log.vote(),
        committed: log.committed(),
        purged,
        last,
        floor: log.floor().map(|floor| (*floor).clone()),
        entries: log.read_now(0, u64::MAX).expect("entries can be read"),
    }
}

/// A payload that says where it belongs.
fn payload(step: u64, log_id: LogId, size: usize) -> Bytes {
    let text = format!("{step}/{log_id}/");
    Bytes::from(text.into_bytes().into_iter().cycle().take(size).collect::<Vec<_>>())
}

impl Content {
    /// What it would be with only the first entries of an append.
    fn parts(&self, op: &Op) -> Vec<Self> {
        let Op::Entries(entries) = op else { return Vec::new() };
        let part = |count| {
            let mut part = self.clone();
            part.entries.extend(entries[..count].iter().cloned());
            part.last = part.entries.last().map(|(log_id, _)| *log_id);
            part
        };
        (1..entries.len()).map(part).collect()
    }

    /// Does what was asked, and says how that is asked of a log; `None` when it makes no sense.
    fn plan(&mut self, step: u64, term: &mut u64, ask: &Ask) -> Option<Op> {
        let begin = self.purged.map_or(0, |purged| purged.index + 1);
        let next = self.last.map_or(0, |last| last.index + 1);
        Some(match *ask {
            Ask::Append { count, size } => {
                let ids = (next..next + count).map(|index| LogId::new(*term, 1, index));
                let entries: Vec<_> = ids.map(|log_id| (log_id, payload(step, log_id, size))).collect();
                self.entries.extend(entries.iter().cloned());
                self.last = self.entries.last().map(|(log_id, _)| *log_id).or(self.last);
                Op::Entries(entries)
            }
            Ask::Vote(node) => {
                *term += 1;
                self.vote = Some(Vote { term: *term, node, committed: node == 1 });
                Op::Vote(self.vote?)
            }
            Ask::Committed(index) => {
                self.committed = Some(LogId::new(*term, 1, index));
                Op::Committed(self.committed)
            }
            Ask::Truncate(back) => {
                // Raft keeps what is committed; here, what is below the floor.
                let least = begin.max(self.floor.as_ref().map_or(0, |floor| floor.log_id.index + 1));
                let kept = next.saturating_sub(back + 1).max(least);
                self.entries.retain(|(log_id, _)| log_id.index < kept);
                let after = self.entries.last().map(|(log_id, _)| *log_id).or(self.purged);
                self.last = after;
                Op::Truncate(after)
            }
            Ask::Purge(ahead) => {
                let to = begin + ahead;
                let known =
                    self.entries.iter().find(|(log_id, _)| log_id.index == to).map(|(log_id, _)| *log_id);
                // Beyond the end, as after a snapshot.
                let log_id = known.unwrap_or(LogId::new(*term, 1, to));
                if self.floor.as_ref().is_some_and(|floor| floor.log_id.index < to) {
                    return None;
                }
                self.entries.retain(|(log_id, _)| log_id.index > to);
                self.purged = Some(log_id);
                self.last = self.last.filter(|last| last.index > to).or(Some(log_id));
                Op::Purge(log_id)
            }
            Ask::Floor(seed) => {
                let log_id = self.last?;
                let vaults = (0..seed % 4).map(|vault| (VaultId::from_parts(vault, 1), log_id));
                let membership = Bytes::from(vec![seed as u8; seed as usize % 30]);
                self.floor = Some(Floor { log_id, membership, vaults: vaults.collect() });
                Op::Floor(Arc::new(self.floor.clone()?))
            }
            Ask::FloorChange(seed) => {
                let log_id = self.last?;
                let membership = (seed % 3 == 0).then(|| Bytes::from(vec![1; seed as usize % 20]));
                let vaults = vec![
                    (VaultId::from_parts(seed % 4, 1), Some(log_id)),
                    (VaultId::from_parts(seed % 3, 1), None),
                ];
                let change = FloorChange { log_id, membership, vaults };
                self.floor = Some(self.floor.as_ref()?.changed(&change));
                Op::FloorChange(change, Arc::new(self.floor.clone()?))
            }
            Ask::Remove => {
                *self = Self::default();
                Op::Remove
            }
        })
    }
}
