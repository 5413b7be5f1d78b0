//! The full walk: every record, the whole chain, every label, every link, every index, and a typed report of what contradicts what.
//! It changes nothing and does not move the anchor.

mod chain;
mod indexes;
mod ledgers;
mod memo;
mod records;
mod report;
mod walk;

pub use report::VerifyReport;

use indexes::IndexSums;

use crate::error::Result;
use crate::vault::Vault;

impl Vault {
    /// Checks everything that can be checked. `progress` is called with the number of records done so far.
    ///
    /// # Errors
    /// Only what keeps the walk from being made (the database refuses, the snapshot expired): a contradiction that is
    /// found is in the report.
    pub fn verify(&self, progress: &mut dyn FnMut(u64)) -> Result<VerifyReport> {
        // The anchor first: taken later, it could be that of a commit which the snapshots do not show.
        let anchor = self.manifest().anchor;
        let views = walk::views(self.readers())?;
        let (view, mut report) = (&views[0], VerifyReport::default());
        let mut sums = IndexSums::new(self.keyring());
        let trusted = ledgers::check(self, view, &mut sums, &mut report)?;
        records::check_numbers(view, &mut report)?;
        // Without a trustworthy state there is nothing to replay against; everything else is walked all the same.
        let expected = trusted.chain.as_ref().map(|state| (state, &anchor));
        let mut found = walk::run(self, &views, expected, progress)?;
        found.outcomes(view, &sums)?;
        report.absorb(found.report);
        records::judge_links(self, view, &found.links, &mut report)?;
        records::full_text(self, view, &mut report)?;
        records::compare(&found.met, &mut found.chain.newest, &mut report);
        chain::resolve(&found.chain.newest, &mut report);
        ledgers::check_filed(trusted.filed, found.chain.filed, &mut report);
        sums.add_all(&found.sums);
        sums.compare(&found.scanned, &mut report);
        Ok(report.finish())
    }
}
