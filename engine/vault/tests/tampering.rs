//! Whatever is done to the files of a vault from outside is found, and no altered word ever leaves it.

mod support;

use std::path::PathBuf;

use rusqlite::Connection;
use rusqlite::types::Value;
use support::{Home, UNSCREENED, ask, copy_folder, from_source, note, save};
use undercroft_crypto::Level;
use undercroft_vault::{DrawerId, Error, ErrorClass, SourceBatch, Vault};

const LEVELS: [Level; 2] = [Level::Sealed, Level::HmacOnly];

/// Every column of every table that is evidence or ledger.
const COLUMNS: [(&str, &[&str]); 5] = [
    (
        "drawers",
        &[
            "seq",
            "written",
            "rid",
            "wing",
            "room",
            "source",
            "fp",
            "supersedes",
            "meta",
            "content",
            "embedding",
            "tag",
        ],
    ),
    ("audit", &["n", "label", "tag", "at", "shown"]),
    ("meta", &["key", "value", "tag"]),
    ("counters", &["name", "value", "tag"]),
    ("chain", &["height", "head", "digest", "tag"]),
];

/// A vault with some of everything, closed, and what it holds.
struct Scene {
    home: Home,
    kept: Vec<(DrawerId, &'static str)>,
    /// Destroyed before the vault was closed.
    gone: DrawerId,
}

const WORDS: [&str; 4] =
    ["alpha waters the garden", "beta pays the rent", "gamma feeds the cat", "delta flies"];

impl Scene {
    fn new(level: Level) -> Self {
        let home = Home::new();
        let vault = home.create(level);
        let mut kept = vec![(save(&vault, "inbox", WORDS[0]), WORDS[0])];
        let mut newer = note("inbox", WORDS[1]);
        newer.supersedes = Some(kept[0].0);
        kept.push((vault.save(newer, UNSCREENED).expect("saves").id, WORDS[1]));
        let batch = SourceBatch {
            source: "notes.md".into(),
            wing: "mined".into(),
            drawers: vec![from_source("notes.md", 0, WORDS[2])],
            total: Some(1),
        };
        vault.file_source(batch, UNSCREENED).expect("files");
        kept.push((undercroft_vault::drawer_id("mined", "notes", Some("notes.md"), 0), WORDS[2]));
        let changed = save(&vault, "inbox", "before it was changed");
        vault.update(changed, WORDS[3], UNSCREENED).expect("updates");
        kept.push((changed, WORDS[3]));
        let gone = save(&vault, "inbox", "destroyed on purpose");
        vault.delete(gone).expect("deletes");
        vault.close().expect("closes");
        Self { home, kept, gone }
    }

    /// The same scene in a folder of its own, with `tamper` done to its database.
    fn tampered(&self, tamper: impl FnOnce(&Connection)) -> Copy<'_> {
        let copy = self.copy();
        let conn = Connection::open(copy.dir.join("vault.db")).expect("opens the file");
        tamper(&conn);
        // Closing moves the log into the file.
        conn.close().expect("closes");
        copy
    }

    fn copy(&self) -> Copy<'_> {
        let folder = tempfile::TempDir::new().expect("a temporary folder");
        let dir = folder.path().join("v");
        copy_folder(&self.home.dir(), &dir);
        Copy { scene: self, dir, _folder: folder }
    }
}

struct Copy<'a> {
    scene: &'a Scene,
    dir: PathBuf,
    _folder: tempfile::TempDir,
}

/// How a change was noticed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Found {
    ByOpening,
    ByReading,
    ByVerifying,
    Not,
}

