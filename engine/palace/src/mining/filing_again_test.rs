//! What was filed stays what it was: by another command, by hand, by another process at the same time.

use std::thread;

use undercroft_vault::{BypassReason, Drawer, DrawerId, Screening};

use super::mining_test::{Fixture, contents, fixture, log};
use super::*;

const UNSCREENED: Screening = Screening::Bypass(BypassReason::NotDeclared);

impl Fixture {
    fn sweep(&self) -> SweepReport {
        sweep(&self.vault, &self.notes(), "w", &mut |_| {}).unwrap()
    }

    fn convos(&self) -> MineReport {
        mine_convos(&self.vault, &self.notes(), "w", &mut |_| {}).unwrap()
    }

    fn files(&self) -> MineReport {
        mine_files(&self.vault, &self.notes(), "w", &mut |_| {}).unwrap()
    }

    fn id_of(&self, words: &str) -> DrawerId {
        self.drawers().into_iter().find(|drawer| drawer.content == words).unwrap().id
    }
}

/// One message with a time of its own.
fn said(minute: usize, text: &str) -> String {
    let line = serde_json::json!({
        "type": "user",
        "timestamp": format!("2026-01-{:02}T{:02}:{:02}:00Z", 1 + minute / 1440, minute / 60 % 24, minute % 60),
        "message": { "role": "user", "content": text },
    });
    format!("{line}\n")
}

#[test]
fn no_two_of_the_three_commands_file_one_path_into_one_wing() {
    let fixture = fixture();
    fixture
        .put("talk.jsonl", log(&[("user", &"words ".repeat(300)), ("assistant", "answer"), ("user", "bye")]));
    type Run = fn(&Fixture) -> Vec<Skipped>;
    let runs: [(&str, Run); 3] = [
        ("'mine'", |fixture| fixture.files().skipped),
        ("'mine --mode convos'", |fixture| fixture.convos().skipped),
        ("'sweep'", |fixture| fixture.sweep().skipped),
    ];
    let path = fixture.notes().join("talk.jsonl");
    for (name, first) in runs {
        assert!(first(&fixture).is_empty(), "{name}");
        let before: Vec<Drawer> = fixture.drawers();
        for (other, second) in runs.iter().filter(|(other, _)| *other != name) {
            let refused = second(&fixture);
            assert!(
                refused.len() == 1 && refused[0].reason.contains(name),
                "{other} after {name}: {refused:?}"
            );
            assert!(refused[0].reason.contains("--wing") && refused[0].reason.contains("delete-by-source"));
            assert_eq!(fixture.drawers(), before, "{other} after {name}");
        }
        fixture.vault.delete_source(path.to_str().unwrap()).unwrap();
    }
    fixture.convos();
    mine_files(&fixture.vault, &fixture.notes(), "another wing", &mut |_| {}).unwrap();
    assert!(fixture.convos().skipped.is_empty());
}

#[test]
fn a_message_that_begins_another_is_a_message_of_its_own() {
    let fixture = fixture();
    let line = |text: &str| log(&[("user", text)]);
    let rest = line("okay then, next week") + "{also broken\n";
    fixture.put("talk.jsonl", line("start") + "{broken\n" + &rest);
    fixture.convos();
    assert_eq!(contents(&fixture), ["User: start\n\nUser: okay then, next week"]);
    fixture.put("talk.jsonl", line("start") + &line("ok") + &rest);
    let mended = fixture.convos();
    assert_eq!(contents(&fixture), ["User: start\n\nUser: okay then, next week", "User: ok"]);
    assert_eq!((mended.drawers, mended.unchanged), (2, 1));
    assert_eq!((fixture.convos().unchanged, contents(&fixture).len()), (2, 2));
}

#[test]
fn a_message_that_another_quotes_or_continues_is_a_message_of_its_own() {
    let long = "User: ok\n\nsecond paragraph\n\nUser: bye";
    for (broken, there) in [("ok", long), ("second paragraph", long), ("ok", "ok\n\nsecond paragraph")] {
        let fixture = fixture();
        let rest = log(&[("user", there)]) + "{also broken\n";
        fixture.put("talk.jsonl", log(&[("user", "start")]) + "{broken\n" + &rest);
        fixture.convos();
        fixture.put("talk.jsonl", log(&[("user", "start"), ("user", broken)]) + &rest);
        fixture.convos();
        let held = [format!("User: start\n\nUser: {there}"), format!("User: {broken}")];
        assert_eq!(contents(&fixture), held, "{broken:?}");
    }
}

#[test]
fn concurrent_readings_of_a_growing_log_file_each_message_once() {
    let fixture = fixture();
    let talk = |messages: usize| {
        (0..messages)
            .fold("{broken\n".to_owned(), |log, n| log + &said(n, &format!("unique message {n} end")))
    };
    fixture.put("talk.jsonl", talk(3));
    for upto in [40, 90, 200, 333] {
        fixture.put("talk.jsonl", talk(upto));
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| fixture.convos());
            }
        });
        fixture.put("talk.jsonl", talk(upto + 7));
        fixture.convos();
    }
    let all = contents(&fixture).join("\n");
    for n in 0..340 {
        assert_eq!(all.matches(&format!("unique message {n} end")).count(), 1, "{n}");
    }
}

