//! Opening after a crash, after a rollback, with the wrong key, beside others: healed, refused or left alone, never guessed.

mod support;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use support::{Home, UNSCREENED, ask, copy_folder, note, save};
use undercroft_crypto::{Level, MasterKey, SeededEntropy};
use undercroft_search::{EmbedError, Embedder};
use undercroft_vault::{Error, ErrorClass, Recovery, Vault, VaultConfig, VaultOptions, alone};

/// Every file of a folder but those that SQLite keeps for readers.
fn files(dir: &Path) -> BTreeMap<String, Vec<u8>> {
    std::fs::read_dir(dir)
        .expect("reads the folder")
        .map(|entry| {
            let entry = entry.expect("reads an entry");
            let name = entry.file_name().into_string().expect("UTF-8");
            let bytes = std::fs::read(entry.path()).expect("reads");
            (name, bytes)
        })
        .filter(|(name, _)| !name.ends_with("-shm") && !name.ends_with("-wal"))
        .collect()
}

/// A vault whose process died before the manifest followed.
fn crashed(records: usize) -> Home {
    let home = Home::new();
    home.create(Level::Sealed).close().expect("closes");
    let manifest = std::fs::read(home.dir().join("vault.json")).expect("reads");
    let vault = home.open().expect("opens");
    for i in 0..records {
        save(&vault, "inbox", &format!("words {i}"));
    }
    // A process that dies runs no destructor, and holds no lock afterwards: what it left is what lies there now. The
    // manifest may have followed some of it by then.
    copy_folder(&home.dir(), &home.path("left"));
    drop(vault);
    std::fs::remove_dir_all(home.dir()).expect("removes");
    std::fs::rename(home.path("left"), home.dir()).expect("puts back");
    std::fs::write(home.dir().join("vault.json"), manifest).expect("writes");
    home
}

#[test]
fn a_vault_that_was_closed_is_current() {
    let home = Home::new();
    let vault = home.create(Level::Sealed);
    assert_eq!(vault.recovery(), &Recovery::Current);
    save(&vault, "inbox", "words");
    vault.close().expect("closes");
    let vault = home.open().expect("opens");
    assert_eq!((vault.recovery(), vault.unhealed()), (&Recovery::Current, [].as_slice()));
}

#[test]
fn a_manifest_that_lags_after_a_crash_is_healed_and_reported_once() {
    let home = crashed(3);
    let vault = home.open().expect("opens");
    assert_eq!(vault.recovery(), &Recovery::Behind(3));
    assert_eq!(vault.unhealed().len(), 1);
    assert!(vault.unhealed()[0].contains("3 record(s)"), "{:?}", vault.unhealed());
    assert_eq!(vault.manifest().anchor.height.get(), 3);
    assert!(vault.verify(&mut |_| {}).expect("walks").ok);
    vault.close().expect("closes");
    let vault = home.open().expect("opens");
    assert_eq!((vault.recovery(), vault.unhealed()), (&Recovery::Current, [].as_slice()));
}

#[test]
fn a_read_only_open_reports_the_lag_and_writes_nothing() {
    let home = crashed(3);
    let before = files(&home.dir());
    let vault = home.open_read_only().expect("opens");
    assert_eq!(vault.recovery(), &Recovery::Behind(3));
    assert!(vault.unhealed()[0].contains("left"), "{:?}", vault.unhealed());
    assert_eq!(vault.search(&ask("words 1")).expect("searches").hits.len(), 3);
    assert!(vault.verify(&mut |_| {}).expect("walks").ok);
    for error in [
        vault.save(note("inbox", "more"), UNSCREENED).expect_err("refuses"),
        vault.anchor().expect_err("refuses"),
        vault.repair(&mut |_| {}).expect_err("refuses"),
        vault.dedup(true).expect_err("refuses"),
    ] {
        assert_eq!(error.class(), ErrorClass::Denied, "{error}");
    }
    vault.close().expect("closes");
    assert_eq!(files(&home.dir()), before);
}

#[test]
fn a_read_only_handle_keeps_no_image() {
    let home = Home::new();
    let vault = home.create(Level::Sealed);
    let many = (0..300).map(|i| note("inbox", &format!("words {i}"))).collect();
    vault.save_many(many, UNSCREENED).expect("commits");
    vault.close().expect("closes");
    let before = files(&home.dir());
    assert!(!before.contains_key("index.img"), "nothing was searched, so nothing was loaded");
    let vault = home.open_read_only().expect("opens");
    assert_eq!(vault.search(&ask("words 7")).expect("searches").hits.len(), 5);
    drop(vault);
    assert_eq!(files(&home.dir()), before);
}

