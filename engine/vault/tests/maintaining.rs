//! Repair changes nothing that was said, wholly or not at all; a copy is verified or does not exist.

mod support;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use rusqlite::types::Value;
use sha2::{Digest, Sha256};
use support::{Home, UNSCREENED, ask, note, save};
use undercroft_crypto::Level;
use undercroft_search::{EmbedError, Embedder, HashEmbedder};
use undercroft_vault::{Error, ErrorClass, Recovery, Vault, VaultConfig, VaultOptions};

/// More than any page of a long read, and not a multiple of one.
const MANY: usize = 2_500;

fn fill(vault: &Vault, count: usize) {
    let all = (0..count).map(|i| note(&format!("room{}", i % 3), &format!("short text number{i}"))).collect();
    let results = vault.save_many(all, UNSCREENED).expect("commits");
    assert!(results.iter().all(Result::is_ok));
}

/// A digest of every drawer's id, words and metadata.
fn contents(vault: &Vault) -> (usize, Vec<u8>) {
    let (mut count, mut hasher) = (0, Sha256::new());
    loop {
        let page = vault.list(None, None, 500, count).expect("lists");
        if page.is_empty() {
            return (count, hasher.finalize().to_vec());
        }
        count += page.len();
        for listed in page {
            let drawer = vault.get(listed.id).expect("reads");
            hasher.update(serde_json::to_vec(&drawer).expect("serialises"));
        }
    }
}

/// Every cell of a table of the file.
fn cells(home: &Home, table: &str) -> Vec<Vec<Value>> {
    let sql = home.sql();
    let mut statement = sql.prepare(&format!("SELECT * FROM {table} ORDER BY 1")).expect("compiles");
    let columns = statement.column_count();
    statement
        .query_map([], |row| (0..columns).map(|at| row.get(at)).collect())
        .expect("reads")
        .map(|row| row.expect("reads"))
        .collect()
}

/// The built-in embedder with a twist: other vectors, and a failure after so many texts.
struct Turned {
    left: AtomicUsize,
    failing: AtomicBool,
}

impl Turned {
    fn new() -> Arc<Self> {
        Arc::new(Self { left: AtomicUsize::new(0), failing: AtomicBool::new(false) })
    }

    fn fail_after(&self, texts: usize) {
        self.left.store(texts, Ordering::SeqCst);
        self.failing.store(true, Ordering::SeqCst);
    }
}

impl Embedder for Turned {
    fn name(&self) -> &str {
        "turned"
    }
    fn dimension(&self) -> usize {
        HashEmbedder.dimension()
    }
    fn gate(&self) -> f32 {
        HashEmbedder.gate()
    }
    fn floor(&self) -> f32 {
        HashEmbedder.floor()
    }
    fn embed(&self, text: &str) -> Result<Vec<f32>, EmbedError> {
        let failing = self.failing.load(Ordering::SeqCst);
        let spend = |left: usize| left.checked_sub(1);
        if failing && self.left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, spend).is_err() {
            return Err(EmbedError::Failed { name: "turned".into(), reason: "went away".into() });
        }
        let mut vector = HashEmbedder.embed(text)?;
        vector.rotate_left(1);
        Ok(vector)
    }
}

fn forced(home: &Home, embedder: Arc<Turned>) -> Vault {
    let options = VaultOptions {
        embedder,
        config: VaultConfig { force_embedder: true, ..VaultConfig::default() },
        ..home.options.clone()
    };
    Vault::open(&home.dir(), &home.master, options).expect("opens when forced")
}

#[test]
fn repair_of_more_rows_than_a_page_keeps_every_word() {
    for level in [Level::Sealed, Level::HmacOnly] {
        let home = Home::new();
        let vault = home.create(level);
        fill(&vault, MANY);
        let before = contents(&vault);
        assert_eq!(before.0, MANY);
        let mut steps = Vec::new();
        let report = vault.repair(&mut |done| steps.push(done)).expect("repairs");
        assert!(report.ok, "{report:?}");
        assert_eq!((report.reembedded, report.fingerprints_backfilled), (0, 0));
        assert_eq!((report.records_checked, steps.last()), (MANY as u64, Some(&(MANY as u64))));
        assert_eq!(contents(&vault), before);
        vault.close().expect("closes");
        let vault = home.open().expect("opens");
        assert_eq!(contents(&vault), before);
        assert_eq!(
            vault.search(&ask("number2499")).expect("searches").hits[0].content,
            "short text number2499"
        );
    }
}

#[test]
fn a_forced_embedder_gives_every_drawer_a_new_vector() {
    let home = Home::new();
    let vault = home.create(Level::Sealed);
    fill(&vault, MANY);
    let before = contents(&vault);
    vault.close().expect("closes");
    let vault = forced(&home, Turned::new());
    let report = vault.repair(&mut |_| {}).expect("repairs");
    assert_eq!((report.reembedded, report.ok), (MANY as u64, true));
    assert_eq!(contents(&vault), before);
    assert_eq!(vault.repair(&mut |_| {}).expect("repairs").reembedded, 0, "a second one finds nothing to do");
    vault.close().expect("closes");
    let error = home.open().expect_err("its vectors are another embedder's now");
    assert!(matches!(error, Error::EmbedderMismatch { .. }));
}

