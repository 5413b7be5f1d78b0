//! Files that were lost, exchanged, or replaced by something that is no file: each is told in one line that says what to do,
//! nothing waits, and nothing is made over what is there.

use std::fs;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use undercroft_tests::support::{Palace, Ran, contents};

fn backup(palace: &Palace) -> String {
    let made = palace.json(&["backup", "create"]);
    let path = made["path"].as_str().expect("a path");
    path.rsplit('/').next().expect("a name").to_owned()
}

fn remove(path: &Path) {
    match fs::symlink_metadata(path) {
        Ok(found) if found.is_dir() => fs::remove_dir_all(path).expect("removed"),
        Ok(_) => fs::remove_file(path).expect("removed"),
        Err(_) => {}
    }
}

/// Runs a command that must end by itself.
fn ends(palace: &Palace, arguments: &[&str]) -> Ran {
    let child = palace.command(arguments).spawn().expect("started");
    let id = child.id().to_string();
    let (told, ended) = std::sync::mpsc::channel();
    std::thread::spawn(move || told.send(child.wait_with_output()));
    let Ok(output) = ended.recv_timeout(Duration::from_secs(60)) else {
        let _ = Command::new("kill").arg(id).status();
        panic!("it waits: {arguments:?}");
    };
    Ran::new(arguments.join(" "), output.expect("its output"))
}

const NAMING: [&[&str]; 9] = [
    &["verify"],
    &["search", "words"],
    &["remember", "more words"],
    &["stats"],
    &["repair"],
    &["backup", "create"],
    &["vault", "status", "default"],
    &["vault", "anchor", "default"],
    &["vault", "delete", "default", "--yes"],
];

/// What is done to a file.
type Damage = fn(&Path);

#[test]
fn a_lost_manifest_is_a_verdict_that_names_the_remedy() {
    let palace = Palace::new();
    let id = palace.remember("words");
    let name = backup(&palace);
    let later = palace.remember("words after the backup");
    let manifest = palace.vault().join("vault.json");
    fs::remove_file(&manifest).expect("lost");
    for command in NAMING {
        palace.run(command).refuses(2, "backup restore NAME --force");
    }
    palace.run(&["init"]).refuses(2, "no manifest");
    palace.run(&["vault", "create", "default"]).refuses(2, "no manifest");
    let listed = palace.run(&["vault", "list"]).exits(2);
    assert!(listed.stdout.contains("default ") && listed.stdout.contains("cannot be opened"), "{listed}");
    let _ = palace.run(&["vault", "create", "other"]).ok();
    // A backup's manifest is an earlier one of the same vault: nothing is lost with it.
    fs::copy(palace.root().join("backups").join(&name).join("vault.json"), &manifest).expect("put back");
    assert_eq!(palace.words(&later), "words after the backup");
    palace.verifies();
    fs::remove_file(&manifest).expect("lost");
    palace.run(&["backup", "restore", &name]).refuses(1, "--force");
    let _ = palace.run(&["backup", "restore", &name, "--force"]).ok();
    assert_eq!(palace.words(&id), "words");
    palace.verifies();
}

#[test]
fn a_backup_without_its_manifest_is_listed_and_not_restored() {
    let palace = Palace::new();
    let name = backup(&palace);
    fs::remove_file(palace.root().join("backups").join(&name).join("vault.json")).expect("lost");
    let _ = palace.run(&["backup", "list"]).ok().says(&name);
    palace.run(&["backup", "restore", &name, "--force"]).refuses(2, "has no manifest");
}

#[test]
fn what_lies_where_a_vault_is_to_be_made_is_named() {
    let palace = Palace::new();
    let place = palace.root().join("vaults/work");
    let cases: [(&str, Damage); 4] = [
        ("is a file", |place| fs::write(place, "x").expect("a file")),
        ("is an empty folder", |place| fs::create_dir(place).expect("a folder")),
        ("is a folder that holds no vault", |place| fs::create_dir_all(place.join("x")).expect("a folder")),
        ("is a link that leads nowhere", |place| {
            std::os::unix::fs::symlink("nowhere", place).expect("a link");
        }),
    ];
    for (what, put) in cases {
        put(&place);
        palace.run(&["vault", "create", "work"]).refuses(1, what);
        palace.run(&["vault", "create", "work"]).refuses(1, "move it away");
        palace.run(&["stats", "--vault", "work"]).refuses(1, "no vault 'work'");
        remove(&place);
    }
    let _ = palace.run(&["vault", "create", "work"]).ok();
    palace.run(&["vault", "create", "work"]).refuses(1, "already exists");
}

