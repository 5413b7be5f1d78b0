//! Whole copies: of one committed state, proved where they arrive, put in the place of another.

use std::fs;

use undercroft_crypto::Level;
use undercroft_vault::replica::{self, Outcome};
use undercroft_vault::{Error, ErrorClass};

use super::cluster::*;

#[test]
fn a_copy_made_while_writes_go_on_stands_at_one_state_and_catches_up_from_there() {
    for level in [Level::Sealed, Level::HmacOnly] {
        let mut cluster = Cluster::new();
        let mut copies = cluster.create(level, 1);
        cluster.save(&copies, "before");
        // An open transaction is not in it.
        let parked = park(&copies[0], "in flight");
        let staged = cluster.path("staged");
        let sent = replica::copy_to(&copies[0], &staged).expect("copies");
        let (log_id, segment) = (cluster.next(), parked.segment().clone());
        parked.commit(log_id).expect("commits");
        assert_eq!(sent.position(), (1, 1));
        replica::verify_copy(&staged, &cluster.master, &cluster.options, &sent).expect("verifies");
        fs::create_dir_all(cluster.path("node1")).expect("makes");
        replica::install(&staged, &cluster.dir(1)).expect("installs");
        copies.push(cluster.open(1));
        assert_eq!(state(&copies[1]), sent);
        assert!(matches!(follow(&copies[1], log_id, &segment), Outcome::Applied(_)));
        assert_alike(&copies);
        assert_eq!(found(&copies[1], "flight"), ["in flight"]);
    }
}

#[test]
fn a_copy_that_was_changed_or_is_not_the_one_that_was_named_is_refused() {
    let mut cluster = Cluster::new();
    let copies = cluster.create(Level::Sealed, 1);
    cluster.save(&copies, "words");
    let make = |name: &str| {
        let staged = cluster.path(name);
        (replica::copy_to(&copies[0], &staged).expect("copies"), staged)
    };
    let verify = |staged: &std::path::Path, state: &replica::State| {
        let verified = replica::verify_copy(staged, &cluster.master, &cluster.options, state);
        verified.map(drop).map_err(|error| error.class())
    };
    let (sent, whole) = make("whole");
    assert_eq!(verify(&whole, &sent), Ok(()));
    let mut later = sent;
    later.applied.index += 1;
    assert_eq!(verify(&whole, &later), Err(ErrorClass::Integrity));
    let tampering = [
        "DELETE FROM drawers",
        "UPDATE drawers SET content = zeroblob(80)",
        "UPDATE audit SET at = at + 1",
        "UPDATE meta SET value = zeroblob(34) WHERE key = 'ownership'",
        "UPDATE meta SET value = zeroblob(20) WHERE key = 'applied'",
        "DELETE FROM meta WHERE key = 'applied'",
    ];
    for (number, sql) in tampering.iter().enumerate() {
        let (sent, staged) = make(&format!("changed{number}"));
        let conn = rusqlite::Connection::open(staged.join("vault.db")).expect("opens");
        conn.execute_batch(sql).expect("changes");
        drop(conn);
        assert_eq!(verify(&staged, &sent), Err(ErrorClass::Integrity), "{sql}");
    }
    let (sent, staged) = make("manifest");
    let text = fs::read_to_string(staged.join("vault.json")).expect("reads");
    fs::write(staged.join("vault.json"), text.replace("3:1:2", "3:1:9")).expect("writes");
    assert_eq!(verify(&staged, &sent), Err(ErrorClass::Integrity));
}

#[test]
fn installing_replaces_a_sick_copy_and_leaves_nothing_of_it_beside() {
    let mut cluster = Cluster::new();
    let mut copies = cluster.create(Level::Sealed, 2);
    cluster.save(&copies, "good words");
    let evidence = cluster.path("evidence").join("one");
    let sick = copies.remove(1);
    let staged = cluster.path("node1").join("staged");
    let sent = replica::copy_to(&copies[0], &staged).expect("copies");
    assert!(matches!(replica::install(&staged, &cluster.dir(1)), Err(Error::InUse(_))));
    drop(sick);
    let conn = rusqlite::Connection::open(cluster.dir(1).join("vault.db")).expect("opens");
    conn.execute_batch("UPDATE drawers SET content = zeroblob(80)").expect("changes");
    drop(conn);
    replica::evidence_copy(&cluster.dir(1), &evidence).expect("keeps");
    assert!(replica::evidence_copy(&cluster.dir(1), &evidence).is_err(), "evidence is not overwritten");
    replica::install(&staged, &cluster.dir(1)).expect("installs");
    copies.push(cluster.open(1));
    assert_eq!(state(&copies[1]), sent);
    assert_alike(&copies);
    let left: Vec<String> = fs::read_dir(cluster.path("node1"))
        .expect("lists")
        .map(|entry| entry.expect("reads").file_name().to_string_lossy().into_owned())
        .collect();
    assert_eq!(left, ["v"]);
    assert!(evidence.join("vault.db").exists() && evidence.join("vault.json").exists());
}

#[test]
fn keeping_evidence_changes_no_byte_of_what_is_kept() {
    let mut cluster = Cluster::new();
    let copies = cluster.create(Level::Sealed, 1);
    cluster.save(&copies, "words");
    let evidence = cluster.path("evidence");
    replica::evidence_copy(&cluster.dir(0), &evidence).expect("keeps");
    for name in ["vault.db", "vault.db-wal", "vault.json"] {
        let read = |dir: &std::path::Path| fs::read(dir.join(name)).expect("reads");
        assert_eq!(read(&cluster.dir(0)), read(&evidence), "{name}");
    }
    use std::os::unix::fs::PermissionsExt as _;
    let mode = fs::metadata(&evidence).expect("is there").permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
}