#[test]
fn a_chain_that_does_not_replay_is_said_to_be_broken() {
    let home = crashed(4);
    home.sql().execute("UPDATE audit SET at = at + 1 WHERE n = 2", []).expect("updates");
    let error = home.open().expect_err("refuses");
    assert!(matches!(error, Error::ChainBroken { height: 4 }), "{error}");
    assert_eq!(error.class(), ErrorClass::Integrity);
}

#[test]
fn a_gap_in_the_chain_behind_a_lagging_anchor_is_refused() {
    let home = crashed(4);
    home.sql().execute("DELETE FROM audit WHERE n = 3", []).expect("deletes");
    assert!(matches!(home.open(), Err(Error::ChainBroken { height: 2 })));
}

#[test]
fn another_history_of_the_same_length_is_a_rollback() {
    let home = Home::new();
    let vault = home.create(Level::Sealed);
    save(&vault, "inbox", "first");
    vault.close().expect("closes");
    copy_folder(&home.dir(), &home.path("fork"));
    let fork = Vault::open(&home.path("fork"), &home.master, home.options.clone()).expect("opens");
    save(&fork, "inbox", "told there");
    fork.close().expect("closes");
    let vault = home.open().expect("opens");
    save(&vault, "inbox", "told here");
    vault.close().expect("closes");
    std::fs::copy(home.path("fork").join("vault.db"), home.dir().join("vault.db")).expect("replaces");
    let error = home.open().expect_err("refuses");
    assert!(matches!(error, Error::RolledBack { .. }), "{error}");
    assert!(error.to_string().contains("another history"), "{error}");
}

#[test]
fn rows_put_back_under_an_open_handle_stop_its_next_write() {
    let home = Home::new();
    let vault = home.create(Level::Sealed);
    save(&vault, "inbox", "first");
    let sql = home.sql();
    sql.execute_batch(
        "CREATE TEMP TABLE chain1 AS SELECT * FROM chain; CREATE TEMP TABLE counters1 AS SELECT * FROM counters;",
    )
    .expect("keeps");
    save(&vault, "inbox", "second");
    sql.execute_batch(
        "DELETE FROM drawers WHERE seq = 2; DELETE FROM audit WHERE n = 2; DELETE FROM chain; DELETE FROM counters;
         INSERT INTO chain SELECT * FROM chain1; INSERT INTO counters SELECT * FROM counters1;",
    )
    .expect("rolls back");
    let error = vault.save(note("inbox", "third"), UNSCREENED).expect_err("refuses");
    assert!(matches!(error, Error::RolledBack { .. }), "{error}");
}

#[test]
fn a_longer_fork_put_under_an_open_handle_is_neither_continued_nor_anchored() {
    let home = Home::new();
    let vault = home.create(Level::Sealed);
    save(&vault, "inbox", "common");
    vault.close().expect("closes");
    copy_folder(&home.dir(), &home.path("fork"));
    let fork = Vault::open(&home.path("fork"), &home.master, home.options.clone()).expect("opens");
    for word in ["told there", "and there", "and there again"] {
        save(&fork, "inbox", word);
    }
    fork.close().expect("closes");
    let vault = home.open().expect("opens");
    save(&vault, "inbox", "told here");
    vault.anchor().expect("anchors");
    let manifest = std::fs::read(home.dir().join("vault.json")).expect("reads");
    let sql = home.sql();
    let database = home.path("fork").join("vault.db");
    sql.execute("ATTACH ?1 AS fork", [database.to_str().expect("UTF-8")]).expect("attaches");
    for table in ["drawers", "audit", "meta", "counters", "chain"] {
        let replace = format!("DELETE FROM {table}; INSERT INTO {table} SELECT * FROM fork.{table};");
        sql.execute_batch(&replace).expect("replaces");
    }
    for error in [
        vault.save(note("inbox", "more"), UNSCREENED).expect_err("refuses"),
        vault.anchor().expect_err("refuses"),
        vault.close().expect_err("refuses"),
    ] {
        assert!(matches!(error, Error::RolledBack { .. }), "{error}");
    }
    assert_eq!(std::fs::read(home.dir().join("vault.json")).expect("reads"), manifest);
}

