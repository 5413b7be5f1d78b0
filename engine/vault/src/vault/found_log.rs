//! The log that lay beside the database when it was opened and nobody wrote: one that a crash left, or one that was put
//! there. Closing a database moves its log into it for good, and so does anchoring what both show together; neither is
//! allowed before the two are proved to belong together. A refusal leaves every file as it was found.

use super::Vault;
use super::handle::Access;
use crate::error::{Error, ErrorClass, Result};
use crate::storage::sqlite;
use crate::verify::VerifyReport;

impl Vault {
    /// Lets the log go with the writing connection, once one that was found is proved.
    ///
    /// # Errors
    /// [`Error::ForeignLog`]; what keeps the proof from being made.
    pub(super) fn accept_log(mut self, found: bool) -> Result<Self> {
        if self.access == Access::Shard {
            // The log of a replica moves with a checkpoint, and never by closing it.
            return Ok(self);
        }
        let proved = match &self.writer {
            Some(_) if found => self.prove_log(),
            _ => Ok(()),
        };
        if let Err(error) = proved {
            // Without it, dropping the handle anchors nothing; the connection itself leaves the log where it is.
            self.writer = None;
            return Err(error);
        }
        if let Some(writer) = &self.writer {
            sqlite::keep_log(&*writer.lock()?, false)?;
        }
        Ok(self)
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
