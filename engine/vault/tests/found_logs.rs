//! A log that lies beside the database when a vault is opened: that of a crash is taken in, another one is refused, and a
//! refusal leaves every file as it was found, so that putting the right one back brings everything back.

mod support;

use std::collections::BTreeMap;
use std::path::Path;

use support::{Home, UNSCREENED, copy_folder, note, save};
use undercroft_crypto::Level;
use undercroft_vault::{DrawerId, Error, ErrorClass, Vault};

const FILES: [&str; 4] = ["vault.db", "vault.db-wal", "vault.db-journal", "vault.json"];

/// What a vault is: the files that a refusal leaves alone.
fn kept(dir: &Path) -> BTreeMap<&'static str, Vec<u8>> {
    FILES.into_iter().filter_map(|name| Some((name, std::fs::read(dir.join(name)).ok()?))).collect()
}

fn read(home: &Home, name: &str) -> Vec<u8> {
    std::fs::read(home.dir().join(name)).expect("reads")
}

fn put(home: &Home, name: &str, bytes: &[u8]) {
    std::fs::write(home.dir().join(name), bytes).expect("writes");
}

/// Leaves what a process leaves that is killed after it kept `texts`, with a manifest that did not follow.
fn killed(home: &Home, texts: &[&str]) -> Vec<DrawerId> {
    let manifest = read(home, "vault.json");
    let vault = home.open().expect("opens");
    let ids = texts.iter().map(|text| save(&vault, "inbox", text)).collect();
    copy_folder(&home.dir(), &home.path("left"));
    drop(vault);
    std::fs::remove_dir_all(home.dir()).expect("removes");
    std::fs::rename(home.path("left"), home.dir()).expect("puts back");
    put(home, "vault.json", &manifest);
    assert!(!read(home, "vault.db-wal").is_empty(), "a killed process leaves its log");
    ids
}

fn filled(texts: usize) -> Home {
    let home = Home::new();
    let vault = home.create(Level::Sealed);
    for number in 0..texts {
        save(&vault, "inbox", &format!("words {number}, {}", "and some more ".repeat(20)));
    }
    vault.close().expect("closes");
    home
}

fn refused(home: &Home) -> Error {
    let before = kept(&home.dir());
    let error = home.open().expect_err("refuses");
    assert_eq!(error.class(), ErrorClass::Integrity, "{error}");
    assert!(error.to_string().contains("log"), "the remedy says nothing about the log: {error}");
    assert!(kept(&home.dir()) == before, "a refused open changed a file: {error}");
    let _ = home.open_read_only().map(|vault| vault.verify(&mut |_| {}));
    assert!(kept(&home.dir()) == before, "a look at it changed a file");
    error
}

fn verifies(vault: &Vault) {
    assert!(vault.verify(&mut |_| {}).expect("walks").ok);
}

#[test]
fn the_log_of_a_crash_is_taken_in_and_anchored() {
    let home = filled(3);
    let ids = killed(&home, &["acknowledged", "and this"]);
    let vault = home.open().expect("opens");
    assert_eq!(vault.manifest().anchor.height.get(), 5);
    verifies(&vault);
    vault.close().expect("closes");
    assert!(!home.dir().join("vault.db-wal").exists(), "a closed vault is one file");
    assert_eq!(home.open().expect("opens").get(ids[0]).expect("reads").content, "acknowledged");
}

#[test]
fn an_older_database_beside_a_log_is_refused_and_the_right_one_brings_all_back() {
    for later in [20, 120] {
        let home = filled(1);
        let older = read(&home, "vault.db");
        let vault = home.open().expect("opens");
        for number in 0..later {
            save(&vault, "inbox", &format!("later {number}, {}", "and some more ".repeat(number % 30)));
        }
        vault.close().expect("closes");
        let ids = killed(&home, &["acknowledged last", "and the very last"]);
        let right = read(&home, "vault.db");
        put(&home, "vault.db", &older);
        refused(&home);
        refused(&home);
        put(&home, "vault.db", &right);
        let vault = home.open().expect("opens");
        assert_eq!(vault.get(ids[1]).expect("reads").content, "and the very last");
        verifies(&vault);
    }
}

