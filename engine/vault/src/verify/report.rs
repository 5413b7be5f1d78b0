//! What a verification found, in the shape that every surface shows.

use serde::Serialize;

use crate::drawers::SupersessionCounts;

/// Findings named at most, of each sort.
const NAMED: usize = 1_000;

/// The result of a verification.
#[derive(Debug, Clone, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct VerifyReport {
    /// Nothing contradicts anything.
    pub ok: bool,
    /// Records looked at.
    pub records_checked: u64,
    /// Records that fail their tag or do not open: drawer ids where readable, else the row's number.
    pub bad_records: Vec<String>,
    /// The chain replays to its stored head and digest, and the anchor lies on it.
    pub chain_ok: bool,
    /// Labels of written drawers that are neither there nor destroyed, and rows that no label names.
    pub orphan_labels: Vec<String>,
    /// Columns that contradict the covered metadata, and indexes and derived tables out of step.
    pub mirror_drift: Vec<String>,
    /// Rows that are not the newest version which the chain records.
    pub version_replay: Vec<String>,
    /// Audit records whose shown label is not the one that the chain covers.
    pub label_drift: Vec<String>,
    /// Ledger rows and schema objects that are not as this program writes them.
    pub ledger_drift: Vec<String>,
    /// Supersession links by verdict.
    pub supersessions: SupersessionCounts,
    /// Links whose receipt is false.
    pub bad_supersessions: Vec<String>,
}

impl VerifyReport {
    /// Adds a finding to one of the lists, which are bounded.
    pub(super) fn note(list: &mut Vec<String>, finding: impl Into<String>) {
        if list.len() < NAMED {
            list.push(finding.into());
        }
    }

    /// Takes over what a part of the same walk found. Whether the chain holds is the chain's part to say, and only when
    /// it was walked.
    pub(super) fn absorb(&mut self, part: Self) {
        self.chain_ok |= part.chain_ok;
        self.records_checked += part.records_checked;
        let pairs = [
            (&mut self.bad_records, part.bad_records),
            (&mut self.orphan_labels, part.orphan_labels),
            (&mut self.mirror_drift, part.mirror_drift),
            (&mut self.version_replay, part.version_replay),
            (&mut self.label_drift, part.label_drift),
            (&mut self.ledger_drift, part.ledger_drift),
        ];
        for (list, more) in pairs {
            more.into_iter().for_each(|finding| Self::note(list, finding));
        }
    }

    /// Decides the verdict.
    pub(super) fn finish(mut self) -> Self {
        let lists = [
            &self.bad_records,
            &self.orphan_labels,
            &self.mirror_drift,
            &self.version_replay,
            &self.label_drift,
            &self.ledger_drift,
            &self.bad_supersessions,
        ];
        self.ok = self.chain_ok && lists.iter().all(|list| list.is_empty());
        self
    }
}