impl Copy<'_> {
    fn open(&self) -> undercroft_vault::Result<Vault> {
        Vault::open(&self.dir, &self.scene.home.master, self.scene.home.options.clone())
    }

    /// Opens, reads everything in every way, verifies. Panics when an altered word comes out or an alarm is of
    /// another class.
    fn inspect(&self, what: &str) -> Found {
        let vault = match self.open() {
            Ok(vault) => vault,
            Err(error) => {
                assert_integrity(&error, what);
                return Found::ByOpening;
            }
        };
        let mut found = Found::Not;
        for (id, words) in &self.scene.kept {
            match vault.get(*id) {
                Ok(drawer) => assert_eq!((drawer.id, drawer.content.as_str()), (*id, *words), "{what}"),
                Err(error) => found = alarm(&error, what),
            }
        }
        match vault.get(self.scene.gone) {
            Err(Error::NoDrawer(_)) => {}
            Err(error) => found = alarm(&error, what),
            Ok(_) => panic!("{what}: a destroyed drawer came back"),
        }
        let known: Vec<&str> = self.scene.kept.iter().map(|(_, words)| *words).collect();
        match vault.list(None, None, 50, 0) {
            Ok(listed) => listed.iter().for_each(|d| assert!(known.contains(&d.preview.as_str()), "{what}")),
            Err(error) => found = alarm(&error, what),
        }
        for words in &known {
            match vault.search(&ask(words)) {
                Ok(reply) => {
                    reply
                        .hits
                        .iter()
                        .for_each(|hit| assert!(known.contains(&hit.content.as_str()), "{what}"));
                }
                Err(error) => found = alarm(&error, what),
            }
        }
        let sound = match vault.verify(&mut |_| {}) {
            Ok(report) => report.ok,
            Err(error) => {
                assert_integrity(&error, what);
                false
            }
        };
        match (found, sound) {
            (Found::Not, false) => Found::ByVerifying,
            (found, sound) => {
                assert!(found == Found::Not || !sound, "{what}: reads complain and verify does not");
                found
            }
        }
    }

    fn assert_found(&self, what: &str) -> Found {
        let found = self.inspect(what);
        assert_ne!(found, Found::Not, "{what} went unnoticed");
        found
    }

    fn assert_harmless(&self, what: &str) {
        assert_eq!(self.inspect(what), Found::Not, "{what}");
    }
}

fn assert_integrity(error: &Error, what: &str) {
    assert_eq!(error.class(), ErrorClass::Integrity, "{what}: {error}");
}

fn alarm(error: &Error, what: &str) -> Found {
    assert_integrity(error, what);
    Found::ByReading
}

fn rows(conn: &Connection, table: &str) -> Vec<Value> {
    let key = key_of(table);
    let mut statement = conn.prepare(&format!("SELECT {key} FROM {table} ORDER BY 1")).expect("compiles");
    statement.query_map([], |row| row.get(0)).expect("reads").map(|row| row.expect("reads")).collect()
}

fn key_of(table: &str) -> &'static str {
    match table {
        "drawers" => "seq",
        "audit" => "n",
        "meta" => "key",
        "counters" => "name",
        _ => "id",
    }
}

fn cell(conn: &Connection, table: &str, column: &str, key: &Value) -> Value {
    let sql = format!("SELECT {column} FROM {table} WHERE {} = ?1", key_of(table));
    conn.query_row(&sql, [key], |row| row.get(0)).expect("reads")
}

fn set(conn: &Connection, table: &str, column: &str, key: &Value, value: &Value) -> rusqlite::Result<usize> {
    conn.execute(&format!("UPDATE {table} SET {column} = ?2 WHERE {} = ?1", key_of(table)), (key, value))
}

/// The value with one bit changed at the start, in the middle or at the end; a missing one appears.
fn flipped(value: &Value, place: usize) -> Value {
    let flip = |bytes: &[u8]| {
        let mut bytes = bytes.to_vec();
        let at = (bytes.len() - 1) * place / 2;
        bytes[at] ^= 1;
        bytes
    };
    match value {
        Value::Null => Value::Blob(vec![7; 16]),
        Value::Integer(number) => Value::Integer(number ^ [1 << 6, 1 << 20, i64::MIN][place]),
        Value::Blob(bytes) if bytes.is_empty() => Value::Blob(vec![0]),
        Value::Blob(bytes) => Value::Blob(flip(bytes)),
        Value::Text(text) => Value::Text(String::from_utf8(flip(text.as_bytes())).expect("ASCII")),
        Value::Real(_) => unreachable!("no column holds one"),
    }
}

