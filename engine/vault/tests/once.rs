//! Requests under an idempotency key: done once, answered alike for a day, never mistaken for another.

mod support;

use proptest::prelude::*;
use support::{Home, UNSCREENED, copy_folder, keyed, note, save};
use undercroft_crypto::Level;
use undercroft_vault::{
    AddedBy, Change, Done, Error, ErrorClass, Idempotency, Outcome, SourceBatch, Vault, WriteRequest,
    drawer_id, limits,
};

const LEVELS: [Level; 2] = [Level::Sealed, Level::HmacOnly];
const ONE: [u8; 32] = [1; 32];
const OTHER: [u8; 32] = [2; 32];

fn write(vault: &Vault, request: WriteRequest) -> undercroft_vault::Result<Done> {
    vault.write_requests(vec![request], UNSCREENED).expect("commits").remove(0)
}

fn saving(text: &str) -> Change {
    Change::Save(note("inbox", text))
}

/// Whether it was replayed, and all of the outcome.
fn told(done: &Done) -> (bool, String) {
    (done.replayed, format!("{:?}", done.outcome))
}

fn records(vault: &Vault) -> usize {
    vault.list(None, None, 50, 0).expect("lists").len()
}

fn remembered(home: &Home) -> i64 {
    home.sql().query_row("SELECT count(*) FROM outcomes", [], |row| row.get(0)).expect("counts")
}

#[test]
fn a_key_that_is_sent_again_is_done_once_and_answered_alike() {
    for level in LEVELS {
        let home = Home::new();
        let vault = home.create(level);
        let first = write(&vault, keyed(saving("words"), "key", ONE)).expect("lands");
        assert!(matches!(&first.outcome, Outcome::Saved(saved) if saved.created) && !first.replayed);
        let again = write(&vault, keyed(saving("words"), "key", ONE)).expect("is known");
        assert_eq!(told(&again), (true, told(&first).1));
        vault.close().expect("closes");
        let vault = home.open().expect("opens");
        let later = write(&vault, keyed(saving("words"), "key", ONE)).expect("is known");
        assert_eq!(told(&later), told(&again));
        assert_eq!(records(&vault), 1);
        assert_eq!(vault.history(None, 10, 0).expect("reads").len(), 1);
        assert!(vault.verify(&mut |_| {}).expect("walks").ok);
    }
}

#[test]
fn two_of_one_transaction_are_one_and_so_are_those_of_two_handles() {
    let home = Home::new();
    let (one, two) = (home.create(Level::Sealed), home.open().expect("opens"));
    let pair = vec![keyed(saving("words"), "key", ONE), keyed(saving("words"), "key", ONE)];
    let done: Vec<Done> = one
        .write_requests(pair, UNSCREENED)
        .expect("commits")
        .into_iter()
        .map(|done| done.expect("lands"))
        .collect();
    assert_eq!((done[0].replayed, done[1].replayed), (false, true));
    let elsewhere = write(&two, keyed(saving("words"), "key", ONE)).expect("is known");
    assert_eq!(told(&elsewhere), told(&done[1]));
    assert_eq!((records(&one), records(&two)), (1, 1));
}

#[test]
fn many_who_send_one_key_at_once_from_two_handles_make_one_record() {
    let home = Home::new();
    let vaults = [home.create(Level::Sealed), home.open().expect("opens")];
    let fresh: usize = std::thread::scope(|scope| {
        let running: Vec<_> = (0..8)
            .map(|n| {
                let vault = &vaults[n % 2];
                scope.spawn(move || write(vault, keyed(saving("words"), "key", ONE)).expect("lands"))
            })
            .collect();
        running.into_iter().map(|one| usize::from(!one.join().expect("ends").replayed)).sum()
    });
    assert_eq!((fresh, records(&vaults[0])), (1, 1));
}

#[test]
fn the_same_key_with_another_request_is_a_conflict_that_changes_nothing() {
    let home = Home::new();
    let vault = home.create(Level::Sealed);
    let first = write(&vault, keyed(saving("words"), "key", ONE)).expect("lands");
    let error = write(&vault, keyed(saving("other words"), "key", OTHER)).expect_err("refuses");
    assert!(matches!(error, Error::IdempotencyConflict), "{error}");
    assert_eq!(error.class(), ErrorClass::Conflict);
    assert!(error.to_string().contains("Idempotency-Key"));
    let again = write(&vault, keyed(saving("words"), "key", ONE)).expect("is known");
    assert_eq!(told(&again), (true, told(&first).1));
    assert_eq!(records(&vault), 1);
}

