//! An export holds together, and no way of tampering with it passes the check.

use sha2::{Digest, Sha256};

use super::{Export, Tail, check};
use crate::limits;
use crate::state::fixture::{START, create, report, serving};
use crate::state::{Batch, State};

const DAY: u64 = 86_400_000;

/// A few vaults, each witnessed on five days.
fn witnessed(vaults: u64) -> State {
    let mut state = serving(1);
    state.apply(&Batch::of(START, (0..vaults).map(create)));
    let ids: Vec<_> = state.vaults().iter().map(|vault| vault.id).collect();
    for day in 1..=5 {
        let reports = ids.iter().map(|vault| report(*vault, 1, day, day as u8));
        state.apply(&Batch::of(START + day * DAY, reports));
    }
    state
}

fn exported(state: &State, mut export: Export) -> String {
    let mut all = Vec::new();
    while let Some(lines) = export.next(state) {
        all.extend(lines);
    }
    String::from_utf8(all).expect("text")
}

fn lines(text: &str) -> Vec<String> {
    text.lines().map(str::to_owned).collect()
}

/// The lines with a last one that fits them, as a forger would reckon it.
fn resealed(mut lines: Vec<String>, vaults: u64) -> String {
    lines.pop();
    let text = lines.join("\n") + "\n";
    let (entries, digest) = (lines.len() as u64 - 1, hex::encode(Sha256::digest(&text)));
    let tail = Tail { vaults, entries, next: None, digest };
    text + &serde_json::to_string(&tail).expect("a line") + "\n"
}

#[test]
fn an_export_holds_together_whole_and_in_parts() {
    let state = witnessed(limits::EXPORTED_VAULTS + 3);
    let all = exported(&state, Export::new(None, u64::MAX));
    let tail = check(all.as_bytes()).expect("it holds");
    assert_eq!((tail.vaults, tail.entries), (limits::EXPORTED_VAULTS + 3, (limits::EXPORTED_VAULTS + 3) * 5));
    assert_eq!(tail.next, None);
    let (mut after, mut seen) = (None, 0);
    loop {
        let part = check(exported(&state, Export::new(after, 100)).as_bytes()).expect("it holds");
        seen += part.vaults;
        after = part.next;
        if after.is_none() {
            break;
        }
    }
    assert_eq!(seen, tail.vaults, "each vault in one part");
    let nothing = check(exported(&State::default(), Export::new(None, 5)).as_bytes()).expect("it holds");
    assert_eq!((nothing.vaults, nothing.entries), (0, 0));
}

#[test]
fn an_edited_removed_or_moved_entry_is_found_even_under_a_new_last_line() {
    let whole = lines(&exported(&witnessed(2), Export::new(None, u64::MAX)));
    assert!(check(resealed(whole.clone(), 2).as_bytes()).is_ok(), "untouched");
    // Entries are lines 2 to 11: five of one vault, then five of the other.
    for at in [2, 3, 4] {
        let mut removed = whole.clone();
        removed.remove(at);
        let error = check(resealed(removed, 2).as_bytes()).expect_err("removed").to_string();
        assert!(error.contains("does not follow"), "{error}");
    }
    for (one, other) in [(1, 2), (2, 4), (1, 6), (5, 6)] {
        let mut moved = whole.clone();
        moved.swap(one, other);
        assert!(check(resealed(moved, 2).as_bytes()).is_err(), "{one} and {other}");
    }
    for (from, to) in [
        ("\"height\":3", "\"height\":4"),
        ("\"reporter\":2", "\"reporter\":3"),
        ("\"number\":2", "\"number\":7"),
    ] {
        let edited: Vec<String> = whole.iter().map(|line| line.replacen(from, to, 1)).collect();
        assert_ne!(edited, whole);
        let error = check(resealed(edited, 2).as_bytes()).expect_err("edited").to_string();
        assert!(error.contains("not what its hash says"), "{error}");
    }
    let mut twice = whole.clone();
    twice.insert(2, whole[2].clone());
    assert!(check(resealed(twice, 2).as_bytes()).is_err(), "said twice");
}

#[test]
fn what_the_chain_does_not_show_the_last_line_does() {
    let text = exported(&witnessed(2), Export::new(None, u64::MAX));
    let whole = lines(&text);
    // The newest entry of a vault: nothing follows it.
    let mut shorter = whole.clone();
    shorter.remove(10);
    assert!(check((shorter.join("\n") + "\n").as_bytes()).is_err());
    let kept = check(text.as_bytes()).expect("it holds").digest;
    let forged = check(resealed(shorter, 2).as_bytes()).expect("it cannot be told from its lines alone");
    assert_ne!(forged.digest, kept, "but from the digest that was kept");
    for end in [text.len() - 1, text.len() / 2, 10, 0] {
        assert!(check(&text.as_bytes()[..end]).is_err(), "cut at {end}");
    }
    assert!(check(format!("{text}\n").as_bytes()).is_err(), "something follows");
    let later = text.replacen("\"version\":1", "\"version\":2", 1);
    assert!(check(later.as_bytes()).is_err(), "another version");
    let long = vec![b'x'; limits::EXPORTED_LINE as usize + 9];
    assert!(check(long.as_slice()).is_err(), "no line is as long");
}
