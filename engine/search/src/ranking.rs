//! Owns the numbers of the lexical score and why they are what they are. It scores nothing.

/// Parameters of the lexical score. The defaults are the product's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ranking {
    /// Okapi's saturation of repeated words.
    pub k1: f32,
    /// Okapi's share of length normalisation.
    pub b: f32,
    /// What the presence of an inflected form adds to a word's count.
    pub morph: f32,
    /// What the presence of a near spelling adds to a word's count.
    pub near: f32,
    /// Weight of a query word that is a function word.
    pub stopword: f32,
    /// Weight of the best line's coverage of the query.
    pub line: f32,
    /// Weight of the evidence of the neighbours in the thread.
    pub neighbour: f32,
    /// Weight of the best evidence in the room.
    pub room: f32,
    /// Weight of companions: words that the best drawers of a first look share.
    pub feedback: f32,
    /// Divisor of the squash, in mean inverse document frequencies.
    pub saturation: f32,
}

impl Default for Ranking {
    fn default() -> Self {
        Self {
            k1: 1.2,
            b: 0.5,
            morph: 0.5,
            near: 0.5,
            stopword: 0.15,
            line: 1.0,
            neighbour: 0.3,
            room: 0.3,
            feedback: 0.2,
            saturation: 6.0,
        }
    }
}
