//! Many at once: threads on one handle, handles of several processes on one vault, readers while writers go on.

mod support;

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};

use support::{Home, UNSCREENED, ask, note, save};
use undercroft_crypto::Level;
use undercroft_vault::{DrawerId, Vault};

const EACH: usize = 20;

fn fill(vault: &Vault, who: &str) -> Vec<DrawerId> {
    (0..EACH).map(|i| save(vault, who, &format!("{who} says number{i} of its words"))).collect()
}

/// Reads until told to stop; every answer must be whole and consistent.
fn read_on(vault: &Vault, stop: &AtomicBool) -> usize {
    let mut rounds = 0;
    while !stop.load(Ordering::SeqCst) {
        let reply = vault.search(&ask("says words")).expect("searches");
        assert!(reply.hits.iter().all(|hit| hit.content.contains(" says number")));
        let stats = vault.stats().expect("counts");
        assert_eq!(stats.records, stats.chain_records, "drawers and chain are of one moment");
        assert!(vault.verify(&mut |_| {}).expect("walks").ok);
        if !vault.is_read_only() {
            vault.anchor().expect("anchors beside the writers");
        }
        rounds += 1;
    }
    rounds
}

#[test]
fn two_handles_save_at_once_while_a_third_reads_and_nothing_is_lost() {
    for level in [Level::Sealed, Level::HmacOnly] {
        let home = Home::new();
        let first = home.create(level);
        let (second, reader) = (home.open().expect("opens"), home.open_read_only().expect("opens"));
        let stop = AtomicBool::new(false);
        let ids: BTreeSet<DrawerId> = std::thread::scope(|scope| {
            let reading = scope.spawn(|| read_on(&reader, &stop));
            let one = scope.spawn(|| fill(&first, "anna"));
            let two = scope.spawn(|| fill(&second, "bert"));
            let ids = [one, two].into_iter().flat_map(|t| t.join().expect("never locked")).collect();
            stop.store(true, Ordering::SeqCst);
            reading.join().expect("reads on");
            ids
        });
        assert_eq!(ids.len(), 2 * EACH);
        for vault in [&first, &second, &reader] {
            assert_eq!(vault.stats().expect("counts").records, 2 * EACH as u64);
            assert!(vault.verify(&mut |_| {}).expect("walks").ok);
        }
        for id in ids {
            assert!(second.get(id).expect("reads").content.contains(" says number"));
        }
    }
}

#[test]
fn each_handle_finds_what_the_other_wrote_changed_and_destroyed() {
    let home = Home::new();
    let first = home.create(Level::Sealed);
    let second = home.open().expect("opens");
    let found = |vault: &Vault, word: &str| -> Vec<DrawerId> {
        vault.search(&ask(word)).expect("searches").hits.into_iter().map(|hit| hit.id).collect()
    };
    let one = save(&first, "inbox", "walrus on the ice");
    assert_eq!(found(&second, "walrus"), [one]);
    let two = save(&second, "inbox", "pelican on the pier");
    assert_eq!(found(&first, "pelican")[0], two);
    second.update(one, "ostrich in the sand", UNSCREENED).expect("updates");
    assert_eq!(found(&first, "ostrich")[0], one);
    first.delete(two).expect("deletes");
    assert!(!found(&second, "pelican").contains(&two));
    let three = save(&first, "inbox", "and a heron");
    assert_eq!(found(&second, "heron"), [three]);
    for vault in [first, second] {
        assert!(vault.verify(&mut |_| {}).expect("walks").ok);
        vault.close().expect("closes");
    }
}

#[test]
fn many_threads_write_through_one_handle() {
    let home = Home::new();
    let vault = home.create(Level::Sealed);
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let reading = scope.spawn(|| read_on(&vault, &stop));
        let writers: Vec<_> = (0..8)
            .map(|who| {
                scope.spawn({
                    let vault = &vault;
                    move || fill(vault, &format!("w{who}"))
                })
            })
            .collect();
        for writer in writers {
            writer.join().expect("writes");
        }
        stop.store(true, Ordering::SeqCst);
        assert!(reading.join().expect("reads on") > 0);
    });
    assert_eq!(vault.stats().expect("counts").records, 8 * EACH as u64);
    let mut request = ask("number7");
    request.limit = 50;
    let hits = vault.search(&request).expect("searches").hits;
    assert_eq!(hits.iter().filter(|hit| hit.content.contains("number7 ")).count(), 8);
    vault.close().expect("closes");
    assert!(home.open().expect("opens").verify(&mut |_| {}).expect("walks").ok);
}

#[test]
fn a_search_between_updates_sees_one_version_or_the_other() {
    let home = Home::new();
    let vault = home.create(Level::Sealed);
    let id = save(&vault, "inbox", "the code is aaaa");
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let reading = scope.spawn(|| {
            while !stop.load(Ordering::SeqCst) {
                let hits = vault.search(&ask("the code")).expect("searches").hits;
                assert_eq!(hits.len(), 1, "never twice, never gone");
                assert!(["the code is aaaa", "the code is bbbb"].contains(&hits[0].content.as_str()));
            }
        });
        for round in 0..60 {
            let text = if round % 2 == 0 { "the code is bbbb" } else { "the code is aaaa" };
            vault.update(id, text, UNSCREENED).expect("updates");
        }
        stop.store(true, Ordering::SeqCst);
        reading.join().expect("reads on");
    });
}

#[test]
fn handles_that_close_together_leave_one_whole_image() {
    let home = Home::new();
    let vault = home.create(Level::Sealed);
    let many = (0..300).map(|i| note("inbox", &format!("number{i} of many words"))).collect();
    vault.save_many(many, UNSCREENED).expect("commits");
    let others: Vec<Vault> = (0..4).map(|_| home.open().expect("opens")).collect();
    let handles: Vec<Vault> = others.into_iter().chain([vault]).collect();
    for vault in &handles {
        assert!(!vault.search(&ask("number7")).expect("searches").hits.is_empty());
    }
    std::thread::scope(|scope| {
        for vault in handles {
            scope.spawn(move || vault.close().expect("closes"));
        }
    });
    let staged = std::fs::read_dir(home.dir())
        .expect("reads")
        .filter(|entry| entry.as_ref().expect("reads").file_name().to_string_lossy().contains(".tmp"))
        .count();
    assert_eq!(staged, 0);
    let vault = home.open().expect("opens");
    assert!(vault.search(&ask("number7")).expect("searches").hits[0].content.contains("number7 "));
}