#[test]
fn what_was_changed_or_deleted_by_hand_is_not_swept_again() {
    let fixture = fixture();
    fixture.put(
        "talk.jsonl",
        log(&[("user", "the gate code is 4711"), ("user", "we meet at nine"), ("user", "yes")]),
    );
    assert_eq!(fixture.sweep().filed, 3);
    fixture.vault.update(fixture.id_of("User: the gate code is 4711"), "it is 9999", UNSCREENED).unwrap();
    fixture.vault.delete(fixture.id_of("User: we meet at nine")).unwrap();
    for _ in 0..2 {
        let again = fixture.sweep();
        assert_eq!((again.filed, again.present, again.edited, again.destroyed), (0, 1, 1, 1), "{again:?}");
        assert_eq!(contents(&fixture), ["it is 9999", "User: yes"]);
    }
    fixture.vault.delete(fixture.id_of("it is 9999")).unwrap();
    assert_eq!(fixture.sweep().destroyed, 2);
}

#[test]
fn a_sweep_of_a_log_that_was_written_anew_replaces_nothing_and_loses_nothing() {
    let fixture = fixture();
    for words in ["one", "two", "three"] {
        fixture.put("talk.jsonl", log(&[("user", words)]));
        assert_eq!((fixture.sweep().filed, fixture.sweep().present), (1, 1));
    }
    let mut all = contents(&fixture);
    all.sort();
    assert_eq!(all, ["User: one", "User: three", "User: two"]);
    // The same rule where it stands above its line.
    fixture.vault.delete(fixture.id_of("User: three")).unwrap();
    assert_eq!((fixture.sweep().destroyed, contents(&fixture).len()), (1, 2));
    // A log with lines that cannot be used is no other case.
    fixture.put("talk.jsonl", log(&[("user", "four"), ("user", "five")]) + "not json\n");
    let partial = fixture.sweep();
    assert_eq!((partial.filed + partial.destroyed, partial.skipped.len()), (2, 1), "{partial:?}");
}

#[test]
fn a_log_that_lost_its_first_line_is_swept_in_one_pass() {
    let fixture = fixture();
    let line = |n: usize| said(n, &format!("message {n}"));
    fixture.put("talk.jsonl", (0..3_000).map(line).collect::<String>());
    assert_eq!(fixture.sweep().filed, 3_000);
    let before = fixture.vault.stats().unwrap().chain_records;
    fixture.put("talk.jsonl", (1..3_001).map(line).collect::<String>());
    let again = fixture.sweep();
    assert_eq!((again.filed, again.present), (1, 2_999));
    assert_eq!(fixture.vault.stats().unwrap().chain_records, before + 1, "nothing else was written");
    assert_eq!(fixture.sweep().present, 3_000);
}

#[test]
fn what_a_deduplication_removed_is_not_swept_again_whatever_dates_it_could_keep() {
    let fixture = fixture();
    fixture.put("talk.jsonl", (0..1_100).map(|n| said(n, "ok")).collect::<String>());
    assert_eq!(fixture.sweep().filed, 1_100);
    let done = fixture.vault.dedup(true).unwrap();
    assert_eq!((done.removed, done.dates_kept, done.dates_lost), (1_099, 1_000, 99));
    let again = fixture.sweep();
    assert_eq!((again.filed, again.present, again.destroyed), (0, 1_001, 99));
}

#[test]
fn a_line_without_a_place_of_its_own_is_named_and_takes_no_other() {
    let fixture = fixture();
    let far = 5 + (1 << 24);
    let large = log(&[("user", &"A".repeat(150_000))]);
    let gap = "\n".repeat(far - 6);
    fixture
        .put("talk.jsonl", "\n".repeat(4) + &large + &gap + &log(&[("user", "the words at the far line")]));
    let report = fixture.sweep();
    assert_eq!((report.filed, report.skipped.len()), (2, 1), "{:?}", report.skipped);
    assert!(
        report.skipped[0].reason.starts_with(&format!("line {far}: a sweep files")),
        "{:?}",
        report.skipped
    );
    let joined: String = fixture.drawers().into_iter().map(|drawer| drawer.content).collect();
    assert_eq!(joined.len(), "User: ".len() + 150_000);
    assert_eq!(fixture.sweep().present, 2);
}

#[test]
fn mining_says_how_many_drawers_it_made_as_the_file_again() {
    let fixture = fixture();
    fixture.put("note.md", "the original note");
    fixture.files();
    fixture.vault.update(fixture.id_of("the original note"), "my own correction", UNSCREENED).unwrap();
    let again = fixture.files();
    assert_eq!(
        (again.replaced, again.edited, contents(&fixture)),
        (1, 1, vec!["the original note".to_owned()])
    );
    assert_eq!((fixture.files().replaced, fixture.files().edited), (0, 0));
}

#[test]
fn what_transcripts_hold_beside_messages_is_counted_and_what_reads_like_one_is_named() {
    let fixture = fixture();
    let record = "{\"type\":\"progress\"}\n";
    let words = [("assistant", "Caveat: never open valve 7 before valve 3."), ("user", "thanks")];
    fixture.put("talk.jsonl", record.to_owned() + &log(&words));
    let swept = fixture.sweep();
    assert_eq!((swept.filed, swept.passed_over.lines, swept.skipped.len()), (1, 2, 0));
    let named = &swept.passed_over.named;
    assert!(named.len() == 1 && named[0].reason.starts_with("line 2: left out: it begins with"), "{named:?}");
    let mined = mine_convos(&fixture.vault, &fixture.notes(), "talks", &mut |_| {}).unwrap();
    assert_eq!((mined.passed_over.lines, mined.passed_over.named.len(), mined.drawers), (2, 1, 1));
}

#[cfg(unix)]
#[test]
fn only_a_regular_file_is_read() {
    assert_eq!(read_text_file(std::path::Path::new("/dev/zero")).unwrap_err().reason, "not a regular file");
    let fixture = fixture();
    assert!(read_text_file(&fixture.notes()).unwrap_err().reason.contains("No such file"));
}