#[test]
fn an_initialisation_with_another_key_is_refused() {
    let palace = Palace::empty().with("UNDERCROFT_PASSPHRASE", "the right one");
    let _ = palace.run(&["init"]).ok();
    let before = contents(&palace.root());
    let palace = palace.with("UNDERCROFT_PASSPHRASE", "another one");
    palace.run(&["init"]).refuses(2, "master key opens none");
    assert_eq!(contents(&palace.root()), before);
    let palace = palace.with("UNDERCROFT_PASSPHRASE", "the right one");
    let _ = palace.run(&["init"]).ok().says("already initialized");
}

#[test]
fn what_is_no_regular_file_is_named_and_not_waited_for() {
    let palace = Palace::new();
    let _ = palace.remember("words");
    let name = backup(&palace);
    let (root, vault) = (palace.root(), palace.vault());
    let copy = root.join("backups").join(&name);
    let verify: &[&str] = &["verify"];
    let restore: &[&str] = &["backup", "restore", &name, "--force"];
    let cases = [
        (root.join("master.key"), verify),
        (root.join("identity.txt"), &["wake-up"]),
        (root.join("names.lock"), &["vault", "create", "other"]),
        (root.join("staging.lock"), &["backup", "create"]),
        (vault.join("use.lock"), verify),
        (vault.join("writers.lock"), verify),
        (vault.join("vault.db"), verify),
        (vault.join("vault.json"), verify),
        (vault.join("vault.db-wal"), verify),
        (vault.join("vault.db-shm"), verify),
        (copy.join("vault.db"), restore),
        (copy.join("vault.json"), restore),
    ];
    let kept = palace.outside().join("kept");
    for (path, command) in &cases {
        let was_there = fs::rename(path, &kept).is_ok();
        for what in ["a named pipe", "a folder", "a socket"] {
            let _socket = match what {
                "a folder" => fs::create_dir(path).map(|()| None),
                "a socket" => UnixListener::bind(path).map(Some),
                _ => Command::new("mkfifo").arg(path).stdin(Stdio::null()).status().map(|_| None),
            };
            let ran = ends(&palace, command).exits(2);
            let named = ran.stderr.contains(what) || ran.stderr.contains("has no manifest");
            assert!(named && !ran.stderr.contains("os error"), "{}: {what}\n{ran}", path.display());
            remove(path);
        }
        if was_there {
            fs::rename(&kept, path).expect("put back");
        }
    }
    // The manifest follows what is kept already: it is told, and fails nothing.
    let lock = vault.join("anchor.lock");
    fs::remove_file(&lock).expect("removed");
    assert!(Command::new("mkfifo").arg(&lock).status().expect("mkfifo").success());
    let ran = ends(&palace, &["remember", "more"]).ok();
    assert!(ran.stderr.contains("a named pipe") && ran.stderr.contains("is kept"), "{ran}");
    fs::remove_file(&lock).expect("removed");
    palace.verifies();
}

#[test]
fn a_pipe_for_an_index_image_is_replaced_and_a_folder_named() {
    let palace = Palace::new();
    let _ = palace.remember("words");
    let image = palace.vault().join("index.img");
    assert!(Command::new("mkfifo").arg(&image).status().expect("mkfifo").success());
    assert_eq!(ends(&palace, &["search", "words", "--json"]).ok().json()["hits"][0]["content"], "words");
    assert!(fs::symlink_metadata(&image).expect("an image").is_file());
    fs::remove_file(&image).expect("removed");
    fs::create_dir(&image).expect("a folder");
    palace.run(&["repair"]).refuses(2, "a folder where a regular file belongs");
    fs::remove_dir(&image).expect("moved away");
    let _ = palace.run(&["repair"]).ok();
}

#[test]
fn another_file_for_the_database_is_told_in_one_line() {
    let palace = Palace::new();
    let _ = palace.remember("words");
    let database = palace.vault().join("vault.db");
    let genuine = fs::read(&database).expect("read");
    let foreign = |sql: &str| {
        let path = palace.outside().join("foreign.db");
        remove(&path);
        let conn = rusqlite::Connection::open(&path).expect("a database");
        conn.execute_batch(sql).expect("made");
        conn.close().expect("closed");
        fs::read(path).expect("read")
    };
    let marked = "PRAGMA application_id = 0x55435631; PRAGMA user_version = 1;";
    let cases = [
        ("is empty", Vec::new()),
        ("is not a database", b"just a text, and nothing else in it".to_vec()),
        ("is not a database", (0..8_192_u32).map(|n| ((n * 7_919) >> 3) as u8).collect()),
        ("another program's database", foreign("CREATE TABLE notes (x)")),
        ("another program's database", foreign("PRAGMA journal_mode = WAL; VACUUM")),
        ("not as this program writes it", foreign(&format!("{marked} CREATE TABLE notes (x)"))),
        ("not as this program writes it", foreign(&format!("PRAGMA journal_mode = WAL; {marked}"))),
        ("not as this program writes it", genuine[..genuine.len() / 2].to_vec()),
    ];
    for (what, bytes) in cases {
        fs::write(&database, &bytes).expect("exchanged");
        for command in [&["verify"][..], &["search", "words"], &["remember", "x"], &["repair"], &["stats"]] {
            let ran = palace.run(command).exits(2);
            assert!(ran.stderr.contains(what) && ran.stderr.contains("backup restore"), "{what}\n{ran}");
            let raw = ["SELECT", "caused by", "offset"].iter().any(|word| ran.stderr.contains(word));
            assert!(!raw && ran.stderr.lines().count() == 1, "{what}\n{ran}");
        }
        if what.starts_with("another") {
            assert_eq!(fs::read(&database).expect("read"), bytes, "another's database was changed");
        }
        for beside in ["vault.db-wal", "vault.db-shm"] {
            remove(&palace.vault().join(beside));
        }
    }
    fs::write(&database, genuine).expect("put back");
    palace.verifies();
}