#[test]
fn a_key_stands_for_one_request_in_its_scope_only() {
    let home = Home::new();
    let vault = home.create(Level::Sealed);
    // Where scope ends and key begins is part of what is looked up.
    for (scope, key) in [("POST /a", "bc"), ("POST /ab", "c"), ("PUT /a", "bc"), ("POST /a", "Bc")] {
        let idempotency = Some(Idempotency::new(scope, key, ONE).expect("a key"));
        let done = write(&vault, WriteRequest { change: saving("words"), idempotency }).expect("lands");
        assert!(!done.replayed, "{scope} {key}");
    }
    assert_eq!(records(&vault), 4);
}

#[test]
fn every_kind_of_outcome_is_remembered_as_it_was() {
    let home = Home::new();
    let vault = home.create(Level::Sealed);
    let (id, gone) = (save(&vault, "inbox", "to be changed"), save(&vault, "inbox", "to be destroyed"));
    save(&vault, "inbox", "twice");
    save(&vault, "inbox", "twice");
    let batch = SourceBatch {
        source: "notes.md".into(),
        wing: "mined".into(),
        added_by: AddedBy::Miner,
        drawers: vec![support::from_source("notes.md", 0, "a line")],
        total: Some(1),
        expects: None,
    };
    let changes = [
        Change::Source(batch),
        Change::Update { id, text: "changed".into() },
        Change::Delete(gone),
        Change::Dedup,
        Change::DeleteSource("notes.md".into()),
    ];
    for (n, change) in changes.into_iter().enumerate() {
        let key = format!("key-{n}");
        let first = write(&vault, keyed(change.clone(), &key, ONE)).expect("lands");
        let height = vault.history(None, 1, 0).expect("reads")[0].seq;
        let again = write(&vault, keyed(change, &key, ONE)).expect("is known");
        assert_eq!(told(&again), (true, told(&first).1));
        assert_eq!(vault.history(None, 1, 0).expect("reads")[0].seq, height, "nothing was written");
    }
}

#[test]
fn what_failed_is_not_remembered() {
    let home = Home::new();
    let vault = home.create(Level::Sealed);
    let absent = drawer_id("work", "inbox", None, 0);
    let update = || Change::Update { id: absent, text: "new words".into() };
    for change in [update(), saving(""), Change::Delete(absent)] {
        write(&vault, keyed(change, "key", ONE)).expect_err("refuses");
    }
    assert_eq!(remembered(&home), 0);
    assert_eq!(save(&vault, "inbox", "words"), absent);
    assert!(!write(&vault, keyed(update(), "key", ONE)).expect("lands").replayed);
    let batch = || SourceBatch {
        source: "notes.md".into(),
        wing: "mined".into(),
        added_by: AddedBy::Miner,
        drawers: vec![support::from_source("notes.md", 0, "a line"), support::from_source("notes.md", 1, "")],
        total: None,
        expects: None,
    };
    for _ in 0..2 {
        let done = write(&vault, keyed(Change::Source(batch()), "source", ONE)).expect("lands in part");
        assert!(!done.replayed, "the text that failed is tried again");
    }
}

#[test]
fn what_was_done_is_answered_even_when_it_could_not_be_done_any_more() {
    let home = Home::new();
    let vault = home.create(Level::Sealed);
    let id = save(&vault, "inbox", "words");
    write(&vault, keyed(Change::Delete(id), "key", ONE)).expect("lands");
    assert!(write(&vault, keyed(Change::Delete(id), "key", ONE)).expect("is known").replayed);
    write(&vault, keyed(Change::Delete(id), "another", ONE)).expect_err("there is none");
}

#[test]
fn a_key_is_known_for_a_day_and_then_forgotten_by_writes() {
    let home = Home::new();
    let vault = home.create(Level::Sealed);
    write(&vault, keyed(saving("words"), "key", ONE)).expect("lands");
    home.clock.advance(limits::IDEMPOTENCY_MICROS - 1);
    assert!(write(&vault, keyed(saving("words"), "key", ONE)).expect("is known").replayed);
    home.clock.advance(1);
    assert_eq!(remembered(&home), 1);
    save(&vault, "inbox", "any write");
    assert_eq!(remembered(&home), 0);
    assert!(!write(&vault, keyed(saving("other words"), "key", OTHER)).expect("lands").replayed);
    assert_eq!((remembered(&home), records(&vault)), (1, 3));
    assert!(vault.verify(&mut |_| {}).expect("walks").ok);
}

