//! What the environment decides about a vault, resolved once and handed on.
//!
//! Nothing here is read again later, and nothing here opens anything.

use crate::env::parse::{Fusion, Limit, TrustFloor};
use crate::env::{Environment, Finding, resolve};

/// How vaults of this installation behave, in the terms of the environment.
#[derive(Debug, Clone, PartialEq)]
pub struct VaultSettings {
    /// How word and meaning scores are joined.
    pub fusion: Fusion,
    /// The share of meaning in the joined score, 0.20–0.70.
    pub fusion_weight: f64,
    /// From which calibrated cosine meaning alone admits a hit; `None` takes the embedder's.
    pub semantic_gate: Option<Limit<f64>>,
    /// The cosine of unrelated texts; `None` takes the embedder's.
    pub semantic_floor: Option<f64>,
    /// Lowest trust class that unscoped reads show.
    pub trust_floor: Option<TrustFloor>,
    /// Whether another embedder than the recorded one is accepted.
    pub force_embedder: bool,
    /// Chain length from which `stats` reports the chain as long.
    pub audit_ceiling: Option<u64>,
    /// Whether a search prints how long its phases took.
    pub search_trace: bool,
}

impl Default for VaultSettings {
    fn default() -> Self {
        Self {
            fusion: Fusion::Bm25,
            fusion_weight: 0.55,
            semantic_gate: None,
            semantic_floor: None,
            trust_floor: None,
            force_embedder: false,
            audit_ceiling: None,
            search_trace: false,
        }
    }
}

impl VaultSettings {
    /// Resolves every setting, with the warnings to print.
    ///
    /// # Errors
    /// The first declaration that refuses, whichever variable it is: settings of a start that must not happen do not exist.
    pub fn resolve(environment: &Environment) -> Result<(Self, Vec<Finding>), Finding> {
        let warnings = resolve::before_opening(environment)?;
        resolve::embedder(environment).accept()?;
        let standard = Self::default();
        let settings = Self {
            fusion: resolve::fusion(environment).accept()?.unwrap_or(standard.fusion),
            fusion_weight: resolve::fusion_weight(environment).accept()?.unwrap_or(standard.fusion_weight),
            semantic_gate: resolve::semantic_gate(environment).accept()?,
            semantic_floor: resolve::semantic_floor(environment).accept()?,
            trust_floor: resolve::trust_floor(environment).accept()?.flatten(),
            force_embedder: resolve::force_embedder(environment),
            audit_ceiling: resolve::audit_ceiling(environment).accept()?.and_then(|limit| match limit {
                Limit::Off => None,
                Limit::At(records) => Some(records),
            }),
            search_trace: resolve::search_trace(environment),
        };
        Ok((settings, warnings))
    }
}
