//! The full walk: every record, the whole chain, every label, every link, every index, and a typed report of what contradicts what.
//! It changes nothing and does not move the anchor.

mod chain;
mod indexes;
mod ledgers;
mod records;
mod report;

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
        // The anchor first: taken later, it could be that of a commit which the snapshot does not show.
        let anchor = self.manifest().anchor;
        let snapshot = self.readers().snapshot()?;
        let mut report = VerifyReport::default();
        let mut indexes = IndexSums::new(self.keyring());
        let trusted = ledgers::check(self, &snapshot, &mut report)?;
        // Without a trustworthy state there is nothing to replay against; everything else is walked all the same.
        let expected = trusted.chain.as_ref().map(|state| (state, &anchor));
        let mut chain = chain::walk(self, &snapshot, expected, &mut indexes, &mut report)?;
        records::walk(self, &snapshot, &mut chain.newest, &mut indexes, &mut report, progress)?;
        chain::resolve(&chain.newest, &mut report);
        ledgers::check_filed(trusted.filed, chain.filed, &mut report);
        indexes.compare(&snapshot, &mut report)?;
        Ok(report.finish())
    }
}
