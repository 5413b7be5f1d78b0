//! The in-memory index of one open vault: built from the rows, followed write by write, kept as a sealed image.
//! Derived data: it is never evidence and can be dropped at any time.

mod build;
mod image;
mod live;
mod recorded;

use undercroft_crypto::Blind;
use undercroft_search::{Analysed, DocumentKey, DocumentMeta, Index, Quantized, quantize};
use undercroft_text::dates::day_of;

use crate::drawers::StoredMeta;
use crate::drawers::table::DrawerRow;
use crate::error::Result;

pub(crate) use image::remove as remove_image;
pub(crate) use live::LiveIndex;

/// Name of a row in the index.
pub(crate) fn document_key(rid: &Blind) -> DocumentKey {
    DocumentKey::new(*rid.as_bytes())
}

/// What the index is told of a row.
pub(crate) fn document_meta<B>(row: &DrawerRow<B>, stored: &StoredMeta) -> DocumentMeta {
    let meta = &stored.meta;
    DocumentMeta {
        key: document_key(&row.rid),
        // Filing numbers start at 1 and never fall.
        seq: u64::try_from(row.seq).unwrap_or(0),
        wing: meta.wing.clone(),
        room: meta.room.clone(),
        source: meta.source_file.clone(),
        chunk: meta.chunk_index,
        kind: meta.kind.map(|kind| kind.as_str().to_owned()),
        filed_at_micros: stored.filed_micros,
        content_day: meta.content_date.as_deref().and_then(day_of),
    }
}

/// Files a document.
fn file(index: &mut Index, meta: DocumentMeta, text: Analysed, vector: Quantized) -> Result<()> {
    let vector = fit(index.dimension(), vector);
    Ok(index.insert(meta, text, vector)?)
}

/// Vectors of another dimension are those of the embedder before: until the repair that makes them again, such a
/// drawer is found by its words alone.
fn fit(dimension: usize, vector: Quantized) -> Quantized {
    if vector.codes.len() == dimension { vector } else { quantize(&vec![0.0; dimension]) }
}
