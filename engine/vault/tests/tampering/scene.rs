//! A vault with some of everything, copies of it to tamper with, and an inspection that no altered word may pass.

use std::path::PathBuf;

use rusqlite::Connection;
use rusqlite::types::Value;
use undercroft_crypto::Level;
use undercroft_vault::{AddedBy, Change, DrawerId, Error, ErrorClass, SourceBatch, Vault};

use crate::support::{Home, UNSCREENED, ask, copy_folder, from_source, keyed, note, save};

pub(crate) const LEVELS: [Level; 2] = [Level::Sealed, Level::HmacOnly];

/// Every column of every table that is evidence or ledger.
pub(crate) const COLUMNS: [(&str, &[&str]); 6] = [
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
    ("outcomes", &["key", "request", "expires", "outcome", "tag"]),
];

/// A vault with some of everything, closed, and what it holds.
pub(crate) struct Scene {
    pub(crate) home: Home,
    pub(crate) kept: Vec<(DrawerId, &'static str)>,
    /// Destroyed before the vault was closed.
    pub(crate) gone: DrawerId,
}

pub(crate) const WORDS: [&str; 4] =
    ["alpha waters the garden", "beta pays the rent", "gamma feeds the cat", "delta flies"];

impl Scene {
    pub(crate) fn new(level: Level) -> Self {
        let home = Home::new();
        let vault = home.create(level);
        let mut kept = vec![(save(&vault, "inbox", WORDS[0]), WORDS[0])];
        let mut newer = note("inbox", WORDS[1]);
        newer.supersedes = Some(kept[0].0);
        kept.push((vault.save(newer, UNSCREENED).expect("saves").id, WORDS[1]));
        let batch = SourceBatch {
            source: "notes.md".into(),
            wing: "mined".into(),
            added_by: AddedBy::Miner,
            drawers: vec![from_source("notes.md", 0, WORDS[2])],
            total: Some(1),
            expects: None,
        };
        vault.file_source(batch, UNSCREENED).expect("files");
        kept.push((undercroft_vault::drawer_id("mined", "notes", Some("notes.md"), 0), WORDS[2]));
        let changed = save(&vault, "inbox", "before it was changed");
        vault.update(changed, WORDS[3], UNSCREENED).expect("updates");
        kept.push((changed, WORDS[3]));
        let gone = save(&vault, "inbox", "destroyed on purpose");
        vault.delete(gone).expect("deletes");
        for key in ["one", "two"] {
            // The words that are there already: all that stays is the outcome.
            let again = Change::Update { id: changed, text: WORDS[3].into() };
            vault.write_requests(vec![keyed(again, key, [3; 32])], UNSCREENED).expect("commits");
            home.clock.advance(1);
        }
        vault.close().expect("closes");
        Self { home, kept, gone }
    }

    /// The same scene in a folder of its own, with `tamper` done to its database.
    pub(crate) fn tampered(&self, tamper: impl FnOnce(&Connection)) -> Copy<'_> {
        let copy = self.copy();
        let conn = Connection::open(copy.dir.join("vault.db")).expect("opens the file");
        tamper(&conn);
        // Closing moves the log into the file.
        conn.close().expect("closes");
        copy
    }

    pub(crate) fn copy(&self) -> Copy<'_> {
        let folder = tempfile::TempDir::new().expect("a temporary folder");
        let dir = folder.path().join("v");
        copy_folder(&self.home.dir(), &dir);
        Copy { scene: self, dir, _folder: folder }
    }
}

pub(crate) struct Copy<'a> {
    pub(crate) scene: &'a Scene,
    pub(crate) dir: PathBuf,
    pub(crate) _folder: tempfile::TempDir,
}

/// How a change was noticed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Found {
    ByOpening,
    ByReading,
    ByVerifying,
    Not,
}

impl Copy<'_> {
    pub(crate) fn open(&self) -> undercroft_vault::Result<Vault> {
        Vault::open(&self.dir, &self.scene.home.master, self.scene.home.options.clone())
    }

    /// Opens, reads everything in every way, verifies. Panics when an altered word comes out or an alarm is of
    /// another class.
    pub(crate) fn inspect(&self, what: &str) -> Found {
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

    pub(crate) fn assert_found(&self, what: &str) -> Found {
        let found = self.inspect(what);
        assert_ne!(found, Found::Not, "{what} went unnoticed");
        found
    }

    pub(crate) fn assert_harmless(&self, what: &str) {
        assert_eq!(self.inspect(what), Found::Not, "{what}");
    }
}

pub(crate) fn assert_integrity(error: &Error, what: &str) {
    assert_eq!(error.class(), ErrorClass::Integrity, "{what}: {error}");
}

pub(crate) fn alarm(error: &Error, what: &str) -> Found {
    assert_integrity(error, what);
    Found::ByReading
}

pub(crate) fn rows(conn: &Connection, table: &str) -> Vec<Value> {
    let key = key_of(table);
    let mut statement = conn.prepare(&format!("SELECT {key} FROM {table} ORDER BY 1")).expect("compiles");
    statement.query_map([], |row| row.get(0)).expect("reads").map(|row| row.expect("reads")).collect()
}

pub(crate) fn key_of(table: &str) -> &'static str {
    match table {
        "drawers" => "seq",
        "audit" => "n",
        "meta" | "outcomes" => "key",
        "counters" => "name",
        _ => "id",
    }
}

pub(crate) fn cell(conn: &Connection, table: &str, column: &str, key: &Value) -> Value {
    let sql = format!("SELECT {column} FROM {table} WHERE {} = ?1", key_of(table));
    conn.query_row(&sql, [key], |row| row.get(0)).expect("reads")
}

pub(crate) fn set(
    conn: &Connection,
    table: &str,
    column: &str,
    key: &Value,
    value: &Value,
) -> rusqlite::Result<usize> {
    conn.execute(&format!("UPDATE {table} SET {column} = ?2 WHERE {} = ?1", key_of(table)), (key, value))
}

/// The value with one bit changed at the start, in the middle or at the end; a missing one appears.
pub(crate) fn flipped(value: &Value, place: usize) -> Value {
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
pub(crate) fn each_cell(scene: &Scene, mut test: impl FnMut(&'static str, &'static str, &Value)) {
    let conn = scene.home.sql();
    for (table, columns) in COLUMNS {
        for key in rows(&conn, table) {
            columns.iter().for_each(|column| test(table, column, &key));
        }
    }
}

pub(crate) fn put_back(home: &Home, sql: &str) {
    let older = home.path("older").join("vault.db");
    let conn = home.sql();
    conn.execute("ATTACH ?1 AS old", [older.to_str().expect("UTF-8")]).expect("attaches");
    conn.execute_batch(sql).expect("puts back");
    conn.execute_batch("DETACH old").expect("detaches");
}