#[test]
fn a_full_text_table_that_is_gone_is_a_verdict_and_a_repair_heals_it() {
    for part in ["", "_data", "_idx", "_docsize", "_config"] {
        let palace = Palace::empty();
        let _ = palace.run(&["init", "--level", "hmac-only"]).ok();
        let id = palace.remember("words");
        let conn = rusqlite::Connection::open(palace.vault().join("vault.db")).expect("the database");
        conn.execute_batch(&format!("DROP TABLE drawers_fts{part}")).expect(part);
        drop(conn);
        palace.run(&["remember", "more"]).refuses(2, "repair");
        let _ = palace.run(&["verify"]).exits(2);
        assert_eq!(palace.found("words"), ["words"], "{part}: search does not read that table");
        let _ = palace.run(&["repair"]).ok().says("integrity: ok");
        palace.verifies();
        let _ = palace.remember("more");
        assert_eq!(palace.words(&id), "words");
    }
}

#[test]
fn a_repair_removes_what_was_added_to_the_schema_and_names_a_table() {
    let palace = Palace::new();
    let _ = palace.remember("words");
    let sql = |sql: &str| {
        let conn = rusqlite::Connection::open(palace.vault().join("vault.db")).expect("the database");
        conn.execute_batch(sql).expect(sql);
    };
    sql("CREATE TRIGGER spy AFTER INSERT ON drawers BEGIN DELETE FROM audit; END;
         CREATE VIEW \"a \"\"view\"\"\" AS SELECT * FROM drawers;
         CREATE TRIGGER on_view INSTEAD OF INSERT ON \"a \"\"view\"\"\" BEGIN DELETE FROM audit; END;
         CREATE INDEX more ON drawers (length(content))");
    let _ = palace.run(&["verify"]).exits(2).says("spy");
    // A trigger does nothing here: every connection has them switched off.
    let id = palace.remember("words beside a trigger");
    assert_eq!(palace.words(&id), "words beside a trigger");
    let ran = palace.run(&["repair"]).ok().says("trigger spy").says("index more").says("a \"view\"");
    assert!(ran.stdout.contains("integrity: ok"), "{ran}");
    palace.verifies();
    sql("CREATE TABLE extra (x)");
    let _ = palace.run(&["repair"]).exits(2).says("table extra").says("DROP TABLE");
    sql("DROP TABLE extra");
    palace.verifies();
}

#[test]
fn a_deduplication_checks_every_drawer() {
    let palace = Palace::new();
    let _ = (palace.remember("twice"), palace.remember("twice"));
    let _ = palace.remember("words");
    let conn = rusqlite::Connection::open(palace.vault().join("vault.db")).expect("the database");
    conn.execute("UPDATE drawers SET content = zeroblob(60) WHERE seq = 3", []).expect("changed");
    drop(conn);
    let before = palace.json(&["stats"])["records"].clone();
    for command in [&["dedup"][..], &["dedup", "--apply"], &["drawer", "list"], &["wake-up"]] {
        palace.run(command).refuses(2, "integrity");
    }
    assert_eq!(palace.json(&["stats"])["records"], before);
}

#[test]
fn a_lock_file_that_was_removed_lets_nobody_delete_or_replace_an_open_vault() {
    let palace = Palace::new();
    let _ = palace.remember("words");
    let name = backup(&palace);
    let held = undercroft_tests::support::open(&palace);
    let kept = held.recent(None, 5).expect("reads").len();
    fs::remove_file(palace.vault().join("use.lock")).expect("removed");
    palace.run(&["vault", "delete", "default", "--yes"]).refuses(1, "in use");
    palace.run(&["backup", "restore", &name, "--force"]).refuses(1, "in use");
    assert_eq!(held.recent(None, 5).expect("reads").len(), kept);
    drop(held);
    let _ = palace.run(&["backup", "restore", &name, "--force"]).ok();
    palace.verifies();
}
