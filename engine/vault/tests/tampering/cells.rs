//! Single cells and rows: changed, exchanged, taken away, brought in.

use rusqlite::Connection;
use rusqlite::types::Value;
use undercroft_crypto::Level;

use crate::scene::{COLUMNS, LEVELS, Scene, assert_integrity, cell, each_cell, flipped, key_of, rows, set};

#[test]
fn a_flipped_bit_in_any_cell_is_found() {
    for level in LEVELS {
        let scene = Scene::new(level);
        each_cell(&scene, |table, column, key| {
            for place in 0..3 {
                let what = format!("{level:?} {table}.{column} of {key:?}, place {place}");
                scene
                    .tampered(|conn| {
                        let value = flipped(&cell(conn, table, column, key), place);
                        set(conn, table, column, key, &value).expect("updates");
                    })
                    .assert_found(&what);
            }
        });
    }
}

#[test]
fn a_cell_of_another_type_or_length_is_found() {
    let scene = Scene::new(Level::Sealed);
    let others =
        [Value::Integer(3), Value::Text("text".into()), Value::Blob(Vec::new()), Value::Blob(vec![1; 40])];
    each_cell(&scene, |table, column, key| {
        for value in &others {
            let mut refused = false;
            let copy = scene.tampered(|conn| {
                let same = cell(conn, table, column, key) == *value;
                refused = same || set(conn, table, column, key, value).is_err();
            });
            if !refused {
                copy.assert_found(&format!("{table}.{column} of {key:?} as {value:?}"));
            }
        }
    });
}

#[test]
fn a_flipped_bit_in_a_drawer_is_met_by_the_read_and_named() {
    for level in LEVELS {
        let scene = Scene::new(level);
        let (id, _) = scene.kept[0];
        for column in ["written", "wing", "room", "fp", "content", "embedding", "tag"] {
            let copy = scene.tampered(|conn| {
                let key = Value::Integer(1);
                set(conn, "drawers", column, &key, &flipped(&cell(conn, "drawers", column, &key), 1))
                    .expect("updates");
            });
            let error = copy.open().expect("opens").get(id).expect_err(column);
            assert_integrity(&error, column);
            assert!(error.to_string().contains(&id.to_string()), "{column}: {error}");
            let report = copy.open().expect("opens").verify(&mut |_| {}).expect("walks");
            assert!(report.bad_records.iter().any(|line| line.contains(&id.to_string())), "{report:?}");
        }
    }
}

#[test]
fn a_deleted_row_is_found() {
    for level in LEVELS {
        let scene = Scene::new(level);
        let conn = scene.home.sql();
        // A remembered outcome that is missing is an unknown key, and nothing more.
        for (table, _) in COLUMNS.iter().filter(|(table, _)| *table != "outcomes") {
            for key in rows(&conn, table) {
                let sql = format!("DELETE FROM {table} WHERE {} = ?1", key_of(table));
                scene
                    .tampered(|conn| assert_eq!(conn.execute(&sql, [&key]).expect("deletes"), 1))
                    .assert_found(&format!("{level:?} {table} without {key:?}"));
            }
        }
    }
}

#[test]
fn a_remembered_outcome_that_is_missing_is_an_unknown_key_and_no_alarm() {
    let scene = Scene::new(Level::Sealed);
    let copy = scene.tampered(|conn| assert_eq!(conn.execute("DELETE FROM outcomes", []), Ok(2)));
    copy.assert_harmless("no outcome is remembered");
}

#[test]
fn the_absence_of_a_drawer_that_the_chain_records_is_no_mere_absence() {
    let scene = Scene::new(Level::Sealed);
    let (id, _) = scene.kept[1];
    let copy =
        scene.tampered(|conn| assert_eq!(conn.execute("DELETE FROM drawers WHERE seq = 2", []), Ok(1)));
    assert_integrity(&copy.open().expect("opens").get(id).expect_err("finds"), "deleted row");
}

#[test]
fn blobs_exchanged_between_two_rows_are_found_in_every_column() {
    for level in LEVELS {
        let scene = Scene::new(level);
        let conn = scene.home.sql();
        for (table, columns) in COLUMNS {
            let keys = rows(&conn, table);
            let [one, two, ..] = keys.as_slice() else { continue };
            for column in columns {
                let mut same = false;
                let copy = scene.tampered(|conn| {
                    let (a, b) = (cell(conn, table, column, one), cell(conn, table, column, two));
                    same = a == b;
                    exchange(conn, table, column, [(one, &a), (two, &b)]);
                });
                if !same {
                    copy.assert_found(&format!("{level:?} {table}.{column} exchanged"));
                }
            }
        }
    }
}

