//! Owns the formula that joins meaning, words and age into one score, and the gate. It knows no drawers.

use crate::query::{FusionConfig, FusionMode, Gate, SEMANTIC_WEIGHT, SEMANTIC_WEIGHT_RANGE};

/// Share of recency.
const RECENCY: f32 = 0.10;
/// Share of meaning when query and drawer have no script in common, so that words cannot match.
const DISJOINT_WEIGHT: f32 = 0.70;

/// A fusion, ready to be applied.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fusion {
    mode: FusionMode,
    weight: f32,
    gate: Gate,
    floor: f32,
}

impl Fusion {
    pub(crate) fn new(config: &FusionConfig) -> Self {
        let (least, most) = SEMANTIC_WEIGHT_RANGE;
        let weight = if config.semantic_weight.is_nan() { SEMANTIC_WEIGHT } else { config.semantic_weight };
        let floor = if config.floor.is_nan() { 0.0 } else { config.floor.clamp(0.0, 0.98) };
        Self { mode: config.mode, weight: weight.clamp(least, most), gate: config.gate, floor }
    }

    /// Brings a cosine into 0..=1; the floor of unrelated texts becomes one half.
    #[inline(always)]
    pub(crate) fn semantic(&self, cosine: f32) -> f32 {
        let score = if self.floor == 0.0 {
            (cosine + 1.0) * 0.5
        } else {
            0.5 + 0.5 * (cosine - self.floor) / (1.0 - self.floor)
        };
        score.clamp(0.0, 1.0)
    }

    /// Whether meaning alone admits.
    #[inline(always)]
    pub(crate) fn admits(&self, semantic: f32) -> bool {
        matches!(self.gate, Gate::At(gate) if semantic > gate)
    }

    /// The share of meaning for a drawer whose script is or is not foreign to the query.
    pub(crate) fn weight(&self, disjoint: bool) -> f32 {
        match self.mode {
            FusionMode::Bm25 if disjoint => DISJOINT_WEIGHT,
            FusionMode::Bm25 => self.weight,
            FusionMode::Legacy => SEMANTIC_WEIGHT,
        }
    }

    /// Whether the lexical part is the overlap of words and phrase.
    pub(crate) fn is_legacy(&self) -> bool {
        self.mode == FusionMode::Legacy
    }

    /// The score, for a share of meaning. Grows with each of its other parts.
    #[inline(always)]
    pub(crate) fn score(&self, weight: f32, semantic: f32, lexical: f32, recency: f32) -> f32 {
        weight * semantic + (1.0 - RECENCY - weight) * lexical + RECENCY * recency
    }
}

#[cfg(test)]
#[path = "fusion_test.rs"]
mod fusion_test;
