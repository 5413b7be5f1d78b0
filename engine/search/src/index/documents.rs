//! Owns the columns of an index, a slot a drawer: key, order, place, neighbours, age, length.
//! A removed drawer keeps its slot until the index is compacted. It knows neither words nor vectors.

use hashbrown::HashTable;
use rustc_hash::{FxHashMap, FxHasher};
use std::hash::{Hash, Hasher};
use undercroft_text::ScriptSet;

use super::kernel::LINES_MAX;
use super::names::{NONE, NameId, Names};
use crate::document::{DocumentKey, DocumentMeta};

/// Number of a drawer's row in every column.
pub(crate) type Slot = u32;
/// Stands for "no neighbour".
pub(crate) const NO_SLOT: Slot = u32::MAX;
/// Stands for "no day".
pub(crate) const NO_DAY: i32 = i32::MIN;

/// Microseconds in which recency halves: thirty days.
const HALF_LIFE_MICROS: f64 = 30.0 * 86_400.0 * 1e6;
/// Ages are kept relative to 2020-01-01, so that they stay in the range of `f64` for eighty years around it.
const EPOCH_MICROS: f64 = 1_577_836_800.0 * 1e6;
/// Largest exponent of an age that is kept; beyond it drawers count as equally old or new.
const EXPONENT_MAX: f64 = 1_000.0;

/// The columns.
#[derive(Clone, Debug, Default)]
pub(crate) struct Documents {
    pub(crate) keys: Vec<DocumentKey>,
    pub(crate) seqs: Vec<u64>,
    /// Room within its wing: index into `places`.
    pub(crate) places: Vec<u32>,
    pub(crate) sources: Vec<NameId>,
    pub(crate) chunks: Vec<u32>,
    pub(crate) kinds: Vec<NameId>,
    /// `2^(filed / half-life)`, relative to 2020; 0 when unknown.
    pub(crate) ages: Vec<f64>,
    pub(crate) days: Vec<i32>,
    pub(crate) lengths: Vec<u32>,
    pub(crate) languages: Vec<u8>,
    /// Lines with words, from 1 to [`LINES_MAX`].
    pub(crate) lines: Vec<u8>,
    pub(crate) scripts: Vec<ScriptSet>,
    pub(crate) live: Vec<bool>,
    /// Neighbours in the thread (same room and source).
    pub(crate) before: Vec<Slot>,
    pub(crate) after: Vec<Slot>,
    /// Languages of all drawers, as bits.
    pub(crate) languages_present: u32,
    pub(crate) live_count: usize,
    pub(crate) length_total: u64,
    pub(crate) wings: Names,
    pub(crate) rooms: Names,
    pub(crate) source_names: Names,
    pub(crate) kind_names: Names,
    /// Wing and room of each place.
    pub(crate) place_names: Vec<(NameId, NameId)>,
    place_numbers: FxHashMap<(NameId, NameId), u32>,
    /// Slots of each thread in order of chunk, then seq.
    threads: FxHashMap<(u32, NameId), Vec<Slot>>,
    slots: HashTable<Slot>,
}

impl Documents {
    /// Slots, live and removed.
    pub(crate) fn len(&self) -> usize {
        self.keys.len()
    }

    /// The tables of names, in the order of an image.
    pub(crate) fn tables(&mut self) -> [&mut Names; 4] {
        [&mut self.wings, &mut self.rooms, &mut self.source_names, &mut self.kind_names]
    }

    /// The live slot of a key.
    pub(crate) fn find(&self, key: &DocumentKey) -> Option<Slot> {
        self.slots.find(hash(key), |slot| self.keys[*slot as usize] == *key).copied()
    }

    /// Mean length of the live drawers, at least 1.
    pub(crate) fn mean_length(&self) -> f32 {
        (self.length_total as f64 / self.live_count.max(1) as f64).max(1.0) as f32
    }

    /// Appends a drawer, whose key must not be live.
    pub(crate) fn push(
        &mut self,
        meta: &DocumentMeta,
        length: u32,
        language: u8,
        scripts: ScriptSet,
        lines: u32,
    ) -> Slot {
        let place = self.intern_place(&meta.wing, &meta.room);
        self.keys.push(meta.key);
        self.seqs.push(meta.seq);
        self.places.push(place);
        self.sources.push(self.source_names.intern_optional(meta.source.as_deref()));
        self.chunks.push(meta.chunk);
        self.kinds.push(self.kind_names.intern_optional(meta.kind.as_deref()));
        self.ages.push(age(meta.filed_at_micros));
        self.days.push(meta.content_day.unwrap_or(NO_DAY));
        self.lengths.push(length);
        self.languages.push(language);
        self.scripts.push(scripts);
        self.lines.push(lines.clamp(1, u32::from(LINES_MAX)) as u8);
        self.live.push(true);
        self.before.push(NO_SLOT);
        self.after.push(NO_SLOT);
        let slot = (self.len() - 1) as Slot;
        self.register(slot);
        slot
    }

