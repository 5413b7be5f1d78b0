//! The full walk: every record, the whole chain, every label, every link, and a typed report of what contradicts what.
//! It changes nothing and does not move the anchor.

mod chain;
mod ledgers;
mod records;
mod report;

pub use report::VerifyReport;

use crate::error::Result;
use crate::vault::Vault;

impl Vault {
    /// Checks everything that can be checked. `progress` is called with the number of records done so far.
    ///
    /// # Errors
    /// Only what keeps the walk from being made (the database refuses, the snapshot expired): a contradiction that is
    /// found is in the report.
    pub fn verify(&self, progress: &mut dyn FnMut(u64)) -> Result<VerifyReport> {
        let snapshot = self.readers().snapshot()?;
        let mut report = VerifyReport::default();
        let state = ledgers::check(self, &snapshot, &mut report)?;
        let anchor = self.manifest().anchor;
        // Without a trustworthy state there is nothing to replay against; everything else is walked all the same.
        let expected = state.as_ref().map(|state| (state, &anchor));
        let mut newest = chain::walk(self, &snapshot, expected, &mut report)?;
        records::walk(self, &snapshot, &mut newest, &mut report, progress)?;
        chain::resolve(&newest, &mut report);
        Ok(report.finish())
    }
}
