//! The rollback journal beside a database. A vault's database works with a log; one that was copied is turned into such a
//! database by its first writer, and only then it has a journal, which restores what its first page said before. Any other
//! journal would change the database as soon as SQLite reads it: it is refused, and nothing is played back.
//!
//! Source of the form: <https://sqlite.org/fileformat2.html>, section 3, "The Rollback Journal".

use std::io::Read as _;
use std::path::Path;

use undercroft_crypto::regular;

use super::sqlite;
use crate::error::{DATABASE_REMEDY, Error, Result};

/// Its name in a vault's folder.
pub(super) const JOURNAL: &str = "vault.db-journal";

/// The most bytes that a sector or a page has.
const MAX_UNIT: usize = 65_536;
/// Number of the page in front of it, checksum behind it.
const AROUND_PAGE: usize = 8;
/// What of the first page is no content: the read and write version, the counter of changes, and for which of them the
/// version of the library counts.
const VOLATILE: [std::ops::Range<usize>; 3] = [18..20, 24..28, 92..100];

/// Refuses a journal that would change what the database says.
///
/// # Errors
/// [`Error::Damaged`] with the remedy; what the file system says.
pub(super) fn check(dir: &Path) -> Result<()> {
    let journal = start_of(&dir.join(JOURNAL), 2 * MAX_UNIT + AROUND_PAGE + 1)?;
    // SQLite plays back none that is empty or begins with 0.
    if journal.first().is_none_or(|first| *first == 0) {
        return Ok(());
    }
    let page = start_of(&sqlite::database_path(dir), MAX_UNIT)?;
    if restores_no_content(&journal, &page) {
        return Ok(());
    }
    Err(Error::Damaged(format!(
        "{JOURNAL} lies beside vault.db and would change it, and a vault at rest has no such file: move it away, and see what is \
         there with: undercroft verify; or {DATABASE_REMEDY}"
    )))
}

/// Whether it holds the first page alone, and that as it is but for what says how the database works.
fn restores_no_content(journal: &[u8], page: &[u8]) -> bool {
    let number = |at: usize| {
        let bytes = journal.get(at..at + 4)?.try_into().ok()?;
        usize::try_from(u32::from_be_bytes(bytes)).ok()
    };
    let (Some(sector), Some(size)) = (number(20), number(24)) else { return false };
    if sector > MAX_UNIT || size > MAX_UNIT || journal.len() > sector + size + AROUND_PAGE {
        return false;
    }
    if journal.len() <= sector {
        return true;
    }
    let (Some(held), Some(there)) = (journal.get(sector + 4..sector + 4 + size), page.get(..size)) else {
        return false;
    };
    let same = |at: usize| held[at] == there[at] || VOLATILE.iter().any(|range| range.contains(&at));
    number(sector) == Some(1) && (0..size).all(same)
}

/// At most `limit` bytes from the beginning of a file; none when there is no file.
fn start_of(path: &Path, limit: usize) -> Result<Vec<u8>> {
    let file = match regular::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(Error::io("open", path)(error)),
    };
    let mut bytes = Vec::new();
    file.take(limit as u64).read_to_end(&mut bytes).map_err(Error::io("read", path))?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use rusqlite::Connection;

    use super::*;

    /// A database of several pages in rollback mode, with a transaction of `change` under way, and left so.
    fn interrupted(change: &str) -> tempfile::TempDir {
        let (live, left) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let conn = Connection::open(live.path().join("vault.db")).unwrap();
        conn.execute_batch(
            "CREATE TABLE words (text); INSERT INTO words VALUES (zeroblob(9000)), (zeroblob(9000));
             PRAGMA cache_size = 1; PRAGMA cache_spill = 1;",
        )
        .unwrap();
        conn.execute_batch(&format!("BEGIN IMMEDIATE; {change}")).unwrap();
        for name in ["vault.db", JOURNAL] {
            std::fs::copy(live.path().join(name), left.path().join(name)).unwrap();
        }
        left
    }

    #[test]
    fn a_journal_that_would_change_the_database_is_refused_and_what_is_no_journal_is_not() {
        let left = interrupted("UPDATE words SET text = randomblob(9000)");
        let error = check(left.path()).unwrap_err();
        assert!(matches!(error, Error::Damaged(_)) && error.to_string().contains("move it away"), "{error}");
        std::fs::write(left.path().join(JOURNAL), [0; 512]).unwrap();
        check(left.path()).unwrap();
        std::fs::write(left.path().join(JOURNAL), []).unwrap();
        check(left.path()).unwrap();
        std::fs::write(left.path().join(JOURNAL), b"anything else").unwrap();
        assert!(check(left.path()).is_err());
        std::fs::remove_file(left.path().join(JOURNAL)).unwrap();
        check(left.path()).unwrap();
    }

    #[test]
    fn the_journal_of_turning_on_the_log_is_accepted() {
        let left = interrupted("PRAGMA user_version = 0; DELETE FROM words WHERE 0");
        let database = std::fs::read(left.path().join("vault.db")).unwrap();
        // Sector, one page with its number and checksum: what SQLite writes before it marks the first page.
        let size = usize::from(u16::from_be_bytes([database[16], database[17]]));
        let mut journal = vec![0; 512];
        journal[..8].copy_from_slice(&[0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7]);
        journal[20..24].copy_from_slice(&512u32.to_be_bytes());
        journal[24..28].copy_from_slice(&u32::try_from(size).unwrap().to_be_bytes());
        journal.extend(1u32.to_be_bytes());
        journal.extend(&database[..size]);
        journal.extend([0; 4]);
        std::fs::write(left.path().join(JOURNAL), &journal).unwrap();
        let mut marked = database.clone();
        marked[18..20].copy_from_slice(&[2, 2]);
        std::fs::write(left.path().join("vault.db"), &marked).unwrap();
        check(left.path()).unwrap();
        marked[40] ^= 1;
        std::fs::write(left.path().join("vault.db"), &marked).unwrap();
        assert!(check(left.path()).is_err(), "the content of the page differs");
        journal[515] = 2;
        std::fs::write(left.path().join("vault.db"), &database).unwrap();
        std::fs::write(left.path().join(JOURNAL), &journal).unwrap();
        assert!(check(left.path()).is_err(), "another page");
    }
}