    /// Appends a live drawer of another index.
    pub(crate) fn copy_from(&mut self, old: &Self, slot: Slot) -> Slot {
        let at = slot as usize;
        let (wing, room) = old.place_names[old.places[at] as usize];
        let name = |names: &Names, id| names.get(id).map(str::to_owned);
        let meta = DocumentMeta {
            key: old.keys[at],
            seq: old.seqs[at],
            wing: name(&old.wings, wing).unwrap_or_default(),
            room: name(&old.rooms, room).unwrap_or_default(),
            source: name(&old.source_names, old.sources[at]),
            chunk: old.chunks[at],
            kind: name(&old.kind_names, old.kinds[at]),
            filed_at_micros: i64::MIN,
            content_day: (old.days[at] != NO_DAY).then_some(old.days[at]),
        };
        let new =
            self.push(&meta, old.lengths[at], old.languages[at], old.scripts[at], u32::from(old.lines[at]));
        self.ages[new as usize] = old.ages[at];
        new
    }

    /// Counts all slots of columns that were filled from an image; `false` when a key comes twice.
    pub(crate) fn register_all(&mut self) -> bool {
        let slots = self.len();
        self.live = vec![true; slots];
        self.before = vec![NO_SLOT; slots];
        self.after = vec![NO_SLOT; slots];
        for slot in 0..slots {
            if self.find(&self.keys[slot]).is_some() {
                return false;
            }
            self.register(slot as Slot);
        }
        true
    }

    /// Counts a live slot whose columns are written, and finds its neighbours.
    pub(crate) fn register(&mut self, slot: Slot) {
        let index = slot as usize;
        self.live_count += 1;
        self.languages_present |= 1 << self.languages[index];
        self.length_total += u64::from(self.lengths[index]);
        let Self { keys, slots, .. } = self;
        slots.insert_unique(hash(&keys[index]), slot, |slot| hash(&keys[*slot as usize]));
        let thread = self.threads.entry((self.places[index], self.sources[index])).or_default();
        let order =
            |slot: Slot| (self.chunks[slot as usize], self.seqs[slot as usize], self.keys[slot as usize]);
        let at = thread.partition_point(|other| order(*other) < order(slot));
        thread.insert(at, slot);
        let before = if at == 0 { NO_SLOT } else { thread[at - 1] };
        let after = thread.get(at + 1).copied().unwrap_or(NO_SLOT);
        self.link(before, slot);
        self.link(slot, after);
    }

    /// Removes a live key; its slot stays behind, dead.
    pub(crate) fn remove(&mut self, key: &DocumentKey) -> Option<Slot> {
        let keys = &self.keys;
        let entry = self.slots.find_entry(hash(key), |slot| keys[*slot as usize] == *key).ok()?;
        let (slot, _) = entry.remove();
        let index = slot as usize;
        self.live[index] = false;
        self.live_count -= 1;
        self.length_total -= u64::from(self.lengths[index]);
        let (before, after) = (self.before[index], self.after[index]);
        self.link(before, after);
        (self.before[index], self.after[index]) = (NO_SLOT, NO_SLOT);
        let thread_key = (self.places[index], self.sources[index]);
        if let Some(thread) = self.threads.get_mut(&thread_key) {
            let order =
                |slot: Slot| (self.chunks[slot as usize], self.seqs[slot as usize], self.keys[slot as usize]);
            let at = thread.partition_point(|other| order(*other) < order(slot));
            thread.remove(at);
            if thread.is_empty() {
                self.threads.remove(&thread_key);
            }
        }
        Some(slot)
    }

    /// The place of a room in a wing, if any drawer ever lay there.
    pub(crate) fn intern_place(&mut self, wing: &str, room: &str) -> u32 {
        let names = (self.wings.intern(wing), self.rooms.intern(room));
        *self.place_numbers.entry(names).or_insert_with(|| {
            self.place_names.push(names);
            (self.place_names.len() - 1) as u32
        })
    }

    fn link(&mut self, before: Slot, after: Slot) {
        if before != NO_SLOT {
            self.after[before as usize] = after;
        }
        if after != NO_SLOT {
            self.before[after as usize] = before;
        }
    }

    /// Bytes on the heap.
    pub(crate) fn memory_bytes(&self) -> usize {
        let a_slot = size_of::<DocumentKey>() + 8 + 4 * 4 + 8 + 4 + 4 + 1 + 1 + 4 + 1 + 4 + 4;
        let threads: usize = self.threads.values().map(|thread| 40 + thread.capacity() * 4).sum();
        let names = [&self.wings, &self.rooms, &self.source_names, &self.kind_names];
        self.keys.capacity() * a_slot
            + self.slots.capacity() * 5
            + threads
            + names.iter().map(|names| names.memory_bytes()).sum::<usize>()
            + self.place_names.capacity() * 24
    }
}

/// `2^(filed / half-life)` relative to 2020: recency is this times [`age_factor`] of the ranking instant.
pub(crate) fn age(filed_at_micros: i64) -> f64 {
    if filed_at_micros == i64::MIN {
        return 0.0;
    }
    exponent(filed_at_micros).exp2()
}

/// What [`age`] is multiplied by to give the recency at an instant.
pub(crate) fn age_factor(now_micros: i64) -> f64 {
    (-exponent(now_micros)).exp2()
}

fn exponent(micros: i64) -> f64 {
    ((micros as f64 - EPOCH_MICROS) / HALF_LIFE_MICROS).clamp(-EXPONENT_MAX, EXPONENT_MAX)
}

fn hash(key: &DocumentKey) -> u64 {
    let mut hasher = FxHasher::default();
    key.hash(&mut hasher);
    hasher.finish()
}

const _: () = assert!(NONE == NO_SLOT, "both absences are written the same way in an image");
