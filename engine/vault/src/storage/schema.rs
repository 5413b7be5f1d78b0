//! The schema of a vault. Three classes of table, and what each promises:
//!
//! - *evidence* (`drawers`, `audit`): tagged and audited; replicated as changesets.
//! - *ledger* (`meta`, `counters`, `chain`, `outcomes`): tagged, replicated, not audited.
//! - *derived* (`drawers_fts`, only in `hmac-only` vaults): local, rebuilt from evidence, never replicated.
//!
//! Every evidence and ledger table has an explicit primary key without NULLs, so that the session extension records
//! every row, and no AUTOINCREMENT, so that copies agree and no number is issued twice.

use rusqlite::Connection;
use rusqlite::config::DbConfig;
use undercroft_crypto::Level;

use crate::error::Result;

/// Version of this schema, kept in `PRAGMA user_version` and, tagged, in `meta`.
pub(crate) const SCHEMA_VERSION: u32 = 1;
/// Marks the file as a vault for tools such as file(1): "UCV1".
pub(crate) const APPLICATION_ID: i32 = 0x5543_5631;

/// Tables whose rows are evidence.
pub(crate) const EVIDENCE: [&str; 2] = ["drawers", "audit"];
/// Tables whose rows are ledgers.
pub(crate) const LEDGER: [&str; 4] = ["meta", "counters", "chain", "outcomes"];

const TABLES: &str = "
CREATE TABLE meta (
  key   TEXT NOT NULL PRIMARY KEY,
  value BLOB NOT NULL,
  tag   BLOB NOT NULL
) WITHOUT ROWID;
CREATE TABLE counters (
  name  TEXT NOT NULL PRIMARY KEY,
  value INTEGER NOT NULL,
  tag   BLOB NOT NULL
) WITHOUT ROWID;
CREATE TABLE chain (
  id     INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
  height INTEGER NOT NULL,
  head   BLOB NOT NULL,
  digest BLOB NOT NULL,
  tag    BLOB NOT NULL
);
CREATE TABLE outcomes (
  key     BLOB NOT NULL PRIMARY KEY,
  request BLOB NOT NULL,
  expires INTEGER NOT NULL,
  outcome BLOB NOT NULL,
  tag     BLOB NOT NULL
) WITHOUT ROWID;
CREATE TABLE audit (
  n     INTEGER NOT NULL PRIMARY KEY,
  label BLOB NOT NULL,
  tag   BLOB NOT NULL,
  at    INTEGER NOT NULL,
  shown BLOB NOT NULL
);
CREATE TABLE drawers (
  seq        INTEGER NOT NULL PRIMARY KEY,
  written    INTEGER NOT NULL,
  rid        BLOB NOT NULL,
  wing       BLOB NOT NULL,
  room       BLOB NOT NULL,
  source     BLOB,
  fp         BLOB NOT NULL,
  supersedes BLOB,
  meta       BLOB NOT NULL,
  content    BLOB NOT NULL,
  embedding  BLOB NOT NULL,
  tag        BLOB NOT NULL
);
";

/// Secondary indexes: name, uniqueness, what they cover. Derived like the full-text table, and rebuilt with it.
const INDEXES: [(&str, &str, &str); 8] = [
    ("audit_label", "", "audit (label)"),
    ("drawers_rid", "UNIQUE", "drawers (rid)"),
    ("drawers_written", "UNIQUE", "drawers (written)"),
    ("drawers_place", "", "drawers (wing, room)"),
    ("drawers_source", "", "drawers (source) WHERE source IS NOT NULL"),
    ("drawers_fp", "", "drawers (fp)"),
    ("drawers_supersedes", "", "drawers (supersedes) WHERE supersedes IS NOT NULL"),
    ("outcomes_expires", "", "outcomes (expires)"),
];

/// Full-text table of `hmac-only` vaults: contentless, one row a drawer under its `seq`, holding the folded text, of
/// which nothing stays once it is removed.
const FULL_TEXT: &str = "
CREATE VIRTUAL TABLE drawers_fts USING fts5 (text, content = '', tokenize = 'unicode61');
INSERT INTO drawers_fts (drawers_fts, rank) VALUES ('secure-delete', 1);
";