#[test]
fn a_log_of_an_earlier_time_or_of_another_vault_is_refused_and_harmless_once_it_is_away() {
    let other = filled(2);
    killed(&other, &["words of another vault"]);
    let foreign = read(&other, "vault.db-wal");
    let home = filled(1);
    killed(&home, &["words that were taken in"]);
    let stale = read(&home, "vault.db-wal");
    let vault = home.open().expect("opens");
    for number in 0..5 {
        save(&vault, "inbox", &format!("later {number}"));
    }
    vault.close().expect("closes");
    for log in [stale, foreign] {
        put(&home, "vault.db-wal", &log);
        refused(&home);
        std::fs::remove_file(home.dir().join("vault.db-wal")).expect("moved away");
        let _ = std::fs::remove_file(home.dir().join("vault.db-shm"));
        let vault = home.open().expect("opens");
        verifies(&vault);
        save(&vault, "inbox", "life goes on");
        vault.close().expect("closes");
    }
}

#[test]
fn a_damaged_record_is_no_verdict_on_a_log() {
    let home = filled(5);
    let ids = killed(&home, &["acknowledged"]);
    let conn = home.sql();
    conn.set_db_config(rusqlite::config::DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true).expect("set");
    conn.execute("UPDATE drawers SET content = zeroblob(60) WHERE seq = 2", []).expect("damages");
    drop(conn);
    assert!(!read(&home, "vault.db-wal").is_empty());
    let vault = home.open().expect("opens");
    assert_eq!(vault.get(ids[0]).expect("reads").content, "acknowledged");
    save(&vault, "inbox", "life goes on");
    assert_eq!(vault.verify(&mut |_| {}).expect("walks").bad_records.len(), 1);
}

#[test]
fn a_journal_of_another_program_is_refused_and_not_played_back() {
    let home = filled(3);
    let copy = tempfile::tempdir().expect("a folder");
    let database = copy.path().join("vault.db");
    std::fs::copy(home.dir().join("vault.db"), &database).expect("copies");
    let conn = rusqlite::Connection::open(&database).expect("opens");
    conn.pragma_update(None, "journal_mode", "DELETE").expect("set");
    conn.execute_batch("PRAGMA cache_size = 1; BEGIN IMMEDIATE; UPDATE drawers SET content = zeroblob(9000)")
        .expect("writes");
    std::fs::copy(copy.path().join("vault.db-journal"), home.dir().join("vault.db-journal")).expect("copies");
    let error = refused(&home);
    assert!(error.to_string().contains("move it away"), "{error}");
    assert_eq!(home.open_read_only().expect_err("refuses").class(), ErrorClass::Integrity);
    std::fs::remove_file(home.dir().join("vault.db-journal")).expect("moved away");
    verifies(&home.open().expect("opens"));
}

#[test]
fn an_id_is_issued_once_although_an_older_counter_was_put_back() {
    let home = filled(2);
    let conn = home.sql();
    let (value, tag): (i64, Vec<u8>) = conn
        .query_row("SELECT value, tag FROM counters WHERE name = 'drawers'", [], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })
        .expect("reads");
    drop(conn);
    let vault = home.open().expect("opens");
    let id = save(&vault, "inbox", "words that are destroyed");
    vault.delete(id).expect("deletes");
    vault.close().expect("closes");
    home.sql().execute("UPDATE counters SET value = ?1, tag = ?2", (value, tag)).expect("puts back");
    let vault = home.open().expect("opens");
    let error = vault.save(note("inbox", "other words"), UNSCREENED).expect_err("refuses");
    assert_eq!(error.class(), ErrorClass::Integrity, "{error}");
    assert!(matches!(vault.get(id), Err(Error::NoDrawer(_))));
}
