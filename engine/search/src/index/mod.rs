//! Owns the index of one vault: inserting, removing, compacting and searching. The parts own their data; this
//! folder joins them.

mod documents;
mod evidence;
mod kernel;
mod maintain;
mod names;
mod plan;
mod postings;
mod scope;
mod search;
mod select;
mod streams;
mod vectors;
mod vocabulary;

use crate::ranking::Ranking;
use documents::Documents;
use postings::Postings;
use streams::Streams;
use vectors::Vectors;
use vocabulary::Vocabulary;

/// The in-memory index of one vault.
///
/// Drawers with equal content rank equally in whatever order they were inserted: no score depends on the order,
/// and equal scores are ordered by `seq`, then by key.
#[derive(Clone)]
pub struct Index {
    ranking: Ranking,
    documents: Documents,
    vocabulary: Vocabulary,
    postings: Postings,
    streams: Streams,
    vectors: Vectors,
}
