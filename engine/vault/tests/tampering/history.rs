//! Genuine bytes of another time: rows, tails, counters, whole files put back.

use undercroft_crypto::Level;
use undercroft_vault::{DrawerId, Error};

use crate::scene::{LEVELS, Scene, assert_integrity, put_back};
use crate::support::{Home, UNSCREENED, ask, copy_folder, from_source, note, save};

#[test]
fn a_tail_of_the_chain_that_was_cut_is_found_by_verifying_and_stops_the_next_write() {
    for level in LEVELS {
        let scene = Scene::new(level);
        let copy = scene.tampered(|conn| {
            conn.execute("DELETE FROM audit WHERE n > 6", []).expect("deletes");
        });
        copy.assert_found("the tail was cut");
        let vault = copy.open().expect("the anchor names the stored head");
        let error = vault.save(note("inbox", "more"), UNSCREENED).expect_err("refuses");
        assert_integrity(&error, "a write on a cut chain");
    }
}

#[test]
fn a_tail_that_was_cut_together_with_its_state_is_a_rollback() {
    for level in LEVELS {
        let home = Home::new();
        let vault = home.create(level);
        let id = save(&vault, "inbox", "first");
        vault.close().expect("closes");
        copy_folder(&home.dir(), &home.path("older"));
        let vault = home.open().expect("opens");
        vault.update(id, "second", UNSCREENED).expect("updates");
        vault.close().expect("closes");
        let older = home.path("older").join("vault.db");
        let sql = home.sql();
        sql.execute("ATTACH ?1 AS old", [older.to_str().expect("UTF-8")]).expect("attaches");
        sql.execute_batch(
            "DELETE FROM audit WHERE n > 1;
             DELETE FROM chain; INSERT INTO chain SELECT * FROM old.chain;
             DELETE FROM counters; INSERT INTO counters SELECT * FROM old.counters;",
        )
        .expect("rolls back");
        sql.execute_batch("DETACH old").expect("detaches");
        drop(sql);
        let error = home.open().expect_err("refuses");
        assert!(matches!(error, Error::RolledBack { .. }), "{error}");
    }
}

#[test]
fn an_older_genuine_version_of_a_row_is_met_by_the_read() {
    for level in LEVELS {
        let home = Home::new();
        let vault = home.create(level);
        let id = save(&vault, "inbox", "the old words");
        vault.close().expect("closes");
        copy_folder(&home.dir(), &home.path("older"));
        let vault = home.open().expect("opens");
        vault.update(id, "the new words", UNSCREENED).expect("updates");
        vault.close().expect("closes");
        put_back(&home, "DELETE FROM drawers; INSERT INTO drawers SELECT * FROM old.drawers;");
        let vault = home.open().expect("opens");
        for error in [
            vault.get(id).expect_err("reads"),
            vault.list(None, None, 5, 0).expect_err("lists"),
            vault.search(&ask("words")).expect_err("searches"),
            vault.update(id, "more", UNSCREENED).expect_err("updates"),
            vault.delete(id).expect_err("deletes"),
        ] {
            assert_integrity(&error, "older version");
        }
        let report = vault.verify(&mut |_| {}).expect("walks");
        assert_eq!((report.ok, report.version_replay), (false, vec![id.to_string()]));
    }
}

#[test]
fn the_row_of_a_destroyed_drawer_is_met_by_the_read() {
    for level in LEVELS {
        let home = Home::new();
        let vault = home.create(level);
        let id = save(&vault, "inbox", "meant to be gone");
        vault.close().expect("closes");
        copy_folder(&home.dir(), &home.path("older"));
        let vault = home.open().expect("opens");
        vault.delete(id).expect("deletes");
        vault.close().expect("closes");
        put_back(&home, "INSERT INTO drawers SELECT * FROM old.drawers;");
        let vault = home.open().expect("opens");
        assert_integrity(&vault.get(id).expect_err("reads"), "destroyed drawer");
        assert_integrity(&vault.list(None, None, 5, 0).expect_err("lists"), "destroyed drawer");
        assert!(!vault.verify(&mut |_| {}).expect("walks").ok);
    }
}

