//! What the write door does with one text inside the transaction: make the row, seal it, tag it, chain it.

use undercroft_crypto::{BlindColumn, Level, SealDomain, Tag, TagDomain};

use super::Vault;
use super::door::Saved;
use super::prepare::Prepared;
use super::read::Opened;
use super::txn::{IndexChange, Txn, append_index};
use crate::audit::{self, Label};
use crate::clock::rfc3339;
use crate::drawers::full_text;
use crate::drawers::table::{self, DrawerRow};
use crate::drawers::{
    DrawerId, DrawerMeta, ID_RECIPE, NORMALIZE_VERSION, NewDrawer, Origin, Receipt, StoredMeta, drawer_id,
};
use crate::error::{Error, Result};
use crate::index::{document_key, document_meta};
use crate::keyring::Keyring;
use crate::storage::counters;

/// Keeps one text: a new drawer, a new version of the one at the same place, or nothing when it says the same.
pub(super) fn save(vault: &Vault, txn: &mut Txn<'_>, new: &NewDrawer, prepared: Prepared) -> Result<Saved> {
    let chunk = match &new.origin {
        Some(origin) => origin.chunk,
        None => append_index(txn.drawers_filed())?,
    };
    let source = new.origin.as_ref().map(|o| o.source.as_str());
    let id = drawer_id(&new.wing, &new.room, source, chunk);
    let existing = match table::by_rid(txn.conn(), &vault.keyring().record_id(&id))? {
        Some(row) => Some(vault.open_row(txn.conn(), row)?),
        None => None,
    };
    // The number was issued before: writing here would put one person's words in the place of another's, or give the id of
    // words that were destroyed to others.
    if new.origin.is_none() && (existing.is_some() || is_recorded(vault, txn, id)?) {
        return Err(Error::record("counter", counters::DRAWERS, "it is behind the drawers that were filed"));
    }
    let mut stored = stored_meta(txn, new, id, chunk);
    if let Some(old) = &existing {
        check_surface(new, &old.stored.meta)?;
        carry_over(&mut stored, &old.stored);
        if old.text == new.text && same_meta(&stored, &old.stored) {
            return Ok(Saved { id, created: false, unchanged: true, edited: false });
        }
    }
    if let Some(target) = &new.supersedes {
        stored.receipt = Some(receipt(vault, txn, &id, target)?);
    }
    let place = existing.as_ref().map_or_else(|| Place::New(txn.issue_seq()), Place::Replaces);
    write_version(vault, txn, place, &stored, Words::New { text: &new.text, prepared })?;
    let edited = existing
        .as_ref()
        .is_some_and(|old| old.text != new.text && was_edited(new.origin.as_ref(), &old.stored.meta));
    Ok(Saved { id, created: existing.is_none(), unchanged: false, edited })
}

/// Surfaces count the places of a source each in its own way: what one filed is nothing that another may replace.
fn check_surface(new: &NewDrawer, old: &DrawerMeta) -> Result<()> {
    if new.added_by == old.added_by {
        return Ok(());
    }
    Err(Error::OtherSurface {
        path: new.origin.as_ref().map(|origin| origin.source.clone()).unwrap_or_default(),
        wing: new.wing.clone(),
        by: old.added_by.as_str(),
        wanted: new.added_by.as_str(),
    })
}

/// A drawer with words that were put in by hand has no lines in its source any more.
fn was_edited(origin: Option<&Origin>, old: &DrawerMeta) -> bool {
    origin.is_some_and(|origin| origin.line_start.is_some()) && old.line_start.is_none()
}

/// Whether the chain knows a drawer of this id, whatever became of it.
fn is_recorded(vault: &Vault, txn: &Txn<'_>, id: DrawerId) -> Result<bool> {
    Ok(audit::table::newest(txn.conn(), &vault.keyring().label(&Label::Written(id)))?.is_some())
}

/// Replaces the words of a drawer; metadata stays but for the line range, which described the old words.
pub(super) fn update(
    vault: &Vault,
    txn: &mut Txn<'_>,
    id: DrawerId,
    text: &str,
    prepared: Prepared,
) -> Result<()> {
    let old = vault.require(txn.conn(), id)?;
    if old.text == text {
        return Ok(());
    }
    let mut stored = old.stored.clone();
    stored.updated_at = txn.now();
    stored.meta.line_start = None;
    stored.meta.line_end = None;
    write_version(vault, txn, Place::Replaces(&old), &stored, Words::New { text, prepared })
}

/// Destroys a drawer and leaves a tombstone in the chain. Only a drawer that verifies is destroyed: a row that was
/// tampered with is evidence.
pub(super) fn delete(vault: &Vault, txn: &mut Txn<'_>, id: DrawerId) -> Result<()> {
    let old = vault.require(txn.conn(), id)?;
    destroy(vault, txn, &old)
}

/// Destroys a drawer that was opened in this transaction.
pub(super) fn destroy(vault: &Vault, txn: &mut Txn<'_>, old: &Opened) -> Result<()> {
    let id = old.stored.id;
    table::delete(txn.conn(), old.row.seq)?;
    if vault.level() == Level::HmacOnly {
        full_text::remove(txn.conn(), old.row.seq, &old.text)?;
    }
    let tag = tombstone_tag(vault.keyring(), &id, &old.row.tag);
    txn.record(&Label::Destroyed(id), &tag)?;
    txn.index(IndexChange::Remove(document_key(&old.row.rid)));
    Ok(())
}

/// The tag of the record that a drawer was destroyed whose last version had the tag `last`.
pub(crate) fn tombstone_tag(keyring: &Keyring, id: &DrawerId, last: &Tag) -> Tag {
    keyring.tag(TagDomain::DrawerTombstone, &[id.as_bytes(), last.as_bytes()])
}

