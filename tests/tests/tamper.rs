//! Whatever is changed in the files is found: by a read where one comes near it, by `verify` always. Never partial data, and
//! the exit code says that it is a verdict.

use std::fs;
use std::path::Path;

use rusqlite::{Connection, types::Value};
use undercroft_tests::support::Palace;

/// A palace with some history: written, changed, linked and deleted drawers.
fn with_history() -> (Palace, Vec<String>) {
    let palace = Palace::new();
    let mut ids: Vec<String> =
        (0..4).map(|n| palace.remember(&format!("copper record number {n}"))).collect();
    let linked =
        palace.json(&["remember", "tin record", "--supersedes", &ids[0], "--wing", "w", "--room", "r"]);
    ids.push(linked["id"].as_str().expect("an id").to_owned());
    let _ = palace.run(&["drawer", "update", &ids[1], "copper record number one, changed"]).ok();
    let _ = palace.run(&["drawer", "delete", &ids[2]]).ok();
    ids.remove(2);
    let notes = palace.file("a.txt", "mined words about zinc");
    let _ = palace.run(&["mine", notes.to_str().expect("a path")]).ok();
    (palace, ids)
}

fn database(palace: &Palace) -> Connection {
    Connection::open(palace.vault().join("vault.db")).expect("the database")
}

/// Copies the vault's folder, runs `work` on it, and puts the copy back.
fn on_a_copy(palace: &Palace, work: impl FnOnce()) {
    let kept = palace.outside().join("kept");
    copy(&palace.vault(), &kept);
    work();
    fs::remove_dir_all(palace.vault()).expect("removed");
    fs::rename(&kept, palace.vault()).expect("put back");
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("a folder") {
        let path = entry.expect("an entry").path();
        fs::copy(&path, to.join(path.file_name().expect("a name"))).expect("a copy");
    }
}

/// `verify` and nothing else must say 2; other commands may only succeed with true words or say 2 as well.
fn is_found(palace: &Palace, what: &str) {
    let ran = palace.run(&["verify"]);
    assert_eq!(ran.code, Some(2), "not found: {what}\n{ran}");
    let listed = palace.run(&["search", "copper record", "-n", "50", "--json"]);
    match listed.code {
        Some(0) => {
            for hit in listed.json()["hits"].as_array().expect("hits") {
                let words = hit["content"].as_str().expect("content");
                assert!(
                    words.contains("record") || words.contains("zinc"),
                    "{what}: a search returned {words:?}"
                );
            }
        }
        Some(2) => assert!(!listed.stdout.contains("\"hits\""), "{what}: partial data\n{listed}"),
        _ => panic!("{what}: {listed}"),
    }
}

fn flipped(value: Value) -> Value {
    match value {
        Value::Blob(mut bytes) => {
            let middle = bytes.len() / 2;
            if let Some(byte) = bytes.get_mut(middle) {
                *byte ^= 1;
            }
            Value::Blob(bytes)
        }
        Value::Integer(number) => Value::Integer(number + 1_000_000),
        Value::Text(text) => Value::Text(format!("{text}x")),
        Value::Null => Value::Blob(vec![7; 16]),
        other => other,
    }
}

#[test]
fn a_changed_byte_in_any_column_of_any_table_is_found() {
    let (palace, _) = with_history();
    let tables = ["meta", "counters", "chain", "audit", "drawers"];
    for table in tables {
        let columns: Vec<String> = {
            let conn = database(&palace);
            let mut statement = conn.prepare("SELECT name FROM pragma_table_info(?1)").expect("a statement");
            statement.query_map([table], |row| row.get(0)).expect("rows").map(|r| r.expect("a row")).collect()
        };
        for column in columns {
            on_a_copy(&palace, || {
                let conn = database(&palace);
                conn.pragma_update(None, "ignore_check_constraints", true).expect("a pragma");
                let key = if table == "meta" {
                    "key"
                } else if table == "counters" {
                    "name"
                } else {
                    "rowid"
                };
                let (row, value): (Value, Value) = conn
                    .query_row(
                        &format!("SELECT {key}, {column} FROM {table} ORDER BY {key} DESC LIMIT 1"),
                        [],
                        |r| Ok((r.get(0)?, r.get(1)?)),
                    )
                    .expect("a row");
                let sql = format!("UPDATE {table} SET {column} = ?1 WHERE {key} = ?2");
                conn.execute(&sql, (flipped(value), row)).expect("changed");
                drop(conn);
                is_found(&palace, &format!("{table}.{column}"));
            });
        }
    }
    palace.verifies();
}

