//! Owns the trait of embedders and the built-in hash embedder.

mod hash;

pub use hash::{HASH_GATE, HashEmbedder};

use crate::error::EmbedError;

/// Turns a text into a vector. Implementations are shared between threads.
pub trait Embedder: Send + Sync {
    /// Identity recorded with the vectors: another name means another space.
    fn name(&self) -> &str;
    /// Components of every vector, at least 1.
    fn dimension(&self) -> usize;
    /// Semantic score above which a drawer is admitted on meaning alone.
    fn gate(&self) -> f32;
    /// Cosine of unrelated texts; 0 when the space is centred there.
    fn floor(&self) -> f32;
    /// Embeds one text.
    ///
    /// # Errors
    /// When the model fails; the built-in embedder never does.
    fn embed(&self, text: &str) -> Result<Vec<f32>, EmbedError>;
}
