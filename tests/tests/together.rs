//! Several processes on one vault at once.

use std::process::{Child, Output};
use std::thread;

use undercroft_tests::support::Palace;

const EACH: usize = 20;

fn all_ended(children: Vec<Child>) -> Vec<Output> {
    children.into_iter().map(|child| child.wait_with_output().expect("it ended")).collect()
}

fn expect_success(output: &Output) {
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "exit {:?}: {stderr}", output.status.code());
    assert!(!stderr.contains("locked"), "{stderr}");
}

#[test]
fn two_writers_and_a_reader_see_forty_records_and_no_lock() {
    let palace = Palace::new();
    let write = |who: &str| {
        for n in 0..EACH {
            let ran = palace.run(&["remember", &format!("note {n} of {who}")]).ok();
            assert!(!ran.stderr.contains("locked"), "{ran}");
        }
    };
    thread::scope(|scope| {
        let writers = [scope.spawn(|| write("the first")), scope.spawn(|| write("the second"))];
        let mut seen = 0;
        while !writers.iter().all(thread::ScopedJoinHandle::is_finished) {
            let records = palace.json(&["stats"])["records"].as_u64().expect("a count");
            assert!(records >= seen, "records vanished: {seen} became {records}");
            seen = records;
            let _ = palace.found("note");
        }
    });
    assert_eq!(palace.json(&["stats"])["records"], 2 * EACH);
    palace.verifies();
}

#[test]
fn forty_processes_at_once_all_keep_their_words() {
    let palace = Palace::new();
    let start = |n: usize| palace.command(&["remember", &format!("word {n}")]).spawn().expect("started");
    for output in all_ended((0..2 * EACH).map(start).collect()) {
        expect_success(&output);
    }
    assert_eq!(palace.json(&["stats"])["records"], 2 * EACH);
    palace.verifies();
}

#[test]
fn first_starts_that_race_end_with_one_key() {
    let palace = Palace::empty();
    let start = |_| palace.command(&["init"]).spawn().expect("started");
    let outputs = all_ended((0..8).map(start).collect());
    // One makes the vault; another may come between its look and its making, and is told that it exists.
    assert!(outputs.iter().any(|output| output.status.success()));
    for output in &outputs {
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() || stderr.contains("already exists"), "{stderr}");
    }
    let id = palace.remember("words");
    assert_eq!(palace.words(&id), "words");
    palace.verifies();
}

#[test]
fn a_vault_in_use_is_not_deleted_or_replaced() {
    let palace = Palace::new();
    let id = palace.remember("words");
    let made = palace.json(&["backup", "create"]);
    let name = made["path"].as_str().and_then(|path| path.rsplit('/').next()).expect("a name").to_owned();
    let held = undercroft_tests::support::open(&palace);
    palace.run(&["vault", "delete", "default", "--yes"]).refuses(1, "in use");
    palace.run(&["backup", "restore", &name, "--force"]).refuses(1, "in use");
    drop(held);
    assert_eq!(palace.words(&id), "words");
    let _ = palace.run(&["backup", "restore", &name, "--force"]).ok();
}