#[test]
fn one_write_forgets_a_bounded_number_and_an_expired_row_stands_in_no_ones_way() {
    let home = Home::new();
    let vault = home.create(Level::Sealed);
    let id = save(&vault, "inbox", "words");
    let update = || Change::Update { id, text: "words".into() };
    let more = 3;
    let many = limits::FORGOTTEN_OUTCOMES + more;
    let requests = (0..many).map(|n| keyed(update(), &format!("key-{n}"), ONE)).collect();
    vault.write_requests(requests, UNSCREENED).expect("commits");
    home.clock.advance(limits::IDEMPOTENCY_MICROS);
    vault.write(vec![update()], UNSCREENED).expect("commits");
    assert_eq!(remembered(&home), i64::try_from(more).expect("few"));
    let requests = (0..many).map(|n| keyed(update(), &format!("key-{n}"), OTHER)).collect();
    for done in vault.write_requests(requests, UNSCREENED).expect("commits") {
        assert!(!done.expect("the old one has expired").replayed);
    }
    assert_eq!(remembered(&home), i64::try_from(many).expect("few"));
}

#[test]
fn after_a_crash_what_was_committed_is_known_and_what_was_not_is_done() {
    let home = Home::new();
    let vault = home.create(Level::Sealed);
    save(&vault, "inbox", "before");
    copy_folder(&home.dir(), &home.path("before"));
    let first = write(&vault, keyed(saving("words"), "key", ONE)).expect("lands");
    copy_folder(&home.dir(), &home.path("after"));
    // A process that dies runs no destructor.
    std::mem::forget(vault);
    for (left, known) in [("before", false), ("after", true)] {
        let vault = Vault::open(&home.path(left), &home.master, home.options.clone()).expect("opens");
        let done = write(&vault, keyed(saving("words"), "key", ONE)).expect("is answered");
        assert_eq!(told(&done), (known, told(&first).1), "{left}");
        assert_eq!(records(&vault), 2, "{left}");
    }
}

#[test]
fn a_tampered_outcome_is_an_integrity_error_and_writes_nothing() {
    let home = Home::new();
    let vault = home.create(Level::Sealed);
    write(&vault, keyed(saving("words"), "key", ONE)).expect("lands");
    for column in ["request", "outcome", "tag"] {
        let genuine: Vec<u8> = home
            .sql()
            .query_row(&format!("SELECT {column} FROM outcomes"), [], |row| row.get(0))
            .expect("reads");
        let mut other = genuine.clone();
        other[0] ^= 1;
        let set = format!("UPDATE outcomes SET {column} = ?1");
        home.sql().execute(&set, [&other]).expect("tampers");
        let error = write(&vault, keyed(saving("words"), "key", ONE)).expect_err("refuses");
        assert_eq!(error.class(), ErrorClass::Integrity, "{column}: {error}");
        assert!(!vault.verify(&mut |_| {}).expect("walks").ledger_drift.is_empty(), "{column}");
        home.sql().execute(&set, [&genuine]).expect("puts back");
    }
    assert_eq!(records(&vault), 1);
    assert!(vault.verify(&mut |_| {}).expect("walks").ok);
}

#[test]
fn keys_of_another_form_are_refused_by_name() {
    for key in ["", " ", "a b", "tab\t", "nul\0", "é", "日本", &"x".repeat(129)] {
        let error = Idempotency::new("POST /a", key, ONE).expect_err(key);
        assert_eq!(error.class(), ErrorClass::Invalid);
        assert!(error.to_string().contains("Idempotency-Key"), "{error}");
    }
    Idempotency::new("POST /a", "x".repeat(128), ONE).expect("fits");
}

proptest! {
    #[test]
    fn a_key_is_taken_exactly_when_it_is_visible_ascii_of_the_right_length(key in "\\PC{0,140}") {
        let fits = (1..=128).contains(&key.len()) && key.bytes().all(|byte| (0x21..=0x7e).contains(&byte));
        prop_assert_eq!(Idempotency::new("s", key, ONE).is_ok(), fits);
    }
}
