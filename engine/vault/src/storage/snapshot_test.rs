//! Snapshots are told to go for the sake of the log, the young ones last, and never silently.

use std::time::Duration;

use rusqlite::Connection;
use tempfile::TempDir;
use undercroft_crypto::{Level, MasterKey, SeededEntropy};

use super::snapshot::Snapshot;
use super::sqlite;
use crate::error::{Error, Result};
use crate::limits;
use crate::vault::Vault;
use crate::{AddedBy, BypassReason, NewDrawer, Screening, VaultOptions};

fn vault(folder: &TempDir) -> Vault {
    let master = MasterKey::generate(&SeededEntropy::new(7));
    Vault::create(&folder.path().join("v"), "v", Level::HmacOnly, &master, VaultOptions::default())
        .expect("creates")
}

fn save(vault: &Vault, text: &str) {
    let new = NewDrawer::direct("work", "inbox", text, AddedBy::Cli);
    vault.save(new, Screening::Bypass(BypassReason::NotDeclared)).expect("never blocked");
}

fn count(snapshot: &Snapshot<'_>) -> Result<i64> {
    snapshot.with(|conn| Ok(conn.query_row("SELECT count(*) FROM drawers", [], |row| row.get(0))?))
}

#[test]
fn a_snapshot_shows_its_moment_until_it_is_dropped() {
    let folder = TempDir::new().expect("a temporary folder");
    let vault = vault(&folder);
    save(&vault, "one");
    let snapshot = vault.readers().snapshot().expect("begins");
    save(&vault, "two");
    assert_eq!(count(&snapshot).expect("reads"), 1);
    drop(snapshot);
    assert_eq!(count(&vault.readers().snapshot().expect("begins")).expect("reads"), 2);
}

#[test]
fn young_snapshots_are_spared_at_the_bound_and_closed_past_the_hard_bound() {
    let folder = TempDir::new().expect("a temporary folder");
    let vault = vault(&folder);
    let snapshot = vault.readers().snapshot().expect("begins");
    vault.readers().expire(Duration::from_secs(3_600));
    assert_eq!(count(&snapshot).expect("is younger than an hour"), 0);
    let text = "word ".repeat(limits::MAX_TEXT_BYTES / 5);
    let mut longest = 0;
    // Enough for three times the hard bound if nothing cut the log.
    for _ in 0..3 * limits::WAL_HARD_BOUND_BYTES / limits::MAX_TEXT_BYTES as u64 {
        save(&vault, &text);
        longest = longest.max(sqlite::wal_bytes(vault.dir()));
    }
    assert!(matches!(count(&snapshot), Err(Error::SnapshotExpired)));
    assert!(longest <= limits::WAL_HARD_BOUND_BYTES + (1 << 20), "{longest}");
    drop(snapshot);
    assert!(count(&vault.readers().snapshot().expect("begins")).expect("reads") > 0);
}

#[test]
fn a_statement_that_runs_on_an_expired_snapshot_is_interrupted() {
    let folder = TempDir::new().expect("a temporary folder");
    let vault = vault(&folder);
    let snapshot = vault.readers().snapshot().expect("begins");
    let endless = |conn: &Connection| -> Result<i64> {
        let sql = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n";
        Ok(conn.query_row(sql, [], |row| row.get(0))?)
    };
    std::thread::scope(|scope| {
        let reading = scope.spawn(|| snapshot.with(endless));
        // An interrupt between two statements finds nothing to stop, as between two commits of a writer.
        while !reading.is_finished() {
            vault.readers().expire(Duration::ZERO);
        }
        assert!(matches!(reading.join().expect("no panic"), Err(Error::SnapshotExpired)));
    });
    assert!(matches!(count(&snapshot), Err(Error::SnapshotExpired)), "it stays closed");
}
