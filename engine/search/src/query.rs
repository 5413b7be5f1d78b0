//! Owns what a search asks and what it answers. It contains no scoring.

use crate::document::DocumentKey;
use crate::forms::Language;

/// Default share of meaning in the score.
pub const SEMANTIC_WEIGHT: f32 = 0.55;
/// Smallest and largest share of meaning that a caller may ask for.
pub const SEMANTIC_WEIGHT_RANGE: (f32, f32) = (0.20, 0.70);

/// What is looked for.
#[derive(Clone, Debug)]
pub struct Query<'a> {
    /// The question as it was typed. Any text is accepted; one without a word finds nothing.
    pub text: &'a str,
    /// The question's embedding, in the index's dimension; without one every semantic score is that of
    /// unrelated texts.
    pub vector: Option<Vec<f32>>,
    /// Declared language for morphology; undeclared, each drawer's own decides.
    pub language: Option<Language>,
    /// The instant that recency is measured from, in microseconds since 1970.
    pub now_micros: i64,
    /// How the channels become one score.
    pub fusion: FusionConfig,
}

/// How the channels become one score.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FusionConfig {
    /// Which formula.
    pub mode: FusionMode,
    /// Share of meaning, clamped to [`SEMANTIC_WEIGHT_RANGE`]; only [`FusionMode::Bm25`] reads it.
    pub semantic_weight: f32,
    /// Semantic score above which a drawer without a word in common is admitted.
    pub gate: Gate,
    /// Cosine of unrelated texts in the embedder's space: see [`crate::embed::Embedder::floor`].
    pub floor: f32,
}

impl Default for FusionConfig {
    /// The defaults of the hash embedder.
    fn default() -> Self {
        Self {
            mode: FusionMode::Bm25,
            semantic_weight: SEMANTIC_WEIGHT,
            gate: Gate::At(crate::embed::HASH_GATE),
            floor: 0.0,
        }
    }
}

/// Which formula joins the channels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FusionMode {
    /// `w * semantic + (0.90 - w) * lexical + 0.10 * recency`.
    #[default]
    Bm25,
    /// `0.55 * semantic + 0.35 * overlap + 0.10 * recency`, where overlap is the share of the query's words
    /// that occur (half for a near word), raised by 0.5 when the whole phrase occurs.
    Legacy,
}

/// Admission on meaning alone.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Gate {
    /// Only words admit (an embedder whose gate was never measured).
    Off,
    /// A semantic score above this admits.
    At(f32),
}

/// Which drawers compete. It never changes a score.
#[derive(Clone, Copy, Debug, Default)]
pub struct Filter<'a> {
    /// Only this wing.
    pub wing: Option<&'a str>,
    /// Only this room (of any wing, when none is named).
    pub room: Option<&'a str>,
    /// Only this kind; drawers without one are counted as [`Ranked::unlabeled_excluded`].
    pub kind: Option<&'a str>,
    /// Never these wings, unless `wing` names one of them.
    pub excluded_wings: &'a [&'a str],
    /// Only these wings.
    pub allowed_wings: Option<&'a [&'a str]>,
}

/// Which ranks are returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Page {
    /// Most hits.
    pub limit: usize,
    /// Ranks skipped.
    pub offset: usize,
    /// Hits a room contributes before every room has contributed; absent or 0 is pure score order.
    pub room_cap: Option<usize>,
}

impl Page {
    /// The first `limit` ranks.
    #[must_use]
    pub fn first(limit: usize) -> Self {
        Self { limit, offset: 0, room_cap: None }
    }
}

/// One ranked drawer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hit {
    /// Which drawer.
    pub key: DocumentKey,
    /// Its sequence number, which orders equal scores.
    pub seq: u64,
    /// The fused score.
    pub score: f32,
    /// Likeness of meaning, 0..=1.
    pub semantic: f32,
    /// All evidence of words, 0..1.
    pub lexical: f32,
    /// Evidence of words that occur as typed, 0..1.
    pub lexical_exact: f32,
    /// Evidence of inflected and derived forms, 0..1.
    pub lexical_morph: f32,
}

/// The answer to a search.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ranked {
    /// The page, best first.
    pub hits: Vec<Hit>,
    /// Drawers in scope that passed the gate, on all pages together.
    pub total_admitted: usize,
    /// With a kind in the filter: drawers otherwise in scope that have none.
    pub unlabeled_excluded: Option<usize>,
    /// No rank follows this page.
    pub exhausted: bool,
}
