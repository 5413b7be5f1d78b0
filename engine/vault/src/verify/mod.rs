//! The full walk: every record, the whole chain, every label, every link, every index, and a typed report of what contradicts what.
//! It changes nothing and does not move the anchor.

mod chain;
mod indexes;
mod ledgers;
mod records;
mod report;

pub use report::VerifyReport;

use std::thread;

use undercroft_crypto::{Anchor, ChainState};

use indexes::{IndexSums, Scanned};

use crate::error::Result;
use crate::storage::snapshot::Snapshot;
use crate::vault::Vault;

impl Vault {
    /// Checks everything that can be checked. `progress` is called with the number of records done so far.
    ///
    /// # Errors
    /// Only what keeps the walk from being made (the database refuses, the snapshot expired): a contradiction that is
    /// found is in the report.
    pub fn verify(&self, progress: &mut dyn FnMut(u64)) -> Result<VerifyReport> {
        // The anchor first: taken later, it could be that of a commit which the snapshot does not show.
        let anchor = self.manifest().anchor;
        let snapshot = self.readers().snapshot()?;
        let mut report = VerifyReport::default();
        let mut sums = IndexSums::new(self.keyring());
        let trusted = ledgers::check(self, &snapshot, &mut sums, &mut report)?;
        // Without a trustworthy state there is nothing to replay against; everything else is walked all the same.
        let expected = trusted.chain.as_ref().map(|state| (state, &anchor));
        // Neither leg needs the other until both have ended.
        let (chain, met) = thread::scope(|scope| {
            let chain = scope.spawn(|| chain_leg(self, &snapshot, expected));
            let met = records::walk(self, &snapshot, &mut sums, &mut report, progress);
            (chain.join(), met)
        });
        let mut chain = chain.unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        report.absorb(chain.report);
        records::compare(&met?, &mut chain.walked.newest, &mut report);
        chain::resolve(&chain.walked.newest, &mut report);
        ledgers::check_filed(trusted.filed, chain.walked.filed, &mut report);
        sums.add_all(&chain.sums);
        sums.compare(&chain.scanned, &mut report);
        Ok(report.finish())
    }
}

/// What the leg over the chain brings back, with the index scans, which need nothing but the snapshot.
struct ChainLeg {
    walked: chain::Walked,
    sums: IndexSums,
    scanned: Scanned,
    report: VerifyReport,
}

fn chain_leg(
    vault: &Vault,
    snapshot: &Snapshot<'_>,
    expected: Option<(&ChainState, &Anchor)>,
) -> Result<ChainLeg> {
    let (mut sums, mut report) = (IndexSums::new(vault.keyring()), VerifyReport::default());
    let walked = chain::walk(vault, snapshot, expected, &mut sums, &mut report)?;
    let scanned = sums.scan_all(snapshot)?;
    Ok(ChainLeg { walked, sums, scanned, report })
}
