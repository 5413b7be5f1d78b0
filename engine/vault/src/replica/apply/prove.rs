//! Whether everything that a segment changes is what its audit records say: each written row verifies itself and is named
//! with its tag by a record of this segment, each deleted row has its tombstone, and no record speaks of a row that is not
//! there. Reads only; what follows from the proof is written by the batch.

use rusqlite::Connection;
use rustc_hash::FxHashMap;
use undercroft_crypto::{Blind, Level, SegmentHeader, Tag};
use undercroft_search::analyse;

use super::super::changes::{Table, Value};
use super::super::verdict::Suspect;
use super::batch::{Batch, Stop};
use super::rows::Version;
use super::{ledgers, records};
use crate::drawers::table::{self, DrawerRow};
use crate::drawers::{DrawerId, full_text};
use crate::error::Result;
use crate::index::{document_key, document_meta};
use crate::keyring::Keyring;
use crate::vault::{Buffers, IndexChange, open_in, open_stored, open_vector};

/// What a proof leads to besides the rows themselves.
pub(super) struct Proved {
    /// Drawers ever filed, afterwards.
    pub(super) filed: i64,
    /// What the index in memory has to do.
    pub(super) index: Vec<IndexChange>,
    /// What the full-text table has to do.
    pub(super) words: Vec<Words>,
}

/// Words of a drawer that go out of the full-text table, and words that come in.
pub(super) struct Words {
    seq: i64,
    old: Option<String>,
    new: Option<String>,
}

/// Proves the changes of a segment whose header fits the copy.
pub(super) fn prove(
    batch: &Batch<'_>,
    header: &SegmentHeader,
    versions: &[Version<'_>],
) -> Result<Proved, Stop> {
    let keyring = batch.vault.keyring();
    let filed = ledgers::check(keyring, header, batch.filed, versions)?;
    let mut proof = Proof {
        keyring,
        follows: batch.vault.index().is_loaded(),
        buffers: Buffers::default(),
        buffer: Vec::new(),
        proved: Proved { filed, index: Vec::new(), words: Vec::new() },
    };
    let drawers = || versions.iter().filter(|version| version.table == Table::Drawers);
    let mut former = FxHashMap::default();
    for version in drawers().filter(|version| version.new.is_none()) {
        let (id, tag) = proof.deleted(version)?;
        former.insert(id, tag);
    }
    let mut records = records::replay(keyring, &batch.state.chain, header, versions, &former)?;
    if former.keys().any(|id| !records.destroyed.contains(id)) {
        return Err(Suspect::Unproved("a deleted drawer has no tombstone").into());
    }
    for version in drawers() {
        let Some(new) = version.new.as_deref() else { continue };
        let row = drawer(new).ok_or(Suspect::Unproved("a drawer's row is malformed"))?;
        check_place(version, &row, batch.filed, filed)?;
        let id = proof.written(version, &row)?;
        if records.standing.remove(&id) != Some((row.written, row.tag)) {
            return Err(Suspect::Unproved("a drawer's row is not named with its tag by a record").into());
        }
    }
    if !records.standing.is_empty() {
        return Err(Suspect::Unproved("a record names a drawer's row that is not among the changes").into());
    }
    for id in records.destroyed.iter().filter(|id| !former.contains_key(id)) {
        // Written and destroyed within the segment, so no row of it may have been there before.
        if table::by_rid(batch.conn, &keyring.record_id(id))?.is_some() {
            return Err(Suspect::Unproved("a destroyed drawer is not deleted").into());
        }
    }
    Ok(proof.proved)
}

/// A row stays under its filing number and record id; a new one has a number that was issued for it.
fn check_place(
    version: &Version<'_>,
    row: &DrawerRow<&[u8]>,
    filed_before: i64,
    filed_after: i64,
) -> Result<(), Suspect> {
    let placed = match version.old.as_deref().and_then(drawer) {
        Some(old) => old.rid == row.rid,
        None => version.old.is_none() && row.seq > filed_before && row.seq <= filed_after,
    };
    if placed {
        Ok(())
    } else {
        Err(Suspect::Unproved("a drawer's row has a place that was not issued for it"))
    }
}

struct Proof<'a> {
    keyring: &'a Keyring,
    /// An index is in memory, which has to follow.
    follows: bool,
    buffers: Buffers,
    buffer: Vec<u8>,
    proved: Proved,
}