/// Goes by way of a third value, for columns that are unique.
fn exchange(conn: &Connection, table: &str, column: &str, [(one, a), (two, b)]: [(&Value, &Value); 2]) {
    if *column == *key_of(table) {
        let third = if matches!(a, Value::Text(_)) { Value::Text("x".into()) } else { Value::Integer(-7) };
        set(conn, table, column, one, &third).expect("updates");
        set(conn, table, column, two, one).expect("updates");
        set(conn, table, column, &third, two).expect("updates");
    } else {
        let third =
            if matches!(a, Value::Integer(_)) { Value::Integer(-7) } else { Value::Blob(vec![9; 16]) };
        set(conn, table, column, one, &third).expect("updates");
        set(conn, table, column, two, a).expect("updates");
        set(conn, table, column, one, b).expect("updates");
    }
}

#[test]
fn whole_rows_that_changed_places_are_found() {
    for level in LEVELS {
        let scene = Scene::new(level);
        for (table, one, two) in [("drawers", 1, 3), ("audit", 1, 3), ("audit", 6, 7), ("audit", 2, 5)] {
            let key = key_of(table);
            let sql = format!(
                "UPDATE {table} SET {key} = -1 WHERE {key} = {one}; UPDATE {table} SET {key} = {one} WHERE \
                 {key} = {two}; UPDATE {table} SET {key} = {two} WHERE {key} = -1;"
            );
            scene
                .tampered(|conn| conn.execute_batch(&sql).expect("updates"))
                .assert_found(&format!("{level:?} {table}: {one} and {two} exchanged"));
        }
    }
}

#[test]
fn blobs_of_another_vault_with_the_same_master_key_are_found() {
    for level in LEVELS {
        let (scene, other) = (Scene::new(level), Scene::new(level));
        let (own, foreign) = (scene.home.sql(), other.home.sql());
        each_cell(&scene, |table, column, key| {
            // Keys that are blind differ from vault to vault: the row at the same place is meant.
            let at = rows(&own, table).iter().position(|one| one == key).expect("is there");
            let value = cell(&foreign, table, column, &rows(&foreign, table)[at]);
            let mut same = false;
            let copy = scene.tampered(|conn| {
                same = cell(conn, table, column, key) == value;
                set(conn, table, column, key, &value).expect("updates");
            });
            if !same {
                copy.assert_found(&format!("{level:?} {table}.{column} of {key:?} from another vault"));
            }
        });
        for (table, _) in COLUMNS {
            let path = other.home.dir().join("vault.db");
            let copy = scene.tampered(|conn| {
                conn.execute("ATTACH ?1 AS other", [path.to_str().expect("UTF-8")]).expect("attaches");
                let sql = format!("DELETE FROM {table}; INSERT INTO {table} SELECT * FROM other.{table};");
                conn.execute_batch(&sql).expect("copies");
                conn.execute_batch("DETACH other").expect("detaches");
            });
            copy.assert_found(&format!("{level:?} all of {table} from another vault"));
        }
    }
}

#[test]
fn rows_added_from_outside_are_found() {
    let additions = [
        "INSERT INTO audit SELECT 0, label, tag, at, shown FROM audit WHERE n = 1",
        "INSERT INTO audit SELECT -9223372036854775808, label, tag, at, shown FROM audit WHERE n = 1",
        "INSERT INTO audit SELECT max(n) + 1, label, tag, at, shown FROM audit",
        "INSERT INTO drawers SELECT -9223372036854775808, -1, x'00112233445566778899aabbccddeeff', wing, room,
            source, fp, supersedes, meta, content, embedding, tag FROM drawers WHERE seq = 1",
        "INSERT INTO drawers SELECT 99, 99, x'00112233445566778899aabbccddeeff', wing, room, source, fp,
            supersedes, meta, content, embedding, tag FROM drawers WHERE seq = 1",
        "INSERT INTO meta VALUES ('more', x'00', x'00')",
        "INSERT INTO counters SELECT 'more', value, tag FROM counters",
        "INSERT INTO outcomes SELECT x'00112233445566778899aabbccddeeff', request, expires, outcome, tag
            FROM outcomes LIMIT 1",
        "INSERT INTO outcomes SELECT x'', request, expires, outcome, tag FROM outcomes LIMIT 1",
        "INSERT INTO outcomes SELECT 'text', request, expires, outcome, tag FROM outcomes LIMIT 1",
    ];
    for level in LEVELS {
        let scene = Scene::new(level);
        for sql in additions {
            scene
                .tampered(|conn| assert_eq!(conn.execute(sql, []), Ok(1), "{sql}"))
                .assert_found(&format!("{level:?} {sql}"));
        }
    }
}