/// Runs `test` for every cell of the scene.
fn each_cell(scene: &Scene, mut test: impl FnMut(&'static str, &'static str, &Value)) {
    let conn = scene.home.sql();
    for (table, columns) in COLUMNS {
        for key in rows(&conn, table) {
            columns.iter().for_each(|column| test(table, column, &key));
        }
    }
}

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
        for (table, _) in COLUMNS {
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
        let foreign = other.home.sql();
        each_cell(&scene, |table, column, key| {
            let value = cell(&foreign, table, column, key);
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

fn put_back(home: &Home, sql: &str) {
    let older = home.path("older").join("vault.db");
    let conn = home.sql();
    conn.execute("ATTACH ?1 AS old", [older.to_str().expect("UTF-8")]).expect("attaches");
    conn.execute_batch(sql).expect("puts back");
    conn.execute_batch("DETACH old").expect("detaches");
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

#[test]
fn older_words_with_a_doctored_chain_are_found_by_verifying() {
    // Reads look the newest record up; that the chain itself was edited is what replaying it shows.
    let home = Home::new();
    let vault = home.create(Level::Sealed);
    let id = save(&vault, "inbox", "the old words");
    vault.close().expect("closes");
    copy_folder(&home.dir(), &home.path("older"));
    let vault = home.open().expect("opens");
    vault.update(id, "the new words", UNSCREENED).expect("updates");
    vault.close().expect("closes");
    put_back(
        &home,
        "DELETE FROM drawers; INSERT INTO drawers SELECT * FROM old.drawers;
         UPDATE audit SET label = x'00112233445566778899aabbccddeeff' WHERE n = 2;",
    );
    let report = home.open().expect("opens").verify(&mut |_| {}).expect("walks");
    assert!(!report.ok && !report.chain_ok && !report.label_drift.is_empty());
}

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

#[test]
fn the_manifest_of_another_vault_is_refused() {
    let (scene, other) = (Scene::new(Level::Sealed), Scene::new(Level::Sealed));
    let copy = scene.copy();
    std::fs::copy(other.home.dir().join("vault.json"), copy.dir.join("vault.json")).expect("copies");
    assert_eq!(copy.assert_found("another manifest"), Found::ByOpening);
}

#[test]
fn a_flipped_byte_anywhere_in_the_manifest_is_found() {
    let scene = Scene::new(Level::Sealed);
    let copy = scene.copy();
    let path = copy.dir.join("vault.json");
    let genuine = std::fs::read(&path).expect("reads");
    for at in 0..genuine.len() {
        for bit in [0x01, 0x20, 0x80] {
            let mut changed = genuine.clone();
            changed[at] ^= bit;
            std::fs::write(&path, &changed).expect("writes");
            // White space between fields carries nothing.
            match copy.open() {
                Ok(_) => assert!(genuine[at].is_ascii_whitespace(), "byte {at} carries nothing"),
                Err(error) => assert_integrity(&error, &format!("byte {at} of the manifest")),
            }
        }
    }
    for cut in [0, 1, genuine.len() / 2, genuine.len() - 2] {
        std::fs::write(&path, &genuine[..cut]).expect("writes");
        assert_integrity(&copy.open().expect_err("refuses"), "a cut manifest");
    }
    std::fs::write(&path, [genuine.as_slice(), &[b' '; 100_000]].concat()).expect("writes");
    assert_integrity(&copy.open().expect_err("refuses"), "a manifest that goes on");
}

#[test]
fn a_missing_or_cut_database_is_found() {
    let scene = Scene::new(Level::Sealed);
    let copy = scene.copy();
    let path = copy.dir.join("vault.db");
    let genuine = std::fs::read(&path).expect("reads");
    for cut in
        [0, 1, 99, 100, 4_095, 4_096, 4_097, genuine.len() / 2, genuine.len() - 4_096, genuine.len() - 1]
    {
        let copy = scene.copy();
        std::fs::write(copy.dir.join("vault.db"), &genuine[..cut]).expect("writes");
        let found = copy.inspect(&format!("cut to {cut}"));
        // SQLite reads zeros where the last page ends early.
        let lost_nothing = genuine[cut..].iter().all(|byte| *byte == 0);
        assert!(found != Found::Not || lost_nothing, "cut to {cut} of {} bytes", genuine.len());
    }
    std::fs::remove_file(&path).expect("removes");
    assert!(matches!(copy.open(), Err(Error::DatabaseMissing(_))));
}

/// Numbers without a pattern that are the same in every run (xorshift64*).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let mixed = self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 16;
        usize::try_from(mixed).expect("64-bit") % bound
    }
}

#[test]
fn an_old_log_put_back_beside_the_database_is_found_or_harmless() {
    let home = Home::new();
    let vault = home.create(Level::Sealed);
    let id = save(&vault, "inbox", "the old words");
    copy_folder(&home.dir(), &home.path("older"));
    vault.update(id, "the new words", UNSCREENED).expect("updates");
    vault.close().expect("closes");
    assert!(!home.dir().join("vault.db-wal").exists(), "closing moved it into the database");
    for file in ["vault.db-wal", "vault.db-shm"] {
        std::fs::copy(home.path("older").join(file), home.dir().join(file)).expect("puts back");
    }
    match home.open() {
        Err(error) => assert_integrity(&error, "old log"),
        Ok(vault) => match vault.get(id) {
            Err(error) => assert_integrity(&error, "old log"),
            Ok(drawer) => assert_eq!(drawer.content, "the new words"),
        },
    }
}

#[test]
fn deleted_words_of_a_readable_vault_are_gone_from_its_database() {
    let home = Home::new();
    let vault = home.create(Level::HmacOnly);
    let gone = save(&vault, "inbox", "meet the zugzwang tomorrow");
    let changed = save(&vault, "inbox", "a syzygy over the house");
    save(&vault, "inbox", "kept words");
    vault.close().expect("closes");
    let vault = home.open().expect("opens");
    vault.delete(gone).expect("deletes");
    vault.update(changed, "nothing over the house", UNSCREENED).expect("updates");
    vault.close().expect("closes");
    for entry in std::fs::read_dir(home.dir()).expect("reads") {
        let path = entry.expect("reads").path();
        let bytes = std::fs::read(&path).expect("reads");
        for word in [&b"zugzwang"[..], b"syzygy"] {
            let holds = bytes.windows(word.len()).any(|window| window == word);
            assert!(!holds, "{} is in {}", String::from_utf8_lossy(word), path.display());
        }
    }
}

#[test]
fn garbage_anywhere_in_the_database_is_found_or_harmless() {
    let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15);
    for level in LEVELS {
        let scene = Scene::new(level);
        let genuine = std::fs::read(scene.home.dir().join("vault.db")).expect("reads");
        for round in 0..150 {
            let mut bytes = genuine.clone();
            let at = numbers.below(bytes.len());
            let length = [1, 2, 16, 512, 4_096][round % 5].min(bytes.len() - at);
            bytes[at..at + length].iter_mut().for_each(|byte| *byte = numbers.below(256) as u8);
            let copy = scene.copy();
            std::fs::write(copy.dir.join("vault.db"), &bytes).expect("writes");
            // Free space and the header's spare fields carry nothing: there nothing has to be found.
            copy.inspect(&format!("{level:?} {length} byte(s) at {at}"));
        }
    }
}

#[test]
fn an_index_that_leads_nowhere_is_an_integrity_error_for_the_read_and_found_by_verifying() {
    for index in ["audit_label", "drawers_rid", "drawers_written", "drawers_place", "drawers_fp"] {
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

#[test]
fn an_untouched_copy_raises_no_alarm() {
    for level in LEVELS {
        Scene::new(level).copy().assert_harmless("nothing");
    }
}