#[test]
fn leftovers_of_a_creation_that_crashed_are_no_vaults_and_in_nobodys_way() {
    let home = Home::new();
    let parent = home.dir().parent().expect("has one").to_path_buf();
    std::fs::create_dir_all(parent.join(".new-0011223344556677")).expect("makes");
    std::fs::write(parent.join(".new-0011223344556677").join("vault.db"), b"half").expect("writes");
    let vault = home.create(Level::Sealed);
    let id = save(&vault, "inbox", "words");
    assert_eq!(vault.get(id).expect("reads").content, "words");
    let made: Vec<_> = std::fs::read_dir(&parent)
        .expect("reads")
        .map(|entry| entry.expect("reads").file_name().into_string().expect("UTF-8"))
        .filter(|name| name != "v")
        .collect();
    assert_eq!(made, [".new-0011223344556677"], "a creation leaves nothing beside its vault");
}

#[test]
fn a_vault_is_not_created_over_anything() {
    let home = Home::new();
    let vault = home.create(Level::Sealed);
    let id = save(&vault, "inbox", "words");
    let error = Vault::create(&home.dir(), "v", Level::Sealed, &home.master, home.options.clone());
    assert!(matches!(error, Err(Error::VaultExists(_))));
    assert_eq!(vault.get(id).expect("reads").content, "words");
    let bad = Vault::create(&home.path("x"), "a/b", Level::Sealed, &home.master, home.options.clone());
    assert_eq!(bad.expect_err("refuses").class(), ErrorClass::Invalid);
    assert!(!home.path("x").exists());
}

#[test]
fn nothing_is_not_found_and_a_manifest_alone_is_an_integrity_error() {
    let home = Home::new();
    assert!(matches!(home.open(), Err(Error::NoVault(_))));
    home.create(Level::Sealed).close().expect("closes");
    std::fs::remove_file(home.dir().join("vault.db")).expect("removes");
    for result in [home.open(), home.open_read_only()] {
        let error = result.expect_err("refuses");
        assert!(matches!(error, Error::DatabaseMissing(_)), "{error}");
        assert_eq!(error.class(), ErrorClass::Integrity);
    }
    assert!(!home.dir().join("vault.db").exists(), "no empty database was put there");
}

#[test]
fn a_wrong_master_key_opens_nothing() {
    let home = Home::new();
    home.create(Level::Sealed).close().expect("closes");
    let other = MasterKey::generate(&SeededEntropy::new(8));
    let error = Vault::open(&home.dir(), &other, home.options.clone()).expect_err("refuses");
    assert_eq!(error.class(), ErrorClass::Integrity);
    assert!(error.to_string().contains("master key"), "{error}");
}

#[test]
fn a_vault_is_opened_by_many_at_once_and_taken_alone_only_when_nobody_has_it() {
    let home = Home::new();
    home.create(Level::Sealed).close().expect("closes");
    let vaults: Vec<Vault> = std::thread::scope(|scope| {
        let handles: Vec<_> = (0..8).map(|_| scope.spawn(|| home.open().expect("opens"))).collect();
        handles.into_iter().map(|handle| handle.join().expect("no panic")).collect()
    });
    let refused = alone(&home.dir(), "v", || Ok(())).expect_err("refuses");
    assert!(matches!(refused, Error::InUse(_)), "{refused}");
    assert_eq!(refused.class(), ErrorClass::Conflict);
    drop(vaults);
    let inside = alone(&home.dir(), "v", || Ok(home.open().is_err())).expect("takes it");
    assert!(inside, "nobody opens it meanwhile");
    home.open().expect("opens again");
}

/// Turns every text into a few numbers made of its bytes.
struct Bytes {
    name: &'static str,
    dimension: usize,
}

impl Embedder for Bytes {
    fn name(&self) -> &str {
        self.name
    }
    fn dimension(&self) -> usize {
        self.dimension
    }
    fn gate(&self) -> f32 {
        0.9
    }
    fn floor(&self) -> f32 {
        0.0
    }
    fn embed(&self, text: &str) -> Result<Vec<f32>, EmbedError> {
        let mut vector = vec![0.5; self.dimension];
        text.bytes().enumerate().for_each(|(i, byte)| vector[i % self.dimension] += f32::from(byte));
        Ok(vector)
    }
}

