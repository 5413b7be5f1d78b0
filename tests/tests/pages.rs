//! `docs/formats/vault.md` and a vault that was just made say the same.

use std::path::Path;

use rusqlite::{Connection, OpenFlags};
use undercroft_crypto::{Level, MasterKey, OsEntropy};
use undercroft_tests::support::{Palace, files};
use undercroft_tests::{page, tree};
use undercroft_vault::{AddedBy, BypassReason, NewDrawer, Screening, Vault, VaultOptions, drawer_id};

const TABLES: [&str; 6] = ["meta", "counters", "chain", "outcomes", "audit", "drawers"];

fn the_page() -> String {
    tree::read("docs/formats/vault.md")
}

/// A vault with one drawer in it, closed, and a connection to its database.
fn a_vault(dir: &Path, level: Level) -> Connection {
    let folder = dir.join("v");
    let master = MasterKey::generate(&OsEntropy);
    let vault = Vault::create(&folder, "v", level, &master, VaultOptions::default()).expect("a vault");
    let drawer = NewDrawer::direct("wing", "room", "words", AddedBy::Cli);
    vault.save(drawer, Screening::Bypass(BypassReason::NotDeclared)).expect("a drawer");
    vault.close().expect("closed");
    Connection::open_with_flags(folder.join("vault.db"), OpenFlags::SQLITE_OPEN_READ_ONLY)
        .expect("its database")
}

/// Name, type, whether it is the key, whether it may be NULL: as the page writes them.
fn columns(conn: &Connection, table: &str) -> Vec<[String; 4]> {
    let mut statement =
        conn.prepare("SELECT name, type, pk, \"notnull\" FROM pragma_table_info(?1)").expect("a statement");
    let yes_or_no = |yes: bool| if yes { "yes".to_owned() } else { "no".to_owned() };
    let rows = statement.query_map([table], |row| {
        let (key, filled): (i64, bool) = (row.get(2)?, row.get(3)?);
        Ok([row.get(0)?, row.get(1)?, yes_or_no(key > 0), yes_or_no(!filled)])
    });
    rows.expect("columns").map(|row| row.expect("a column")).collect()
}

fn first_cells(table: &str) -> Vec<String> {
    page::table(&the_page(), table).into_iter().map(|mut row| row.swap_remove(0)).collect()
}

#[test]
fn the_page_gives_every_column_of_every_table() {
    let dir = tempfile::tempdir().expect("a folder");
    let conn = a_vault(dir.path(), Level::Sealed);
    for table in TABLES {
        let written: Vec<[String; 4]> = page::table(&the_page(), &format!("{table} column"))
            .into_iter()
            .map(|row| [row[0].clone(), row[1].clone(), row[2].clone(), row[3].clone()])
            .collect();
        assert_eq!(written, columns(&conn, table), "table {table}");
    }
}

#[test]
fn the_page_knows_every_table_of_both_levels() {
    let dir = tempfile::tempdir().expect("a folder");
    let sealed = tables(&a_vault(dir.path(), Level::Sealed));
    assert_eq!(first_cells("table"), TABLES);
    assert_eq!(sealed, sorted(&TABLES));
    let open = tempfile::tempdir().expect("a folder");
    let derived = first_cells("derived table");
    let shown: Vec<String> = tables(&a_vault(open.path(), Level::HmacOnly))
        .into_iter()
        // FTS5 keeps its own tables under the name of the one that was asked for.
        .filter(|name| !derived.iter().any(|known| name.starts_with(&format!("{known}_"))))
        .collect();
    let expected: Vec<&str> = TABLES.into_iter().chain(derived.iter().map(String::as_str)).collect();
    assert_eq!(shown, sorted(&expected));
}

fn tables(conn: &Connection) -> Vec<String> {
    let sql = "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name";
    let mut statement = conn.prepare(sql).expect("a statement");
    let names = statement.query_map([], |row| row.get(0)).expect("names");
    names.map(|name| name.expect("a name")).collect()
}

fn sorted(names: &[&str]) -> Vec<String> {
    let mut names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    names.sort();
    names
}

#[test]
fn the_page_knows_every_secondary_index() {
    let dir = tempfile::tempdir().expect("a folder");
    let conn = a_vault(dir.path(), Level::Sealed);
    let sql = "SELECT name, tbl_name, sql LIKE 'CREATE UNIQUE%' FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL
               ORDER BY name";
    let mut statement = conn.prepare(sql).expect("a statement");
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).expect("rows");
    let made: Vec<(String, String, bool)> = rows.map(|row| row.expect("a row")).collect();
    let written: Vec<(String, String, bool)> = page::table(&the_page(), "index")
        .into_iter()
        .map(|row| (row[0].clone(), row[1].split(' ').next().unwrap_or_default().to_owned(), row[2] == "yes"))
        .collect();
    assert_eq!(written, made);
}