impl Proof<'_> {
    fn deleted(&mut self, version: &Version<'_>) -> Result<(DrawerId, Tag), Stop> {
        let old = version.old.as_deref().and_then(drawer);
        let row = old.ok_or(Suspect::Rows(String::from("drawer row: a column is malformed")))?;
        let stored = open_stored(self.keyring, &row, &mut self.buffer)?;
        self.proved.index.push(IndexChange::Remove(document_key(&row.rid)));
        self.follow(row.seq, Some(&row), None);
        Ok((stored.id, row.tag))
    }

    fn written(&mut self, version: &Version<'_>, row: &DrawerRow<&[u8]>) -> Result<DrawerId, Stop> {
        // The tag covers the columns that the change did not name as well.
        let wrong = |_| Suspect::Unproved("a drawer's row fails its check");
        let id = if self.follows {
            let (stored, text) = open_in(self.keyring, row, &mut self.buffers).map_err(wrong)?;
            let vector = open_vector(self.keyring, row, stored.id).map_err(wrong)?;
            let meta = document_meta(row, &stored);
            self.proved.index.push(IndexChange::Put { meta, analysed: Some(analyse(text)), vector });
            stored.id
        } else {
            self.proved.index.push(IndexChange::Unread);
            open_stored(self.keyring, row, &mut self.buffer).map_err(wrong)?.id
        };
        let old = version.old.as_deref().and_then(drawer);
        self.follow(row.seq, old.as_ref(), Some(row));
        Ok(id)
    }

    /// Notes what the full-text table has to do, where there is one: there the content is the bare text.
    fn follow(&mut self, seq: i64, old: Option<&DrawerRow<&[u8]>>, new: Option<&DrawerRow<&[u8]>>) {
        if self.keyring.level() != Level::HmacOnly {
            return;
        }
        let words =
            |row: Option<&DrawerRow<&[u8]>>| row.map(|row| String::from_utf8_lossy(row.content).into_owned());
        let (old, new) = (words(old), words(new));
        if old != new {
            self.proved.words.push(Words { seq, old, new });
        }
    }
}

/// Brings the full-text table to the words that rows hold now.
pub(super) fn follow_words(conn: &Connection, words: &[Words]) -> Result<()> {
    for Words { seq, old, .. } in words {
        old.iter().try_for_each(|text| full_text::remove(conn, *seq, text))?;
    }
    for Words { seq, new, .. } in words {
        new.iter().try_for_each(|text| full_text::put(conn, *seq, text))?;
    }
    Ok(())
}

/// A row of `drawers` from its values.
fn drawer<'a>(values: &[Value<'a>]) -> Option<DrawerRow<&'a [u8]>> {
    let number = |at: usize| match values.get(at) {
        Some(Value::Integer(number)) => Some(*number),
        _ => None,
    };
    let bytes = |at: usize| match values.get(at) {
        Some(Value::Blob(bytes)) => Some(*bytes),
        _ => None,
    };
    let blind = |at| Blind::from_slice(bytes(at)?).ok();
    // Outer `None`: malformed. Inner `None`: NULL.
    let optional = |at: usize| match values.get(at) {
        Some(Value::Null) => Some(None),
        _ => blind(at).map(Some),
    };
    Some(DrawerRow {
        seq: number(0)?,
        written: number(1)?,
        rid: blind(2)?,
        wing: blind(3)?,
        room: blind(4)?,
        source: optional(5)?,
        fp: blind(6)?,
        supersedes: optional(7)?,
        meta: bytes(8)?,
        content: bytes(9)?,
        embedding: bytes(10)?,
        tag: Tag::from_slice(bytes(11)?).ok()?,
    })
}
