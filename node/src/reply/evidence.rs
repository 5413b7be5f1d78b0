//! Replies about the evidence and the state of one vault.

use serde::Serialize;
use undercroft_vault::{HistoryRecord, Stats, SupersessionCounts, VerifyReport};
use utoipa::ToSchema;

/// A page of the audit chain, newest first.
#[derive(Debug, Serialize, ToSchema)]
pub struct History {
    /// The page.
    pub records: Vec<HistoryRecord>,
    /// How many records it has.
    pub count: usize,
    /// For whom the labels are readable: always `operator`.
    pub scope: &'static str,
}

impl From<Vec<HistoryRecord>> for History {
    fn from(records: Vec<HistoryRecord>) -> Self {
        Self { count: records.len(), records, scope: "operator" }
    }
}

/// What a verification found.
#[derive(Debug, Serialize, ToSchema)]
pub struct Verified {
    /// Every leg that this version has.
    #[serde(flatten)]
    pub report: VerifyReport,
    /// Receipts of facts by verdict; this version keeps no facts.
    pub receipts: SupersessionCounts,
    /// Facts whose receipt is false.
    pub bad_receipts: Vec<String>,
}

impl From<VerifyReport> for Verified {
    fn from(report: VerifyReport) -> Self {
        Self { report, receipts: SupersessionCounts::default(), bad_receipts: Vec::new() }
    }
}

/// A vault's counts with what only the installation knows. Parts that this version does not have count nothing.
#[derive(Debug, Serialize, ToSchema)]
pub struct VaultStats {
    /// What the vault counts.
    #[serde(flatten)]
    pub stats: Stats,
    /// Codebooks of compressed vectors; this version makes none.
    pub codebooks: Vec<String>,
    /// Texts that could not be embedded.
    pub embed_failures: u64,
    /// Rankings that could not be refined.
    pub rerank_failures: u64,
    /// Late interactions that failed.
    pub late_failures: u64,
    /// Length of the audit chain from which it is called long, where one is declared.
    #[schema(required)]
    pub chain_ceiling: Option<u64>,
    /// Whether it is that long.
    pub chain_over_ceiling: bool,
    /// Replays of the chain.
    pub chain_replays: u64,
}

impl VaultStats {
    /// The counts beside the declared ceiling.
    #[must_use]
    pub fn of(stats: Stats, ceiling: Option<u64>) -> Self {
        Self {
            chain_over_ceiling: ceiling.is_some_and(|most| stats.chain_records > most),
            chain_ceiling: ceiling,
            stats,
            codebooks: Vec::new(),
            embed_failures: 0,
            rerank_failures: 0,
            late_failures: 0,
            chain_replays: 0,
        }
    }
}
