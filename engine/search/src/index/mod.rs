//! Owns the index of one vault: inserting, removing, compacting and searching. The parts own their data; this
//! folder joins them.

mod documents;
mod evidence;
mod expand;
mod feedback;
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
use expand::Expansions;
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
    pub(crate) ranking: Ranking,
    pub(crate) documents: Documents,
    pub(crate) vocabulary: Vocabulary,
    pub(crate) postings: Postings,
    pub(crate) streams: Streams,
    pub(crate) vectors: Vectors,
    expansions: Expansions,
}

/// The parts as the image writes and reads them.
pub(crate) mod parts {
    pub(crate) use super::documents::{Documents, age, age_factor};
    pub(crate) use super::evidence::PHRASE_BYTES;
    pub(crate) use super::feedback::{COMPANIONS, LEADERS, RARITY_MAX, may_accompany};
    pub(crate) use super::kernel::{count, okapi, recency, squash};
    pub(crate) use super::names::{NONE, Names};
    pub(crate) use super::plan::{MORPH, NEAR, inverse_frequency, is_stopword};
    pub(crate) use super::postings::{List, Postings};
    pub(crate) use super::select::{cap_rooms, order, slice};
    pub(crate) use super::streams::Streams;
    pub(crate) use super::vectors::{BLOCK, BLOCK_MIN, Block, Probe, Vectors};
    pub(crate) use super::vocabulary::Vocabulary;
    pub(crate) use crate::forms::LANGUAGES;
}