/// Creates the schema in an empty database.
pub(crate) fn create(conn: &Connection, level: Level) -> Result<()> {
    conn.execute_batch(TABLES)?;
    rederive(conn, level)?;
    conn.pragma_update(None, "application_id", APPLICATION_ID)?;
    conn.pragma_update(None, "user_version", SCHEMA_VERSION)?;
    Ok(())
}

/// Makes indexes and full-text table anew inside the caller's transaction; the full-text table is empty then.
pub(crate) fn rederive(conn: &Connection, level: Level) -> Result<()> {
    for (name, unique, covers) in INDEXES {
        conn.execute_batch(&format!(
            "DROP INDEX IF EXISTS {name}; CREATE {unique} INDEX {name} ON {covers};"
        ))?;
    }
    if level == Level::HmacOnly {
        drop_full_text(conn)?;
        conn.execute_batch(FULL_TEXT)?;
    }
    Ok(())
}

/// The full-text table lies in tables of its own. SQLite drops none of them while one is missing that it reads first, so
/// these are made again where they are gone.
fn drop_full_text(conn: &Connection) -> Result<()> {
    const DROP: &str = "DROP TABLE IF EXISTS drawers_fts;";
    if conn.execute_batch(DROP).is_ok() {
        return Ok(());
    }
    // Such tables are not made or written by hand as long as this is on.
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, false)?;
    let dropped = conn.execute_batch(&format!(
        "CREATE TABLE IF NOT EXISTS drawers_fts_data (id INTEGER PRIMARY KEY, block BLOB);
         CREATE TABLE IF NOT EXISTS drawers_fts_config (k PRIMARY KEY, v) WITHOUT ROWID;
         INSERT OR REPLACE INTO drawers_fts_config (k, v) VALUES ('version', 4);
         {DROP}"
    ));
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    Ok(dropped?)
}

/// What does not belong to the schema of this format.
#[derive(Debug, Default)]
pub(crate) struct Foreign {
    /// Triggers, views and indexes that were removed: they hold nothing of their own.
    pub(crate) removed: Vec<String>,
    /// Tables, which hold what somebody put there, and stay.
    pub(crate) tables: Vec<String>,
}

/// Removes foreign triggers, views and indexes inside the caller's transaction, and names foreign tables.
pub(crate) fn remove_foreign(conn: &Connection, level: Level) -> Result<Foreign> {
    let fresh = Connection::open_in_memory()?;
    create(&fresh, level)?;
    let own = objects(&fresh)?;
    let mut foreign = Foreign::default();
    for (kind, name) in objects(conn)? {
        if own.contains(&(kind.clone(), name.clone())) {
            continue;
        }
        if kind == "table" {
            foreign.tables.push(name);
            continue;
        }
        // One may have gone with another, as a trigger with its view.
        conn.execute_batch(&format!("DROP {kind} IF EXISTS \"{}\"", name.replace('"', "\"\"")))?;
        foreign.removed.push(format!("{kind} {name}"));
    }
    Ok(foreign)
}

/// Kind and name of everything with a text of its own; the indexes that SQLite makes for keys have none.
fn objects(conn: &Connection) -> Result<Vec<(String, String)>> {
    let mut statement =
        conn.prepare("SELECT type, name FROM sqlite_master WHERE sql IS NOT NULL ORDER BY 1, 2")?;
    Ok(statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect::<Result<_, _>>()?)
}

/// Version found in the database file.
pub(crate) fn version(conn: &Connection) -> Result<u32> {
    Ok(conn.query_row("PRAGMA user_version", [], |row| row.get(0))?)
}

/// The mark in the file's header that says what kind of file it is.
pub(crate) fn application_id(conn: &Connection) -> Result<i32> {
    Ok(conn.query_row("PRAGMA application_id", [], |row| row.get(0))?)
}

/// Names and text of everything that the schema holds, sorted: two vaults of one level have the same.
/// A trigger, a view or an altered table shows up as a difference.
pub(crate) fn describe(conn: &Connection) -> Result<Vec<String>> {
    let mut statement =
        conn.prepare("SELECT type || ' ' || name || ': ' || coalesce(sql, '') FROM sqlite_master")?;
    let mut rows = statement.query_map([], |row| row.get::<_, String>(0))?.collect::<Result<Vec<_>, _>>()?;
    rows.sort();
    Ok(rows)
}
