//! What a transaction changed in evidence and ledgers makes an equal copy elsewhere, wholly or not at all.

use std::path::Path;
use std::sync::Arc;

use rusqlite::Connection;
use rusqlite::types::Value;
use tempfile::TempDir;
use undercroft_crypto::{Level, MasterKey, SeededEntropy};

use super::changeset::{Recorder, apply};
use super::schema::{EVIDENCE, LEDGER};
use crate::drawers::{AddedBy, DrawerId, NewDrawer};
use crate::error::ErrorClass;
use crate::vault::{BypassReason, Change, Idempotency, Outcome, Screening, Vault, WriteRequest};
use crate::{ManualClock, VaultOptions, audit, limits};

const UNSCREENED: Screening = Screening::Bypass(BypassReason::NotDeclared);

struct Pair {
    folder: TempDir,
    vault: Vault,
}

impl Pair {
    fn new(level: Level) -> Self {
        Self::with(level, VaultOptions::default())
    }

    fn with(level: Level, options: VaultOptions) -> Self {
        let folder = TempDir::new().expect("a temporary folder");
        let master = MasterKey::generate(&SeededEntropy::new(7));
        let vault = Vault::create(&folder.path().join("v"), "v", level, &master, options).expect("creates");
        Self { folder, vault }
    }

    /// A copy of the database as it is now.
    fn copy(&self, name: &str) -> Connection {
        let target = self.folder.path().join(name);
        let conn = Connection::open(self.database()).expect("opens");
        conn.execute("VACUUM INTO ?1", [target.to_str().expect("UTF-8")]).expect("copies");
        Connection::open(target).expect("opens the copy")
    }

    fn database(&self) -> std::path::PathBuf {
        self.vault.dir().join("vault.db")
    }

    fn write(&self, changes: Vec<Change>) -> (Vec<Outcome>, Vec<u8>) {
        let (done, changeset) =
            self.vault.write_recorded(requests(changes), UNSCREENED, true).expect("commits");
        (
            done.into_iter().map(|done| done.expect("lands").outcome).collect(),
            changeset.expect("was asked for"),
        )
    }

    fn save(&self, text: &str) -> (DrawerId, Vec<u8>) {
        let (outcomes, changeset) = self.write(vec![save(text)]);
        match outcomes.as_slice() {
            [Outcome::Saved(saved)] => (saved.id, changeset),
            other => panic!("unexpected {other:?}"),
        }
    }

    fn assert_equal(&self, copy: &Connection) {
        assert_eq!(dump(&open(&self.database())), dump(copy));
        let state = |conn: &Connection| audit::state::load(conn, self.vault.keyring()).expect("verifies");
        assert_eq!(state(&open(&self.database())), state(copy));
    }
}

fn open(path: &Path) -> Connection {
    Connection::open(path).expect("opens")
}

fn requests(changes: Vec<Change>) -> Vec<WriteRequest> {
    changes.into_iter().map(Into::into).collect()
}

fn save(text: &str) -> Change {
    Change::Save(NewDrawer::direct("work", "inbox", text, AddedBy::Cli))
}

/// Every column of every row of the replicated tables.
fn dump(conn: &Connection) -> Vec<(String, Vec<Vec<Value>>)> {
    let table = |name: &str| {
        let mut statement = conn.prepare(&format!("SELECT * FROM {name} ORDER BY 1")).expect("compiles");
        let columns = statement.column_count();
        let rows = statement
            .query_map([], |row| (0..columns).map(|at| row.get(at)).collect::<Result<Vec<Value>, _>>())
            .expect("reads")
            .collect::<Result<Vec<_>, _>>()
            .expect("reads");
        (name.to_owned(), rows)
    };
    EVIDENCE.into_iter().chain(LEDGER).map(table).collect()
}

#[test]
fn saves_updates_and_deletions_applied_on_a_copy_give_identical_tables_and_chain() {
    for level in [Level::Sealed, Level::HmacOnly] {
        let pair = Pair::new(level);
        let copy = pair.copy("copy.db");
        let (one, first) = pair.save("first words");
        let (two, second) = pair.save("second words");
        let (_, third) = pair.write(vec![Change::Update { id: one, text: "other words".into() }]);
        let (_, fourth) = pair.write(vec![Change::Delete(two), save("a third text"), Change::Dedup]);
        for changeset in [first, second, third, fourth] {
            assert!(!changeset.is_empty());
            apply(&copy, &changeset).expect("applies");
        }
        pair.assert_equal(&copy);
    }
}

#[test]
fn a_refused_item_leaves_no_trace_in_the_changeset() {
    let pair = Pair::new(Level::Sealed);
    let copy = pair.copy("copy.db");
    let absent = crate::drawer_id("no", "such", None, 0);
    let mut linked = NewDrawer::direct("work", "inbox", "names what is not there", AddedBy::Cli);
    linked.supersedes = Some(absent);
    let changes = vec![save("before"), Change::Save(linked), Change::Delete(absent), save("after")];
    let (outcomes, changeset) =
        pair.vault.write_recorded(requests(changes), UNSCREENED, true).expect("commits");
    assert_eq!(outcomes.iter().map(Result::is_ok).collect::<Vec<_>>(), [true, false, false, true]);
    apply(&copy, &changeset.expect("was asked for")).expect("applies");
    pair.assert_equal(&copy);
}