#[test]
fn an_older_genuine_counter_never_lets_a_save_take_the_place_of_another() {
    for level in LEVELS {
        let home = Home::new();
        let vault = home.create(level);
        save(&vault, "inbox", "first");
        vault.close().expect("closes");
        copy_folder(&home.dir(), &home.path("older"));
        let vault = home.open().expect("opens");
        let second = save(&vault, "inbox", "second");
        let third = save(&vault, "inbox", "third");
        vault.delete(third).expect("deletes");
        vault.close().expect("closes");
        put_back(&home, "DELETE FROM counters; INSERT INTO counters SELECT * FROM old.counters;");
        let vault = home.open().expect("opens");
        assert!(!vault.verify(&mut |_| {}).expect("walks").ok, "the chain says how many were filed");
        assert_integrity(&vault.save(note("inbox", "x"), UNSCREENED).expect_err("refuses"), "counter");
        let batch = from_source("s.md", 0, "y");
        assert_integrity(&vault.save(batch, UNSCREENED).expect_err("refuses"), "counter");
        assert_eq!(vault.get(second).expect("reads").content, "second");
    }
}

/// Saves, then updates one drawer and destroys another; gives both ids, with a copy of the time before aside.
fn changed_since_a_copy(home: &Home) -> (DrawerId, DrawerId) {
    let vault = home.create(Level::Sealed);
    let (changed, destroyed) =
        (save(&vault, "inbox", "the old words"), save(&vault, "inbox", "to be destroyed"));
    vault.close().expect("closes");
    copy_folder(&home.dir(), &home.path("older"));
    let vault = home.open().expect("opens");
    vault.update(changed, "the new words", UNSCREENED).expect("updates");
    vault.delete(destroyed).expect("deletes");
    save(&vault, "inbox", "later");
    vault.close().expect("closes");
    (changed, destroyed)
}

#[test]
fn older_rows_with_a_doctored_chain_are_met_by_the_first_read_and_stop_the_next_write() {
    // Audit rows carry no tag of their own: that some were removed or relabelled shows when the chain is replayed.
    for doctored in [
        "DELETE FROM audit WHERE n IN (3, 4);",
        "UPDATE audit SET label = x'00112233445566778899aabbccddeeff' WHERE n IN (3, 4);",
    ] {
        let home = Home::new();
        let (changed, destroyed) = changed_since_a_copy(&home);
        put_back(
            &home,
            &format!(
                "INSERT OR REPLACE INTO drawers SELECT * FROM old.drawers WHERE seq IN (1, 2); {doctored}"
            ),
        );
        let open = || home.open().expect("opens");
        for id in [changed, destroyed] {
            assert_integrity(&open().get(id).expect_err("refuses"), doctored);
        }
        assert_integrity(&open().search(&ask("old words")).expect_err("refuses"), doctored);
        assert_integrity(&open().list(None, None, 5, 0).expect_err("refuses"), doctored);
        assert_integrity(&open().recent(None, 5).expect_err("refuses"), doctored);
        assert_integrity(&open().stats().expect_err("refuses"), doctored);
        assert_integrity(&open().find_duplicate("the old words").expect_err("refuses"), doctored);
        assert_integrity(&open().history(None, 5, 0).expect_err("refuses"), doctored);
        assert_integrity(&open().save(note("inbox", "more"), UNSCREENED).expect_err("refuses"), doctored);
        let report = open().verify(&mut |_| {}).expect("walks");
        assert!(!report.ok && !report.chain_ok);
    }
}

#[test]
fn a_database_rolled_back_alone_is_refused() {
    for level in LEVELS {
        let home = Home::new();
        let vault = home.create(level);
        save(&vault, "inbox", "first");
        vault.close().expect("closes");
        copy_folder(&home.dir(), &home.path("older"));
        let vault = home.open().expect("opens");
        save(&vault, "inbox", "second");
        vault.close().expect("closes");
        std::fs::copy(home.path("older").join("vault.db"), home.dir().join("vault.db")).expect("rolls back");
        for error in [home.open().expect_err("refuses"), home.open_read_only().expect_err("refuses")] {
            assert!(matches!(error, Error::RolledBack { .. }), "{error}");
            assert_integrity(&error, "rolled back");
        }
    }
}

#[test]
fn a_manifest_rolled_back_alone_heals_without_alarm() {
    let home = Home::new();
    let vault = home.create(Level::Sealed);
    save(&vault, "inbox", "first");
    vault.close().expect("closes");
    copy_folder(&home.dir(), &home.path("older"));
    let vault = home.open().expect("opens");
    let id = save(&vault, "inbox", "second");
    vault.close().expect("closes");
    std::fs::copy(home.path("older").join("vault.json"), home.dir().join("vault.json")).expect("rolls back");
    let vault = home.open().expect("heals");
    assert_eq!(vault.get(id).expect("reads").content, "second");
    assert!(vault.verify(&mut |_| {}).expect("walks").ok);
}
