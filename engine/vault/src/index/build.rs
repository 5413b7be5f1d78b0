//! Building the index from the rows, and catching up with what was written since.

use std::collections::HashSet;

use rayon::prelude::*;
use rusqlite::Connection;
use undercroft_crypto::{ChainState, Height};
use undercroft_search::{Analysed, DocumentMeta, Index, Quantized, analyse};

use super::recorded::{Recorded, Version};
use super::{document_key, document_meta, file, fit};
use crate::audit::{self, Label};
use crate::drawers::table::{self, DrawerRow};
use crate::error::{Error, Result};
use crate::keyring::Keyring;
use crate::limits;
use crate::storage::snapshot::Snapshot;
use crate::vault::open_unchained;

type Document = (DocumentMeta, Analysed, Quantized);

/// A row, opened, and the version that it is.
struct Filed {
    version: Version,
    document: Document,
}

/// Builds the index of everything that the snapshot shows, which must be all that the audit chain records. Pages are opened
/// on every core.
pub(super) fn build(keyring: &Keyring, snapshot: &Snapshot<'_>, dimension: usize) -> Result<Index> {
    let mut index = Index::new(dimension);
    let mut recorded = Recorded::load(snapshot)?;
    let mut opened = Vec::new();
    let mut page = fetch(snapshot, i64::MIN)?;
    while let Some(last) = page.last().map(|row| row.seq) {
        // While one page is filed, the next is opened, and the one after that is read.
        let (filed, (documents, next)) = rayon::join(
            || index.insert_all(std::mem::take(&mut opened)),
            || rayon::join(|| open_page(keyring, page, dimension), || fetch(snapshot, last)),
        );
        filed?;
        for Filed { version, document } in documents? {
            recorded.meet(&version)?;
            opened.push(document);
        }
        page = next?;
    }
    index.insert_all(opened)?;
    recorded.settle(keyring, snapshot)?;
    Ok(index)
}

fn fetch(snapshot: &Snapshot<'_>, after: i64) -> Result<Vec<DrawerRow>> {
    snapshot.with(|conn| table::after(conn, after, limits::PAGE_ROWS))
}

fn open_page(keyring: &Keyring, page: Vec<DrawerRow>, dimension: usize) -> Result<Vec<Filed>> {
    page.into_par_iter()
        .map(|row| {
            let Filed { version, document: (meta, text, vector) } = open(keyring, row)?;
            Ok(Filed { version, document: (meta, text, fit(dimension, vector)) })
        })
        .collect()
}

fn open(keyring: &Keyring, row: DrawerRow) -> Result<Filed> {
    let opened = open_unchained(keyring, row)?;
    let meta = document_meta(&opened.row, &opened.stored);
    let vector = opened.vector(keyring)?;
    let (id, label) = (opened.stored.id, keyring.label(&Label::Written(opened.stored.id)));
    let version = Version { id, written: opened.row.written, tag: opened.row.tag, label };
    Ok(Filed { version, document: (meta, analyse(&opened.text), vector) })
}

/// What catching up did.
pub(super) struct CaughtUp {
    pub(super) records: u64,
    pub(super) removed: bool,
}

/// Follows the audit chain from `from` to `until` and refiles every drawer that it names.
pub(super) fn catch_up(
    keyring: &Keyring,
    conn: &Connection,
    index: &mut Index,
    from: &ChainState,
    until: Height,
) -> Result<CaughtUp> {
    let mut touched = HashSet::new();
    let mut n = audit::state::as_sql(from.height);
    let end = audit::state::as_sql(until);
    let mut records = 0;
    while n < end {
        let rows = audit::table::after(conn, n, limits::PAGE_ROWS)?;
        let Some(last) = rows.last().map(|row| row.n) else {
            return Err(Error::ChainBroken { height: until.get() });
        };
        for row in rows.iter().take_while(|row| row.n <= end) {
            records += 1;
            if let Ok(Label::Written(id) | Label::Destroyed(id)) = row.open_label(keyring)?.parse::<Label>() {
                touched.insert(id);
            }
        }
        n = last;
    }
    let mut removed = false;
    for id in touched {
        let rid = keyring.record_id(&id);
        match table::by_rid(conn, &rid)? {
            Some(row) => {
                let (meta, text, vector) = open(keyring, row)?.document;
                file(index, meta, text, vector)?;
            }
            None => removed |= index.remove(&document_key(&rid)),
        }
    }
    Ok(CaughtUp { records, removed })
}