#[test]
fn rows_removed_swapped_or_put_back_are_found() {
    let (palace, ids) = with_history();
    let changes = [
        ("a record removed", "DELETE FROM drawers WHERE seq = 1"),
        ("an audit record removed", "DELETE FROM audit WHERE n = 2"),
        ("the tail of the chain cut", "DELETE FROM audit WHERE n = (SELECT max(n) FROM audit)"),
        ("every audit record removed", "DELETE FROM audit"),
        ("the chain state removed", "DELETE FROM chain"),
        ("a counter removed", "DELETE FROM counters"),
        ("a setting removed", "DELETE FROM meta WHERE key = 'schema'"),
        (
            "two audit records exchanged",
            "UPDATE audit SET n = -1 WHERE n = 1; UPDATE audit SET n = 1 WHERE n = 2; UPDATE audit SET n = 2 WHERE n = -1",
        ),
        (
            "contents exchanged between records",
            "UPDATE drawers SET content = (SELECT content FROM drawers WHERE seq = 2) WHERE seq = 1",
        ),
        (
            "a whole record under another's number",
            "UPDATE drawers SET seq = 100 WHERE seq = 1",
        ),
        (
            "everything but the id exchanged",
            "UPDATE drawers SET (meta, content, embedding, tag, wing, room, fp) =
               (SELECT meta, content, embedding, tag, wing, room, fp FROM drawers WHERE seq = 2) WHERE seq = 1",
        ),
        ("a trigger", "CREATE TRIGGER t AFTER INSERT ON drawers BEGIN DELETE FROM audit; END"),
        ("a view", "CREATE VIEW v AS SELECT * FROM drawers"),
        ("a table", "CREATE TABLE extra (x)"),
        ("an index dropped", "DROP INDEX drawers_written"),
    ];
    for (what, sql) in changes {
        on_a_copy(&palace, || {
            database(&palace).execute_batch(sql).expect(what);
            is_found(&palace, what);
        });
    }
    palace.verifies();
    assert_eq!(palace.words(&ids[0]), "copper record number 0");
}

#[test]
fn a_read_of_the_changed_record_gives_the_verdict_and_not_the_words() {
    let (palace, ids) = with_history();
    on_a_copy(&palace, || {
        let conn = database(&palace);
        conn.execute("UPDATE drawers SET content = zeroblob(60) WHERE seq = 1", []).expect("changed");
        drop(conn);
        palace.run(&["drawer", "get", &ids[0]]).refuses(2, "integrity");
        palace.run(&["drawer", "delete", &ids[0]]).refuses(2, "integrity");
        palace.run(&["drawer", "update", &ids[0], "x"]).refuses(2, "integrity");
        // A backup of what does not verify is not made.
        palace.run(&["backup", "create"]).refuses(2, "verify");
        let _ = palace.run(&["backup", "list"]).ok().says("No backups");
    });
    on_a_copy(&palace, || {
        let conn = database(&palace);
        conn.execute("DELETE FROM drawers WHERE seq = 1", []).expect("removed");
        drop(conn);
        palace.run(&["drawer", "get", &ids[0]]).refuses(2, "integrity");
    });
}

#[test]
fn an_older_version_of_a_record_that_is_put_back_is_found_by_a_read() {
    let palace = Palace::new();
    let id = palace.remember("The port is 7040.");
    type Stored = (i64, Vec<u8>, Vec<u8>, Vec<u8>, Vec<u8>, Vec<u8>);
    let old: Stored = database(&palace)
        .query_row("SELECT written, fp, meta, content, embedding, tag FROM drawers", [], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?, row.get(5)?))
        })
        .expect("a row");
    let _ = palace.run(&["drawer", "update", &id, "The port is 7044."]).ok();
    database(&palace)
        .execute(
            "UPDATE drawers SET written = ?1, fp = ?2, meta = ?3, content = ?4, embedding = ?5, tag = ?6",
            old,
        )
        .expect("put back");
    palace.run(&["drawer", "get", &id]).refuses(2, "older version");
    let ran = palace.run(&["verify"]).exits(2);
    assert!(ran.stdout.contains("REPLAYED") && ran.stdout.contains(&id), "{ran}");
    palace.run(&["search", "port"]).refuses(2, "integrity");
}