fn with_embedder(home: &Home, name: &'static str, dimension: usize, force: bool) -> VaultOptions {
    VaultOptions {
        embedder: Arc::new(Bytes { name, dimension }),
        config: VaultConfig { force_embedder: force, ..VaultConfig::default() },
        ..home.options.clone()
    }
}

#[test]
fn another_embedder_is_refused_and_a_forced_one_is_made_good_by_repair() {
    let home = Home::new();
    let vault = home.create(Level::Sealed);
    let id = save(&vault, "inbox", "the boiler code");
    save(&vault, "inbox", "something else");
    vault.close().expect("closes");
    let other = |force| Vault::open(&home.dir(), &home.master, with_embedder(&home, "bytes", 24, force));
    let error = other(false).expect_err("refuses");
    assert!(matches!(error, Error::EmbedderMismatch { .. }), "{error}");
    assert_eq!(error.class(), ErrorClass::Invalid);
    let vault = other(true).expect("opens when forced");
    assert!(vault.unhealed()[0].contains("repair"), "{:?}", vault.unhealed());
    assert_eq!(vault.search(&ask("boiler code")).expect("searches").hits[0].id, id, "found by its words");
    let added = save(&vault, "inbox", "written before the repair");
    let report = vault.repair(&mut |_| {}).expect("repairs");
    assert_eq!((report.reembedded, report.ok), (2, true));
    assert_eq!(vault.search(&ask("boiler code")).expect("searches").hits[0].id, id);
    assert_eq!(vault.get(added).expect("reads").content, "written before the repair");
    vault.close().expect("closes");
    let vault = other(false).expect("opens");
    assert!(vault.unhealed().is_empty(), "{:?}", vault.unhealed());
    assert!(matches!(home.open(), Err(Error::EmbedderMismatch { .. })), "the old one is the other one now");
}

#[test]
fn one_name_with_another_dimension_is_another_embedder() {
    let home = Home::new();
    let options = with_embedder(&home, "bytes", 24, false);
    Vault::create(&home.dir(), "v", Level::Sealed, &home.master, options).expect("creates");
    let options = with_embedder(&home, "bytes", 32, false);
    let error = Vault::open(&home.dir(), &home.master, options).expect_err("refuses");
    assert!(error.to_string().contains("24") && error.to_string().contains("32"), "{error}");
}

#[test]
fn a_handle_whose_vault_got_another_embedder_meanwhile_writes_nothing_more() {
    let home = Home::new();
    let vault = home.create(Level::Sealed);
    save(&vault, "inbox", "first");
    let options = with_embedder(&home, "bytes", 24, true);
    let other = Vault::open(&home.dir(), &home.master, options).expect("opens");
    other.repair(&mut |_| {}).expect("repairs");
    let error = vault.save(note("inbox", "second"), UNSCREENED).expect_err("refuses");
    assert!(matches!(error, Error::EmbedderMismatch { .. }), "{error}");
    assert_eq!(vault.search(&ask("first")).expect("searches").hits.len(), 1, "its words are found still");
    assert_eq!(other.stats().expect("counts").records, 1);
}

#[test]
fn what_fails_after_a_commit_takes_nothing_back_and_refuses_the_next_write() {
    let home = Home::new();
    let vault = home.create(Level::Sealed);
    let manifest = home.dir().join("vault.json");
    let genuine = std::fs::read(&manifest).expect("reads");
    std::fs::write(&manifest, b"{}").expect("writes");
    // Written until the manifest is due: the first of them may find that it is not yet.
    let mut kept = Vec::new();
    let error = loop {
        match vault.save(note("inbox", &format!("words {}", kept.len())), UNSCREENED) {
            Ok(saved) => kept.push(saved.id),
            Err(error) => break error,
        }
    };
    assert_eq!(error.class(), ErrorClass::Integrity);
    assert!(!kept.is_empty(), "the write whose manifest failed was acknowledged");
    std::fs::write(&manifest, genuine).expect("writes");
    assert_eq!(vault.stats().expect("counts").records, kept.len() as u64);
    save(&vault, "inbox", "goes on");
    assert!(vault.verify(&mut |_| {}).expect("walks").ok);
}
