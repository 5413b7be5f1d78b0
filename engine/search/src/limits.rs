//! Owns every bound of this crate: what is refused, and what is cut. It contains no logic.

/// Most dimensions a vector may have.
pub const DIMENSION_MAX: usize = 8_192;

/// Most distinct words of a query that are scored; later ones are ignored. A question of any length therefore
/// costs a bounded number of posting lists.
pub const QUERY_TERMS_MAX: usize = 64;

/// Bytes of a query's text that are read at all; the rest is ignored (cut at a character).
pub const QUERY_BYTES_MAX: usize = 16 * 1_024;

/// Most words of the vocabulary that one word of a query may stand for by morphology or spelling; the most
/// frequent ones are kept.
pub const EXPANSIONS_MAX: usize = 64;

/// Most drawers an index holds, live and removed together.
pub const DOCUMENTS_MAX: usize = 1 << 26;

/// Features that the hash embedder remembers in each thread.
pub const FEATURE_CACHE_MAX: usize = 1 << 15;

/// Query words whose other forms an index remembers.
pub const EXPANSION_CACHE_MAX: usize = 4_096;

/// Longest query word, in bytes, for which other forms are looked for.
pub const EXPANSION_BYTES_MAX: usize = 64;