/// The words of a version: new ones, or those of the row as they are sealed.
pub(super) enum Words<'a> {
    /// Prepared for this version.
    New {
        /// The words.
        text: &'a str,
        /// Their embedding and frame.
        prepared: Prepared,
    },
    /// Kept from the version before.
    Kept(&'a Opened),
}

/// Where a version goes.
#[derive(Debug, Clone, Copy)]
pub(super) enum Place<'a> {
    /// Into a row of its own, under this filing number.
    New(i64),
    /// In the place of this version.
    Replaces(&'a Opened),
}

impl Place<'_> {
    fn seq(&self) -> i64 {
        match self {
            Self::New(seq) => *seq,
            Self::Replaces(old) => old.row.seq,
        }
    }
}

/// Seals, tags, stores and chains one version of a drawer.
pub(super) fn write_version(
    vault: &Vault,
    txn: &mut Txn<'_>,
    place: Place<'_>,
    stored: &StoredMeta,
    words: Words<'_>,
) -> Result<()> {
    let keyring = txn.keyring();
    let rid = keyring.record_id(&stored.id);
    let record = *rid.as_bytes();
    let meta_bytes = serde_json::to_vec(stored).map_err(|e| Error::invalid("metadata", e.to_string()))?;
    let (content, embedding, fp) = match &words {
        Words::New { prepared, .. } => (
            keyring.seal_field(SealDomain::DrawerContent, &record, &prepared.body),
            keyring.seal_field(SealDomain::DrawerEmbedding, &record, &prepared.vector.to_bytes()),
            prepared.fp,
        ),
        Words::Kept(old) => (old.row.content.clone(), old.row.embedding.clone(), old.row.fp),
    };
    let meta = &stored.meta;
    let seq = place.seq();
    let mut row = DrawerRow {
        seq,
        written: txn.next_record(),
        rid,
        wing: keyring.blind(BlindColumn::Wing, meta.wing.as_bytes()),
        room: keyring.blind(BlindColumn::Room, meta.room.as_bytes()),
        source: meta.source_file.as_ref().map(|s| keyring.blind(BlindColumn::Source, s.as_bytes())),
        fp,
        supersedes: meta.supersedes.as_ref().map(|id| keyring.blind(BlindColumn::Supersedes, id.as_bytes())),
        meta: keyring.seal_field(SealDomain::DrawerMeta, &record, &meta_bytes),
        content,
        embedding,
        tag: Tag::from_bytes([0; 32]),
    };
    row.tag = row.compute_tag(keyring.mac());
    match place {
        Place::New(_) => table::insert(txn.conn(), &row)?,
        Place::Replaces(_) => table::update(txn.conn(), &row)?,
    }
    if let (Words::New { text, .. }, Level::HmacOnly) = (&words, vault.level()) {
        if let Place::Replaces(old) = place {
            full_text::remove(txn.conn(), seq, &old.text)?;
        }
        full_text::put(txn.conn(), seq, text)?;
    }
    txn.record(&Label::Written(stored.id), &row.tag)?;
    let (vector, analysed) = match words {
        Words::New { prepared, .. } => (prepared.vector, prepared.analysed),
        Words::Kept(old) => (old.vector(keyring)?, None),
    };
    txn.index(IndexChange::Put { meta: document_meta(&row, stored), analysed, vector });
    Ok(())
}

fn stored_meta(txn: &Txn<'_>, new: &NewDrawer, id: DrawerId, chunk: u32) -> StoredMeta {
    let origin = new.origin.as_ref();
    StoredMeta {
        id,
        meta: DrawerMeta {
            wing: new.wing.clone(),
            room: new.room.clone(),
            source_file: origin.map(|o| o.source.clone()),
            chunk_index: chunk,
            added_by: new.added_by,
            filed_at: rfc3339(txn.now()),
            normalize_version: NORMALIZE_VERSION,
            id_recipe: ID_RECIPE.to_owned(),
            line_start: origin.and_then(|o| o.line_start),
            line_end: origin.and_then(|o| o.line_end),
            content_date: new.content_date.clone(),
            kind: new.kind,
            supersedes: new.supersedes,
            agent: new.claims.agent.clone(),
            channel: new.claims.channel.clone(),
            session: new.claims.session.clone(),
            occurrences: Vec::new(),
        },
        updated_at: txn.now(),
        filed_micros: txn.now(),
        receipt: None,
    }
}

/// A new version of the same place keeps the further days that the old one had gathered, and the receipt of the link
/// if it is the same link.
fn carry_over(stored: &mut StoredMeta, old: &StoredMeta) {
    stored.meta.occurrences.clone_from(&old.meta.occurrences);
    if stored.meta.supersedes == old.meta.supersedes {
        stored.receipt.clone_from(&old.receipt);
    }
}

/// Whether two records differ in anything but when they were written.
fn same_meta(new: &StoredMeta, old: &StoredMeta) -> bool {
    let mut as_old = new.clone();
    as_old.meta.filed_at.clone_from(&old.meta.filed_at);
    as_old.filed_micros = old.filed_micros;
    as_old.updated_at = old.updated_at;
    as_old == *old
}

fn receipt(vault: &Vault, txn: &Txn<'_>, newer: &DrawerId, older: &DrawerId) -> Result<Receipt> {
    if newer == older {
        return Err(Error::invalid("supersedes", "a drawer cannot supersede itself"));
    }
    let target = vault.require(txn.conn(), *older).map_err(|error| match error {
        Error::NoDrawer(id) => {
            Error::invalid("supersedes", format!("no drawer with id {id}; name one that is there"))
        }
        other => other,
    })?;
    Ok(Receipt::issue(vault.keyring().mac(), newer, older, target.text.as_bytes()))
}