#[test]
fn a_write_that_changes_nothing_has_an_empty_changeset() {
    let pair = Pair::new(Level::Sealed);
    let (id, _) = pair.save("same");
    let (_, changeset) = pair.write(vec![Change::Update { id, text: "same".into() }]);
    assert!(changeset.is_empty());
    let copy = pair.copy("copy.db");
    apply(&copy, &changeset).expect("applies");
    pair.assert_equal(&copy);
}

#[test]
fn what_is_remembered_of_a_keyed_request_travels_with_what_it_did_and_so_does_its_end() {
    let clock = Arc::new(ManualClock::new(1_767_225_600_000_000));
    let pair = Pair::with(Level::Sealed, VaultOptions { clock: clock.clone(), ..VaultOptions::default() });
    let copy = pair.copy("copy.db");
    let keyed = || WriteRequest {
        change: save("once"),
        idempotency: Some(Idempotency::new("POST /drawers", "key", [1; 32]).expect("a key")),
    };
    let mut changesets = Vec::new();
    let mut write = |requests| {
        let (_, changeset) = pair.vault.write_recorded(requests, UNSCREENED, true).expect("commits");
        changesets.push(changeset.expect("was asked for"));
    };
    write(vec![keyed()]);
    write(vec![keyed()]);
    clock.advance(limits::IDEMPOTENCY_MICROS);
    write(vec![save("another").into()]);
    assert!(changesets[1].is_empty(), "a replay writes nothing");
    let remembered = |conn: &Connection| {
        conn.query_row("SELECT count(*) FROM outcomes", [], |row| row.get::<_, i64>(0)).expect("counts")
    };
    apply(&copy, &changesets[0]).expect("applies");
    assert_eq!(remembered(&copy), 1);
    apply(&copy, &changesets[2]).expect("applies");
    assert_eq!(remembered(&copy), 0);
    pair.assert_equal(&copy);
}

#[test]
fn on_a_wrong_base_nothing_is_changed() {
    let pair = Pair::new(Level::Sealed);
    let early = pair.copy("early.db");
    let (id, first) = pair.save("first");
    let (_, second) = pair.write(vec![Change::Update { id, text: "second".into() }]);
    let (_, third) = pair.write(vec![Change::Delete(id)]);
    for (what, changeset) in [("update", &second), ("delete", &third)] {
        let before = dump(&early);
        apply(&early, changeset).expect_err(what);
        assert_eq!(dump(&early), before, "{what} without its base");
    }
    apply(&early, &first).expect("applies");
    let before = dump(&early);
    apply(&early, &first).expect_err("the same insert twice");
    apply(&early, &third).expect_err("out of turn");
    assert_eq!(dump(&early), before);
}

#[test]
fn on_another_history_nothing_is_changed() {
    let (pair, other) = (Pair::new(Level::Sealed), Pair::new(Level::Sealed));
    let copy = other.copy("copy.db");
    let before = dump(&copy);
    let (_, changeset) = pair.save("of this vault");
    apply(&copy, &changeset).expect_err("refuses");
    assert_eq!(dump(&copy), before);
}

#[test]
fn derived_tables_are_not_in_it() {
    let pair = Pair::new(Level::HmacOnly);
    let (_, changeset) = pair.save("recognisable");
    let holds = |word: &[u8]| changeset.windows(word.len()).any(|window| window == word);
    assert!(holds(b"drawers") && !holds(b"drawers_fts"), "only evidence and ledgers are named");
}

#[test]
fn a_foreign_table_is_refused_and_undoes_the_rest() {
    let pair = Pair::new(Level::Sealed);
    let source = pair.copy("source.db");
    let target = pair.copy("target.db");
    let foreign = "CREATE TABLE stray (id INTEGER NOT NULL PRIMARY KEY, word TEXT)";
    source.execute_batch(foreign).expect("creates");
    target.execute_batch(foreign).expect("creates");
    let session = super::session::Session::start(&source, &["counters", "stray"]).expect("starts");
    source.execute_batch("UPDATE counters SET value = 9; INSERT INTO stray VALUES (1, 'x')").expect("writes");
    let changeset = session.changeset().expect("takes");
    let before = dump(&target);
    let error = apply(&target, &changeset).expect_err("refuses");
    assert_eq!(error.class(), ErrorClass::Integrity);
    assert_eq!(dump(&target), before, "the listed table was undone with it");
    let strays: i64 = target.query_row("SELECT count(*) FROM stray", [], |r| r.get(0)).expect("counts");
    assert_eq!(strays, 0);
}

#[test]
fn garbage_is_refused() {
    let pair = Pair::new(Level::Sealed);
    let copy = pair.copy("copy.db");
    let (_, changeset) = pair.save("words that are cut");
    let before = dump(&copy);
    for cut in [1, changeset.len() / 2, changeset.len() - 1] {
        apply(&copy, &changeset[..cut]).expect_err("refuses");
        assert_eq!(dump(&copy), before, "cut at {cut}");
    }
    apply(&copy, &[0xff; 64]).expect_err("refuses");
    assert_eq!(dump(&copy), before);
}

#[test]
fn a_recorder_sees_updates_and_deletions() {
    let pair = Pair::new(Level::Sealed);
    pair.save("kept");
    let (source, copy) = (pair.copy("source.db"), pair.copy("copy.db"));
    let recorder = Recorder::start(&source).expect("starts");
    source.execute_batch("UPDATE drawers SET written = 77; DELETE FROM audit").expect("writes");
    apply(&copy, &recorder.take().expect("takes")).expect("applies");
    assert_eq!(dump(&source), dump(&copy));
}
