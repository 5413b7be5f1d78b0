//! The rules that every file of the repository keeps, as functions from files to findings.
//!
//! A rule never reads the disk: `tests/tests/tidy.rs` hands it the repository, and its own tests hand it offenders.

pub mod arrows;
pub mod hygiene;
pub mod mask;
pub mod paths;
pub mod ratchet;
pub mod sizes;

/// One breach of a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Where: a path, a crate, a place in a file.
    pub place: String,
    /// What is wrong, and the rule.
    pub what: String,
}

impl Finding {
    /// A breach at a place.
    pub fn new(place: impl Into<String>, what: impl Into<String>) -> Self {
        Self { place: place.into(), what: what.into() }
    }
}

/// Fails with every finding on a line of its own.
///
/// # Panics
/// When there is any finding.
pub fn expect_none(findings: &[Finding]) {
    let lines: Vec<String> = findings.iter().map(|f| format!("  {}: {}", f.place, f.what)).collect();
    assert!(findings.is_empty(), "{} finding(s):\n{}", findings.len(), lines.join("\n"));
}
