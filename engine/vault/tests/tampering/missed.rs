//! What a lookup would miss without a word: records that an index does not lead to, and rows that are not there.

use rusqlite::Connection;
use undercroft_crypto::Level;

use crate::scene::{LEVELS, Scene, WORDS, assert_integrity};
use crate::support::{Home, UNSCREENED, ask, copy_folder, note, save};

/// Exchanges an index for one of the same name that leads to fewer rows, and says that it leads to all.
fn falsify(conn: &Connection, index: &str, columns: &str, only: &str) {
    conn.execute_batch(&format!(
        "PRAGMA writable_schema = 1;
         DROP INDEX {index};
         CREATE INDEX {index} ON {columns} WHERE {only};
         UPDATE sqlite_master SET sql = 'CREATE INDEX {index} ON {columns}' WHERE name = '{index}';"
    ))
    .expect("falsifies");
}

#[test]
fn an_older_row_with_an_index_that_hides_the_newer_record_is_refused_and_never_signed_anew() {
    let home = Home::new();
    let vault = home.create(Level::Sealed);
    let changed = save(&vault, "inbox", "pay the first");
    save(&vault, "inbox", "pay the first");
    vault.close().expect("closes");
    copy_folder(&home.dir(), &home.path("older"));
    let vault = home.open().expect("opens");
    vault.update(changed, "pay the second", UNSCREENED).expect("updates");
    vault.close().expect("closes");
    let conn = home.sql();
    conn.execute_batch(&format!(
        "ATTACH '{}' AS old; INSERT OR REPLACE INTO drawers SELECT * FROM old.drawers WHERE seq = 1; DETACH old;",
        home.path("older").join("vault.db").display()
    ))
    .expect("puts back");
    falsify(&conn, "audit_label", "audit (label)", "n <> 3");
    conn.close().expect("closes");
    let open = || home.open().expect("opens");
    assert_integrity(&open().get(changed).expect_err("refuses"), "a read");
    assert_integrity(&open().search(&ask("pay")).expect_err("refuses"), "a search");
    assert_integrity(&open().dedup(true).expect_err("refuses"), "a deduplication");
    assert_integrity(&open().save(note("inbox", "more"), UNSCREENED).expect_err("refuses"), "a save");
    // A repair makes the index anew, and then meets the row.
    assert_integrity(&open().repair(&mut |_| {}).expect_err("refuses"), "a repair");
    let report = open().verify(&mut |_| {}).expect("walks");
    assert!(!report.ok && !report.version_replay.is_empty(), "{report:?}");
}

#[test]
fn an_index_that_hides_records_from_an_open_handle_is_refused_when_the_chain_has_grown() {
    let home = Home::new();
    let vault = home.create(Level::Sealed);
    let id = save(&vault, "inbox", "first");
    assert_eq!(vault.get(id).expect("reads").content, "first");
    let other = home.open().expect("opens beside it");
    other.update(id, "second", UNSCREENED).expect("updates");
    other.close().expect("closes");
    let conn = home.sql();
    falsify(&conn, "audit_label", "audit (label)", "n <> 2");
    conn.close().expect("closes");
    assert_integrity(&vault.get(id).expect_err("refuses"), "the new record");
}

#[test]
fn an_index_over_fewer_rows_than_it_says_is_told_and_not_an_error_of_the_program() {
    for level in LEVELS {
        let scene = Scene::new(level);
        let copy = scene.tampered(|conn| {
            conn.execute_batch(
                "DROP INDEX drawers_place; CREATE INDEX drawers_place ON drawers (wing, room) WHERE seq < 2;",
            )
            .expect("exchanges");
        });
        let vault = copy.open().expect("opens");
        let report = vault.verify(&mut |_| {}).expect("walks");
        assert!(report.mirror_drift.iter().any(|line| line.contains("drawers_place")), "{report:?}");
        assert!(vault.repair(&mut |_| {}).expect("repairs").ok);
    }
}

#[test]
fn a_search_over_rows_of_which_some_are_missing_is_refused() {
    for (tampering, sql) in [
        ("all removed", "DELETE FROM drawers"),
        ("one removed", "DELETE FROM drawers WHERE seq = 2"),
        ("all under numbers that nobody reads", "UPDATE drawers SET seq = -seq - 1"),
        ("one under such a number", "UPDATE drawers SET seq = -1 WHERE seq = 3"),
    ] {
        let scene = Scene::new(Level::Sealed);
        let copy = scene.tampered(|conn| assert!(conn.execute(sql, []).expect("tampers") > 0));
        for query in ["garden", "nothing that is kept"] {
            let image = copy.dir.join("index.img");
            if image.exists() {
                std::fs::remove_file(image).expect("removes");
            }
            let refused = copy.open().expect("opens").search(&ask(query));
            assert_integrity(&refused.expect_err("refuses"), tampering);
        }
    }
}

#[test]
fn a_superseded_drawer_whose_row_cannot_be_found_is_no_dangling_link() {
    let scene = Scene::new(Level::Sealed);
    let copy = scene.tampered(|conn| {
        assert_eq!(conn.execute("UPDATE drawers SET rid = zeroblob(16) WHERE seq = 1", []), Ok(1))
    });
    assert_integrity(&copy.open().expect("opens").supersessions().expect_err("refuses"), "its row");
}

#[test]
fn pages_of_the_full_text_table_that_say_nothing_are_found_and_made_anew() {
    for sql in [
        "UPDATE drawers_fts_data SET block = zeroblob(length(block)) WHERE id > 10",
        "UPDATE drawers_fts_config SET v = 99 WHERE k = 'version'",
    ] {
        let scene = Scene::new(Level::HmacOnly);
        let copy = scene.tampered(|conn| assert!(conn.execute(sql, []).expect("tampers") > 0));
        let vault = copy.open().expect("opens");
        let report = vault.verify(&mut |_| {}).expect("walks");
        assert!(report.mirror_drift.iter().any(|line| line.contains("full-text table")), "{sql}: {report:?}");
        assert!(vault.repair(&mut |_| {}).expect("repairs").ok, "{sql}");
        assert_eq!(vault.get(scene.kept[0].0).expect("reads").content, WORDS[0]);
    }
}
