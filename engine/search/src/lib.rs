//! The in-memory index of one vault: embedding, vectors, postings, fusion, gate, ranking, paging and the image.
//!
//! Pure: it knows no SQL, no keys, no files and no clock. Text goes in through [`analyse`] and an
//! [`embed::Embedder`], drawers go into an [`Index`], and a [`Query`] comes back as [`Ranked`] keys.

pub mod embed;
pub mod error;
pub mod exact;
pub mod limits;

mod analyse;
mod document;
mod forms;
mod fusion;
mod image;
mod index;
mod language;
mod query;
mod ranking;
mod vector;

pub use analyse::analyse;
pub use document::{Analysed, DocumentKey, DocumentMeta};
pub use embed::{Embedder, HashEmbedder};
pub use error::{EmbedError, ErrorClass, ImageError, InsertError, VectorError};
pub use forms::Language;
pub use image::ImageLimits;
pub use index::Index;
pub use query::{
    Filter, FusionConfig, FusionMode, Gate, Hit, Page, Query, Ranked, SEMANTIC_WEIGHT, SEMANTIC_WEIGHT_RANGE,
};
pub use ranking::Ranking;
pub use vector::{Quantized, quantize};
