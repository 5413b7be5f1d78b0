//! Every bound of the agent protocol, with its reason. Owns numbers only.

/// Longest message on standard input, in bytes: the longest query with every character escaped, and room around it.
pub(super) const MAX_LINE_BYTES: usize = 4 << 20;
/// Hits of one search, at most: a page of the longest drawers still fits into memory.
pub(super) const MAX_HITS: u64 = 500;
/// Furthest place that a list can be asked to begin at. Clients in many languages read whole numbers of 32 bits alone.
pub(super) const MAX_OFFSET: u64 = i32::MAX as u64;
/// Characters of a caller's word that a message repeats.
pub(super) const ECHO_CHARS: usize = 64;
/// Characters of a drawer's first line where a list shows one.
pub(super) const LINE_CHARS: usize = 120;
/// Places tried for a text of a named source before the call is refused.
pub(super) const PLACES: u32 = 64;
