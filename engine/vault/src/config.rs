//! What a caller decides when it opens a vault: knobs validated once, and the traits through which time, randomness
//! and embedding come in. Owns no environment reading.

use std::sync::Arc;

use undercroft_crypto::{Entropy, OsEntropy};
use undercroft_search::{Embedder, FusionMode, Gate, HashEmbedder};

use crate::clock::{Clock, SystemClock};

/// The tunable behaviour of a vault handle.
#[derive(Debug, Clone)]
pub struct VaultConfig {
    /// How channels are fused.
    pub fusion: FusionMode,
    /// Weight of the semantic channel (0.20–0.70).
    pub semantic_weight: f32,
    /// Semantic admission gate; `None` takes the embedder's.
    pub gate: Option<Gate>,
    /// Map-neutral cosine floor; `None` takes the embedder's.
    pub floor: Option<f32>,
    /// Accept another embedder than the recorded one (to be followed by `repair`).
    pub force_embedder: bool,
}

impl Default for VaultConfig {
    fn default() -> Self {
        Self {
            fusion: FusionMode::Bm25,
            semantic_weight: 0.55,
            gate: None,
            floor: None,
            force_embedder: false,
        }
    }
}

/// Everything an open needs besides the folder and the master key.
#[derive(Clone)]
pub struct VaultOptions {
    /// Open without writing anything; what would be healed is reported by `unhealed`.
    pub read_only: bool,
    /// Source of time.
    pub clock: Arc<dyn Clock>,
    /// Source of randomness.
    pub entropy: Arc<dyn Entropy>,
    /// Turns texts into vectors.
    pub embedder: Arc<dyn Embedder>,
    /// Knobs.
    pub config: VaultConfig,
}

impl Default for VaultOptions {
    fn default() -> Self {
        Self {
            read_only: false,
            clock: Arc::new(SystemClock),
            entropy: Arc::new(OsEntropy),
            embedder: Arc::new(HashEmbedder),
            config: VaultConfig::default(),
        }
    }
}
