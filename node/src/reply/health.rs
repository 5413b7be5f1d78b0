//! Replies about the process.

use serde::Serialize;
use utoipa::ToSchema;

/// Whether new requests are taken.
#[derive(Debug, Serialize, ToSchema)]
pub struct Readiness {
    /// They are; a damaged vault does not change that.
    pub ready: bool,
    /// Vaults that are open.
    pub open_vaults: usize,
    /// Vaults that were found damaged.
    pub damaged_vaults: usize,
    /// Their names and what was found, for whoever shows the bearer.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub damaged: Option<Vec<Damaged>>,
}

/// A vault that was found damaged.
#[derive(Debug, Serialize, ToSchema)]
pub struct Damaged {
    /// Its name.
    pub id: String,
    /// What was found.
    pub finding: String,
}