#[test]
fn a_repair_that_is_interrupted_changes_nothing() {
    for level in [Level::Sealed, Level::HmacOnly] {
        let home = Home::new();
        let vault = home.create(level);
        fill(&vault, MANY);
        let contents_before = contents(&vault);
        vault.close().expect("closes");
        let tables = ["drawers", "audit", "meta", "counters", "chain"];
        let before = tables.map(|table| cells(&home, table));
        let embedder = Turned::new();
        let vault = forced(&home, embedder.clone());
        embedder.fail_after(MANY - 300);
        let error = vault.repair(&mut |_| {}).expect_err("the embedder went away");
        assert_eq!(error.class(), ErrorClass::Unavailable, "{error}");
        assert_eq!(tables.map(|table| cells(&home, table)), before);
        drop(vault);
        let vault = home.open().expect("opens with the embedder that it had");
        assert_eq!(vault.recovery(), &Recovery::Current);
        assert_eq!(contents(&vault), contents_before);
        assert!(vault.verify(&mut |_| {}).expect("walks").ok);
        assert_eq!(
            vault.search(&ask("number2499")).expect("searches").hits[0].content,
            "short text number2499"
        );
    }
}

#[test]
fn repair_stops_at_a_tampered_record_and_leaves_the_evidence() {
    let home = Home::new();
    let vault = home.create(Level::Sealed);
    fill(&vault, 10);
    home.sql().execute("UPDATE drawers SET content = zeroblob(50) WHERE seq = 5", []).expect("updates");
    let before = cells(&home, "drawers");
    let error = vault.repair(&mut |_| {}).expect_err("refuses");
    assert_eq!(error.class(), ErrorClass::Integrity);
    assert_eq!(cells(&home, "drawers"), before);
}

#[test]
fn repair_makes_good_what_is_derived() {
    let home = Home::new();
    let vault = home.create(Level::HmacOnly);
    fill(&vault, 10);
    home.sql()
        .execute_batch(
            "DROP INDEX drawers_rid; DROP INDEX audit_label; CREATE INDEX audit_label ON audit (tag);
             DROP TABLE drawers_fts;",
        )
        .expect("damages");
    let report = vault.verify(&mut |_| {}).expect("walks");
    assert!(!report.ok && !report.ledger_drift.is_empty() && !report.mirror_drift.is_empty(), "{report:?}");
    assert!(vault.repair(&mut |_| {}).expect("repairs").ok);
    assert_eq!(vault.stats().expect("counts").records, 10);
}

#[test]
fn a_copy_is_whole_verified_and_opens_on_its_own() {
    for level in [Level::Sealed, Level::HmacOnly] {
        let home = Home::new();
        let vault = home.create(level);
        fill(&vault, 300);
        let target = home.path("copies").join("one");
        let info = vault.copy_to(&target, &home.master).expect("copies");
        assert_eq!((info.records, info.chain_records), (300, 300));
        let before = contents(&vault);
        save(&vault, "inbox", "after the copy");
        let copy = Vault::open(&target, &home.master, home.options.clone()).expect("opens");
        assert_eq!(copy.recovery(), &Recovery::Current);
        assert_eq!(contents(&copy), before);
        assert!(copy.verify(&mut |_| {}).expect("walks").ok);
        assert_eq!(copy.search(&ask("number7")).expect("searches").hits[0].content, "short text number7");
    }
}

#[test]
fn a_read_only_handle_copies_too() {
    let home = Home::new();
    let vault = home.create(Level::Sealed);
    save(&vault, "inbox", "words");
    let reader = home.open_read_only().expect("opens");
    assert_eq!(reader.copy_to(&home.path("copy"), &home.master).expect("copies").records, 1);
}

#[test]
fn a_copy_takes_no_folder_that_is_there_and_leaves_it_alone() {
    let home = Home::new();
    let vault = home.create(Level::Sealed);
    save(&vault, "inbox", "words");
    let target = home.path("mine");
    std::fs::create_dir(&target).expect("makes");
    std::fs::write(target.join("letter"), b"keep").expect("writes");
    let error = vault.copy_to(&target, &home.master).expect_err("refuses");
    assert!(matches!(error, Error::Backup(_)), "{error}");
    assert_eq!(error.class(), ErrorClass::Conflict);
    assert_eq!(std::fs::read(target.join("letter")).expect("is there"), b"keep");
}

#[test]
fn of_a_tampered_vault_there_is_no_copy() {
    for damage in [
        "UPDATE drawers SET content = zeroblob(50) WHERE seq = 2",
        "DELETE FROM drawers WHERE seq = 2",
        "UPDATE audit SET at = at + 1 WHERE n = 2",
        "DELETE FROM audit WHERE n = 3",
        "UPDATE chain SET height = height + 1",
        "CREATE TABLE extra (id INTEGER PRIMARY KEY)",
    ] {
        let home = Home::new();
        let vault = home.create(Level::Sealed);
        fill(&vault, 3);
        home.sql().execute_batch(damage).expect("damages");
        let target = home.path("copy");
        let error = vault.copy_to(&target, &home.master).expect_err(damage);
        assert_eq!(error.class(), ErrorClass::Integrity, "{damage}: {error}");
        assert!(!target.exists(), "{damage}");
    }
}

#[test]
fn a_copy_made_under_writes_is_of_one_moment() {
    let home = Home::new();
    let vault = home.create(Level::Sealed);
    save(&vault, "inbox", "first");
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut number = 0;
            while !stop.load(Ordering::SeqCst) {
                save(&vault, "inbox", &format!("word {number}"));
                number += 1;
            }
        });
        for round in 0..5 {
            let info = vault.copy_to(&home.path(&format!("copy{round}")), &home.master).expect("copies");
            assert_eq!(info.records, info.chain_records);
        }
        stop.store(true, Ordering::SeqCst);
    });
}
