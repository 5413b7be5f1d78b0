//! Filing the same path again, in other ways, after a person's hand or a deduplication: nothing is replaced in silence.

use std::path::Path;

use serde_json::{Value, json};
use undercroft_tests::support::Palace;

fn line(minute: usize, words: &str) -> String {
    let line = json!({
        "type": "user", "timestamp": format!("2026-01-02T{:02}:{:02}:00Z", minute / 60, minute % 60),
        "message": { "role": "user", "content": words },
    });
    format!("{line}\n")
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a path in UTF-8")
}

/// The words of every drawer, in order.
fn words(palace: &Palace) -> Vec<String> {
    let listed = palace.json(&["drawer", "list", "--limit", "500"]);
    let ids =
        listed["drawers"].as_array().expect("drawers").iter().map(|one| one["id"].as_str().expect("an id"));
    let mut words: Vec<String> = ids.map(|id| palace.words(id)).collect();
    words.sort();
    words
}

fn id_of(palace: &Palace, start: &str) -> String {
    let listed = palace.json(&["drawer", "list", "--limit", "500"]);
    let drawers: &Vec<Value> = listed["drawers"].as_array().expect("drawers");
    let found = drawers.iter().find(|one| one["preview"].as_str().expect("a preview").starts_with(start));
    found.expect("a drawer")["id"].as_str().expect("an id").to_owned()
}

#[test]
fn one_path_is_filed_into_one_wing_by_one_command() {
    let palace = Palace::new();
    let log = palace
        .file("talk.jsonl", (0..12).map(|n| line(n, &"herons and lanterns ".repeat(20))).collect::<String>());
    let _ = palace.run(&["mine", text(&log)]).ok();
    let before = words(&palace);
    for other in [&["mine", text(&log), "--mode", "convos"][..], &["sweep", text(&log), "--wing", "mined"]] {
        palace
            .run(other)
            .refuses(1, "holds what 'mine' filed from it; file it into another wing with --wing");
        assert_eq!(words(&palace), before, "{other:?}");
    }
    assert_eq!(palace.json(&["sweep", text(&log)])["drawers"], 12, "another wing takes it");
    assert_eq!(palace.json(&["mine", text(&log)])["unchanged"], before.len());
    palace.verifies();
}

#[test]
fn what_a_person_changed_or_deleted_a_sweep_leaves_and_counts() {
    let palace = Palace::new();
    let log = palace
        .file("talk.jsonl", line(0, "the gate code is 4711") + &line(1, "we meet at nine") + &line(2, "yes"));
    assert_eq!(palace.json(&["sweep", text(&log)])["drawers"], 3);
    let _ =
        palace.run(&["drawer", "update", &id_of(&palace, "User: the gate"), "the gate code is 9999"]).ok();
    let _ = palace.run(&["drawer", "delete", &id_of(&palace, "User: we meet")]).ok();
    let again = palace.run(&["sweep", text(&log)]).ok();
    let again = again.says("0 message drawer(s) filed, 1 already present");
    let _ = again.says("(2 swept before are left as they are: 1 changed by hand, 1 deleted since)");
    let report = palace.json(&["sweep", text(&log)]);
    assert_eq!(
        (&report["edited"], &report["deleted"], &report["drawers"]),
        (&json!(1), &json!(1), &json!(0))
    );
    assert_eq!(words(&palace), ["User: yes", "the gate code is 9999"]);
    let _ = palace
        .run(&["daemon", "run", "--once", "--wing", "convos", "--watch", text(&log)])
        .ok()
        .says("[daemon] 2 swept before are left as they are");
}

#[test]
fn mining_tells_how_many_drawers_it_took_back_from_a_person() {
    let palace = Palace::new();
    let note = palace.file("n.md", "the original note about the pump");
    let _ = palace.run(&["mine", text(&note)]).ok();
    let _ = palace.run(&["drawer", "update", &id_of(&palace, "the original"), "my own correction"]).ok();
    let again = palace.run(&["mine", text(&note)]).ok();
    let _ = again.says("(1 of them replaced what stood at their place before; 1 had been changed by hand)");
    assert_eq!(words(&palace), ["the original note about the pump"]);
}

#[test]
fn a_deduplication_says_what_it_would_do_and_what_it_did() {
    let palace = Palace::new();
    let log = palace.file("talk.jsonl", (0..1_203).map(|n| line(n, "ok")).collect::<String>());
    let _ = palace.run(&["sweep", text(&log)]).ok();
    let found = palace.run(&["dedup"]).ok().says("1 duplicate group(s), 1202 extra drawer(s) found");
    let found = found.says("1000 date(s) of these drawers would be kept on the ones that stay");
    let _ = found.says("202 date(s) not kept: a drawer has room for 1000, and the oldest give way");
    let done = palace.run(&["dedup", "--apply"]).ok().says("1202 extra drawer(s) removed");
    let _ =
        done.says("1000 date(s) of removed drawers kept on the ones that stay").says("202 date(s) not kept");
    let report = palace.json(&["sweep", text(&log)]);
    assert_eq!((&report["drawers"], &report["deleted"]), (&json!(0), &json!(202)), "{report}");
    palace.verifies();
}

#[test]
fn a_deduplication_takes_no_file_apart() {
    let palace = Palace::new();
    let shared: String =
        (0..3).map(|n| format!("{}\n\n", format!("shared licence text {n} ").repeat(30))).collect();
    let whole = shared.clone() + &"own end of b ".repeat(100);
    let _ = palace.file("notes/a.md", &shared);
    let b = palace.file("notes/b.md", &whole);
    let _ = palace.run(&["mine", text(b.parent().expect("a folder"))]).ok();
    let _ = palace.run(&["dedup", "--apply"]).ok().says("drawer(s) left that are pieces of longer texts");
    assert_eq!(undercroft_tests::support::concatenate(&palace, text(&b)), whole);
}
