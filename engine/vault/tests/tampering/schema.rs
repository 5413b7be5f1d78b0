//! The schema: what was added, what is missing, indexes that lead nowhere.

use rusqlite::Connection;
use undercroft_crypto::Level;

use crate::scene::{COLUMNS, Found, LEVELS, Scene, assert_integrity};
use crate::support::save;

#[test]
fn additions_to_the_schema_are_found_and_do_nothing() {
    let objects = [
        "CREATE TRIGGER t AFTER INSERT ON audit BEGIN DELETE FROM drawers; END",
        "CREATE TRIGGER t BEFORE UPDATE ON chain BEGIN DELETE FROM audit; END",
        "CREATE VIEW v AS SELECT * FROM drawers",
        "CREATE TABLE extra (id INTEGER PRIMARY KEY)",
        "CREATE INDEX more ON drawers (length(content))",
        "ALTER TABLE drawers ADD COLUMN more BLOB",
        "PRAGMA user_version = 9",
        "PRAGMA user_version = 0",
        "PRAGMA application_id = 1",
    ];
    for level in LEVELS {
        let scene = Scene::new(level);
        for sql in objects {
            let copy = scene.tampered(|conn| conn.execute_batch(sql).expect("changes the schema"));
            let found = copy.assert_found(sql);
            if found == Found::ByVerifying {
                let vault = copy.open().expect("opens");
                let id = save(&vault, "inbox", "written beside it");
                assert_eq!(vault.get(id).expect("reads").content, "written beside it", "{sql}");
                scene.kept.iter().for_each(|(id, words)| {
                    assert_eq!(vault.get(*id).expect("reads").content, *words, "{sql}");
                });
            }
        }
    }
}

#[test]
fn what_is_missing_from_the_schema_is_found() {
    for level in LEVELS {
        let scene = Scene::new(level);
        let conn = scene.home.sql();
        let mut statement = conn
            .prepare("SELECT type, name FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE '%_fts_%'")
            .expect("compiles");
        let objects: Vec<(String, String)> = statement
            .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
            .expect("reads")
            .collect::<Result<_, _>>()
            .expect("reads");
        assert!(objects.len() >= 12);
        for (kind, name) in objects {
            let sql = format!("DROP {kind} {name}");
            scene.tampered(|conn| conn.execute_batch(&sql).expect("drops")).assert_found(&sql);
        }
    }
}

#[test]
fn a_table_that_became_a_view_is_found() {
    let scene = Scene::new(Level::Sealed);
    for (table, _) in COLUMNS {
        let sql =
            format!("ALTER TABLE {table} RENAME TO shadow; CREATE VIEW {table} AS SELECT * FROM shadow");
        scene.tampered(|conn| conn.execute_batch(&sql).expect("replaces")).assert_found(table);
    }
}

#[test]
fn an_index_that_leads_nowhere_is_an_integrity_error_for_the_read_and_found_by_verifying() {
    for index in
        ["audit_label", "drawers_rid", "drawers_written", "drawers_place", "drawers_fp", "outcomes_expires"]
    {
        let scene = Scene::new(Level::Sealed);
        let copy = scene.copy();
        empty_index(&copy.dir.join("vault.db"), index);
        copy.assert_found(index);
        let vault = copy.open().expect("opens");
        if index == "drawers_rid" {
            assert_integrity(&vault.get(scene.kept[0].0).expect_err("misses"), index);
        }
        let report = vault.verify(&mut |_| {}).expect("walks");
        assert!(report.mirror_drift.iter().any(|line| line.contains(index)), "{report:?}");
        let repaired = vault.repair(&mut |_| {}).expect("repairs");
        assert!(repaired.ok, "{index}: {repaired:?}");
        scene.kept.iter().for_each(|(id, words)| {
            assert_eq!(vault.get(*id).expect("reads").content, *words);
        });
    }
}

/// Leaves an index without entries although its table has rows: the root page becomes an empty leaf.
fn empty_index(database: &std::path::Path, name: &str) {
    let conn = Connection::open(database).expect("opens");
    let root: i64 = conn
        .query_row("SELECT rootpage FROM sqlite_master WHERE name = ?1", [name], |row| row.get(0))
        .expect("finds");
    let size: i64 = conn.query_row("PRAGMA page_size", [], |row| row.get(0)).expect("asks");
    conn.close().expect("closes");
    let mut bytes = std::fs::read(database).expect("reads");
    let (root, size) = (usize::try_from(root).expect("a page"), usize::try_from(size).expect("a size"));
    let page = &mut bytes[(root - 1) * size..root * size];
    page.fill(0);
    // Leaf of an index b-tree, no cells, content starts at the page's end.
    page[0] = 0x0a;
    page[5..7].copy_from_slice(&u16::try_from(size).unwrap_or(0).to_be_bytes());
    std::fs::write(database, bytes).expect("writes");
}