#[test]
fn the_page_knows_every_file_of_a_vault() {
    let palace = Palace::new();
    let many: String =
        (0..400).map(|n| format!("Paragraph {n}. {}\n\n", "Words follow words. ".repeat(38))).collect();
    let file = palace.file("many.md", many);
    let _ = palace.run(&["mine", file.to_str().expect("a path")]).ok();
    assert!(!palace.found("paragraph").is_empty());
    let listed = first_cells("file");
    for file in files(&palace.vault()) {
        let name = file.file_name().expect("a name").to_string_lossy().into_owned();
        let known = listed.contains(&name) || name == "vault.db-wal" || name == "vault.db-shm";
        assert!(known, "the page does not know {name}");
    }
    assert!(palace.vault().join("index.img").exists());
}

#[test]
fn the_page_knows_everything_in_a_palace() {
    let with_file = Palace::new();
    let with_passphrase = Palace::empty().with("UNDERCROFT_PASSPHRASE", "a passphrase");
    let _ = with_passphrase.run(&["init"]).ok();
    let listed = first_cells("in the data folder");
    for palace in [with_file, with_passphrase] {
        let _ = palace.run(&["backup", "create"]).ok();
        for entry in std::fs::read_dir(palace.root()).expect("a folder") {
            let name = entry.expect("an entry").file_name().to_string_lossy().into_owned();
            assert!(listed.contains(&name), "the page does not know {name}");
        }
    }
}

#[test]
fn the_page_gives_the_numbers_in_the_database_header() {
    let dir = tempfile::tempdir().expect("a folder");
    let conn = a_vault(dir.path(), Level::Sealed);
    for row in page::table(&the_page(), "setting") {
        // What a connection decides for itself is not in the file.
        if row[0] == "secure_delete" {
            continue;
        }
        let value: rusqlite::types::Value =
            conn.query_row(&format!("PRAGMA {}", row[0]), [], |found| found.get(0)).expect("a pragma");
        let value = match value {
            rusqlite::types::Value::Text(text) => text,
            rusqlite::types::Value::Integer(number) => number.to_string(),
            other => panic!("{}: {other:?}", row[0]),
        };
        assert_eq!(value, row[1], "{}", row[0]);
    }
}

#[test]
fn the_page_names_every_setting_and_counter_of_a_vault() {
    let dir = tempfile::tempdir().expect("a folder");
    let conn = a_vault(dir.path(), Level::Sealed);
    let stored = |sql: &str| -> Vec<String> {
        let mut statement = conn.prepare(sql).expect("a statement");
        let rows = statement.query_map([], |row| row.get(0)).expect("rows");
        rows.map(|row| row.expect("a row")).collect()
    };
    assert_eq!(first_cells("setting of the vault"), stored("SELECT key FROM meta ORDER BY key"));
    assert_eq!(first_cells("counter"), stored("SELECT name FROM counters ORDER BY name"));
}

#[test]
fn the_page_lists_the_fields_of_the_metadata_record() {
    let dir = tempfile::tempdir().expect("a folder");
    let conn = a_vault(dir.path(), Level::HmacOnly);
    let stored: Vec<u8> = conn.query_row("SELECT meta FROM drawers", [], |row| row.get(0)).expect("a row");
    let record: serde_json::Value = serde_json::from_slice(&stored).expect("JSON");
    let meta = record["meta"].clone();
    for (table, stored) in [("record field", record), ("metadata field", meta)] {
        let stored = stored.as_object().expect("an object");
        let rows = page::table(&the_page(), table);
        for row in rows.iter().filter(|row| row[1] == "always") {
            assert!(stored.contains_key(&row[0]), "a drawer has no {}", row[0]);
        }
        for field in stored.keys() {
            assert!(rows.iter().any(|row| row[0] == *field), "the page does not know {field}");
        }
    }
}

#[test]
fn the_page_s_ids_follow_the_recipe() {
    for row in page::table(&the_page(), "wing") {
        let source = (row[2] != "(direct)").then_some(row[2].as_str());
        let chunk = row[3].parse().expect("a number");
        assert_eq!(drawer_id(&row[0], &row[1], source, chunk).to_string(), row[4], "{row:?}");
    }
}

#[test]
fn every_decision_is_numbered_once_and_has_its_three_parts() {
    let decisions: Vec<_> =
        tree::sources(&[".md"]).into_iter().filter(|file| file.path.starts_with("docs/decisions/")).collect();
    assert!(!decisions.is_empty());
    for (number, file) in (1..).zip(&decisions) {
        let name = file.path.rsplit('/').next().expect("a name");
        assert!(name.starts_with(&format!("{number:04}-")), "{}: number {number} comes next", file.path);
        assert!(
            file.text.starts_with(&format!("# {number}. ")),
            "{}: its title has another number",
            file.path
        );
        for part in ["## Context", "## Decision", "## Consequences"] {
            assert!(file.text.contains(part), "{} has no {part}", file.path);
        }
    }
}