#[test]
fn a_deleted_record_that_is_put_back_is_found_by_a_read() {
    let palace = Palace::new();
    let id = palace.remember("words to be destroyed");
    let _ = palace.remember("words that stay");
    let conn = database(&palace);
    conn.execute_batch(
        "ATTACH ':memory:' AS aside; CREATE TABLE aside.d AS SELECT * FROM main.drawers WHERE seq = 1",
    )
    .expect("set aside");
    let _ = palace.run(&["drawer", "delete", &id]).ok();
    conn.execute_batch("INSERT INTO main.drawers SELECT * FROM aside.d").expect("put back");
    drop(conn);
    palace.run(&["drawer", "get", &id]).refuses(2, "destroyed drawer was put back");
    let _ = palace.run(&["verify"]).exits(2);
}

#[test]
fn a_database_put_back_alone_is_a_rollback_and_a_manifest_put_back_alone_is_healed() {
    let palace = Palace::new();
    let _ = palace.remember("first");
    let (old_database, old_manifest) = (palace.outside().join("old.db"), palace.outside().join("old.json"));
    fs::copy(palace.vault().join("vault.db"), &old_database).expect("a copy");
    fs::copy(palace.vault().join("vault.json"), &old_manifest).expect("a copy");
    let id = palace.remember("second");
    on_a_copy(&palace, || {
        fs::copy(&old_database, palace.vault().join("vault.db")).expect("put back");
        for command in [&["verify"][..], &["search", "first"], &["remember", "third"], &["stats"]] {
            palace.run(command).refuses(2, "rolled back");
        }
    });
    fs::copy(&old_manifest, palace.vault().join("vault.json")).expect("put back");
    let ran = palace.run(&["drawer", "get", &id]).ok();
    assert!(ran.stderr.contains("1 record(s) behind"), "{ran}");
    palace.verifies();
}

#[test]
fn a_changed_manifest_a_missing_database_and_a_stranger_s_database_are_refused() {
    let (palace, ids) = with_history();
    let manifest = palace.vault().join("vault.json");
    on_a_copy(&palace, || {
        let text = fs::read_to_string(&manifest).expect("a manifest");
        fs::write(&manifest, text.replace("\"sealed\"", "\"hmac-only\"")).expect("changed");
        palace.run(&["drawer", "get", &ids[0]]).refuses(2, "manifest");
    });
    on_a_copy(&palace, || {
        fs::write(&manifest, "{}").expect("changed");
        palace.run(&["verify"]).refuses(2, "manifest");
    });
    on_a_copy(&palace, || {
        fs::remove_file(palace.vault().join("vault.db")).expect("removed");
        palace.run(&["verify"]).refuses(2, "no database");
    });
    on_a_copy(&palace, || {
        fs::write(
            palace.vault().join("vault.db"),
            b"not a database at all, but long enough to be read as one",
        )
        .expect("changed");
        let _ = palace.run(&["verify"]).exits(2);
    });
    let _ = palace.run(&["vault", "create", "other"]).ok();
    on_a_copy(&palace, || {
        fs::copy(palace.root().join("vaults/other/vault.db"), palace.vault().join("vault.db"))
            .expect("exchanged");
        palace.run(&["verify"]).refuses(2, "integrity");
    });
    palace.verifies();
}

#[test]
fn one_damaged_vault_does_not_hide_the_others() {
    let palace = Palace::new();
    let _ = palace.run(&["vault", "create", "good"]).ok();
    fs::write(palace.vault().join("vault.json"), "{}").expect("changed");
    let ran = palace.run(&["vault", "list"]).exits(2);
    assert!(ran.stdout.contains("good ") && ran.stdout.contains("cannot be opened"), "{ran}");
    let _ = palace.run(&["verify", "--vault", "good"]).ok();
}

#[test]
fn a_repair_builds_derived_data_anew_and_heals_nothing_else() {
    let (palace, _) = with_history();
    database(&palace).execute_batch("DROP INDEX drawers_fp").expect("dropped");
    is_found(&palace, "an index dropped");
    let _ = palace.run(&["repair"]).ok().says("integrity: ok");
    palace.verifies();
    database(&palace)
        .execute("UPDATE drawers SET content = zeroblob(60) WHERE seq = 1", [])
        .expect("changed");
    let _ = palace.run(&["repair"]).exits(2);
    is_found(&palace, "a record changed before a repair");
}
