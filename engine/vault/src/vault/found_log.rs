//! The log that lay beside the database when it was opened and nobody wrote: one that a crash left, or one that was put
//! there. Closing a database moves its log into it for good, and so does anchoring what both show together; neither is
//! allowed before the two are proved to belong together. A refusal leaves every file as it was found.

use super::Vault;
use super::handle::Access;
use crate::error::{Error, ErrorClass, Result};
use crate::storage::{lock, sqlite};
use crate::verify::VerifyReport;

impl Vault {
    /// Lets the log go with the writing connection, once one that was found is proved: here, or by whoever writes already.
    ///
    /// # Errors
    /// [`Error::ForeignLog`]; what keeps the proof from being made.
    pub(super) fn accept_log(mut self, found: bool, others_write: bool) -> Result<Self> {
        if self.access == Access::Shard {
            // The log of a replica moves with a checkpoint, and never by closing it.
            return Ok(self);
        }
        // While it is not in its place, dropping the handle anchors nothing; dropped itself, it leaves the log where it is.
        let Some(writer) = self.writer.take() else { return Ok(self) };
        if found {
            // Somebody may be about to prove it, and to go when it is not of this database: that is waited for.
            let proving = lock::lock_anchor(&self.dir)?;
            if let Err(error) = self.prove_unless(others_write) {
                // Whoever waits must not take this handle for one that writes.
                drop((writer, self));
                drop(proving);
                return Err(error);
            }
        }
        sqlite::keep_log(&*writer.lock()?, false)?;
        self.writer = Some(writer);
        Ok(self)
    }

    /// Those who wrote before and do so still have proved it.
    fn prove_unless(&self, others_wrote: bool) -> Result<()> {
        if others_wrote && self.writers.others()? { Ok(()) } else { self.prove_log() }
    }

    /// Another database's log, or an older database, shows in pages that contradict each other, in a chain that does not
    /// replay, or in drawers that are not those which the chain records. What was damaged before and moves no page from one
    /// state into another is no verdict on the log.
    fn prove_log(&self) -> Result<()> {
        let found = match self.pages_differ() {
            Ok(None) => self.verify(&mut |_| {}).map(|report| contradiction(&report)),
            differ => differ,
        };
        let finding = match found {
            Ok(None) => return Ok(()),
            Ok(Some(finding)) => finding,
            Err(error) if error.class() == ErrorClass::Integrity => error.finding(),
            Err(error) => return Err(error),
        };
        Err(Error::ForeignLog { name: self.name(), finding })
    }

    /// What SQLite's own look at the pages finds first.
    fn pages_differ(&self) -> Result<Option<String>> {
        let conn = self.readers.connect()?;
        let mut statement = conn.prepare("PRAGMA quick_check(100)")?;
        let said = statement.query_map([], |row| row.get::<_, String>(0))?.collect::<Result<Vec<_>, _>>()?;
        Ok(said.into_iter().find(|line| line != "ok" && !is_of_an_index(line)))
    }
}

/// An index that is out of step with its table can be built anew, and says nothing about which pages belong together.
fn is_of_an_index(line: &str) -> bool {
    line.starts_with("wrong # of entries in index")
        || line.contains("missing from index")
        || line.starts_with("non-unique entry")
}

fn contradiction(report: &VerifyReport) -> Option<String> {
    if !report.chain_ok {
        return Some(String::from("the audit chain does not replay"));
    }
    // A row that fails its own check is not met under its id: it was damaged where it lies, and is not missing.
    let missing = report.orphan_labels.get(report.bad_records.len());
    missing
        .or(report.version_replay.first())
        .map(|drawer| format!("drawer {drawer} is not as the audit chain records it"))
}
