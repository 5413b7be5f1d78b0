//! A sweep knows a message by its words and by when they were said, never by its words alone.

use std::path::Path;

use serde_json::{Value, json};
use undercroft_tests::support::Palace;

fn line(uuid: &str, time: &str, words: &str) -> String {
    let line = json!({
        "type": "user", "uuid": uuid, "timestamp": format!("2026-01-02T{time}Z"),
        "message": { "role": "user", "content": words },
    });
    format!("{line}\n")
}

fn sweep(palace: &Palace, path: &Path) -> (u64, u64) {
    let report = palace.json(&["sweep", path.to_str().expect("a path")]);
    assert_eq!(report["skipped"], json!([]), "{report}");
    (report["drawers"].as_u64().expect("a count"), report["present"].as_u64().expect("a count"))
}

/// Every drawer, in the order of their times.
fn drawers(palace: &Palace) -> Vec<Value> {
    let listed = palace.json(&["drawer", "list", "--limit", "500"]);
    let ids =
        listed["drawers"].as_array().expect("drawers").iter().map(|one| one["id"].as_str().expect("an id"));
    let mut drawers: Vec<Value> =
        ids.map(|id| palace.json(&["drawer", "get", id])["drawer"].clone()).collect();
    drawers.sort_by_key(|drawer| {
        (drawer["meta"]["content_date"].to_string(), drawer["meta"]["chunk_index"].as_u64())
    });
    drawers
}

#[test]
fn the_same_words_at_another_time_are_another_message() {
    let palace = Palace::new();
    let said =
        line("u1", "03:00:00", "yes") + &line("u2", "03:00:07", "go on") + &line("u3", "03:09:00", "yes");
    let log = palace.file("logs/talk.jsonl", &said);
    assert_eq!(sweep(&palace, &log), (3, 0));
    assert_eq!(sweep(&palace, &log), (0, 3));
    // A log that was continued under another name begins with a copy; it may come first, and be swept alone.
    let copy = palace.file("logs/a-copy.jsonl", said + &line("u4", "04:00:00", "yes"));
    assert_eq!(sweep(&palace, copy.parent().expect("a folder")), (1, 6));
    assert_eq!(sweep(&palace, copy.parent().expect("a folder")), (0, 7));
    let times: Vec<Value> = drawers(&palace)
        .into_iter()
        .filter(|drawer| drawer["content"] == "User: yes")
        .map(|drawer| drawer["meta"]["content_date"].clone())
        .collect();
    assert_eq!(times, ["2026-01-02T03:00:00Z", "2026-01-02T03:09:00Z", "2026-01-02T04:00:00Z"]);
    palace.verifies();
}

#[test]
fn the_parts_of_one_large_message_are_all_kept() {
    let palace = Palace::new();
    let words = "the same sentence again. ".repeat(20_000);
    let said = line("u1", "03:00:00", &words) + &line("u2", "03:01:00", &words);
    let log = palace.file("talk.jsonl", said);
    let (filed, _) = sweep(&palace, &log);
    assert!(filed >= 10, "{filed}");
    assert_eq!(sweep(&palace, &log), (0, filed));
    for time in ["2026-01-02T03:00:00Z", "2026-01-02T03:01:00Z"] {
        let parts = drawers(&palace).into_iter().filter(|drawer| drawer["meta"]["content_date"] == time);
        let joined: String = parts.map(|part| part["content"].as_str().expect("words").to_owned()).collect();
        assert!(joined == format!("User: {words}"), "{time}: {} bytes", joined.len());
    }
}

#[test]
fn what_a_deduplication_removed_is_not_filed_again() {
    let palace = Palace::new();
    let log = palace.file("talk.jsonl", line("u1", "03:00:00", "yes") + &line("u2", "03:09:00", "yes"));
    assert_eq!(sweep(&palace, &log), (2, 0));
    assert_eq!(palace.json(&["dedup", "--apply"])["removed"], 1);
    assert_eq!(sweep(&palace, &log), (0, 2));
    assert_eq!(drawers(&palace).len(), 1);
}

#[test]
fn a_log_that_lost_or_gained_a_line_loses_no_message() {
    let palace = Palace::new();
    let [one, two, three] = [("03:00:00", "one"), ("03:01:00", "two"), ("03:02:00", "three")]
        .map(|(time, words)| line(words, time, words));
    let log = palace.file("talk.jsonl", format!("{one}{two}{three}"));
    assert_eq!(sweep(&palace, &log), (3, 0));
    let _ = palace.file("talk.jsonl", format!("{two}{three}"));
    assert_eq!(sweep(&palace, &log), (0, 2));
    let between = line("between", "03:00:30", "between");
    let _ = palace.file("talk.jsonl", format!("{one}{between}{two}{three}"));
    let _ = sweep(&palace, &log);
    let words: Vec<Value> = drawers(&palace).into_iter().map(|drawer| drawer["content"].clone()).collect();
    assert_eq!(words, ["User: one", "User: between", "User: two", "User: three"]);
    assert_eq!(sweep(&palace, &log), (0, 4));
}
