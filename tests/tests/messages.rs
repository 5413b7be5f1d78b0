//! What is said beside the result: hints that can be copied as they are, refusals for programs, nothing that steers a terminal.

use serde_json::{Value, json};
use undercroft_tests::support::Palace;

/// Right-to-left override, isolate, a C1 control, DEL.
const STEERING: [char; 5] = ['\u{202e}', '\u{2066}', '\u{9b}', '\u{7f}', '\u{200f}'];

#[test]
fn json_cannot_steer_a_terminal_and_means_the_same() {
    let palace = Palace::new();
    let words: String = STEERING.iter().map(|c| format!("a{c}b ")).collect();
    let id = palace.remember(&words);
    assert_eq!(palace.words(&id), words);
    let missing = format!("no{}vault", STEERING[0]);
    for arguments in [
        &["drawer", "get", &id, "--json"][..],
        &["search", "ab", "--json"],
        &["drawer", "list", "--json"],
        &["search", "x", "--vault", &missing, "--json"],
        &["drawer", "get", &missing, "--json"],
    ] {
        let ran = palace.run(arguments);
        let _: Value = ran.json();
        assert!(!ran.stdout.contains(STEERING), "{ran}");
    }
    assert!(
        palace.run(&["drawer", "get", &id]).ok().stdout.ends_with(&format!("{words}\n")),
        "a pipe gets it raw"
    );
}

#[test]
fn hints_repeat_the_installation_and_the_vault_that_were_named() {
    let palace = Palace::new();
    let folder = palace.root();
    let folder = folder.to_str().expect("a path");
    palace
        .run(&["search", "x", "--vault", "nope"])
        .refuses(1, &format!("see the names with: undercroft vault list --data-dir {folder}\n"));
    palace
        .run(&["backup", "restore", "nope"])
        .refuses(1, &format!("see the names with: undercroft backup list --data-dir {folder}\n"));
    let refused = palace.run(&["search", "x", "--vault", "nope", "--json"]).exits(1).json();
    assert!(
        refused["error"].as_str().expect("words").ends_with(&format!("--data-dir {folder}")),
        "{refused}"
    );
}

#[test]
fn refusals_for_programs_are_objects_of_the_right_class() {
    let palace = Palace::new();
    for arguments in [&["--json", "kg", "add"][..], &["kg", "add", "--json"]] {
        let told = palace.run(arguments).exits(1).json();
        assert_eq!(told, json!({ "error": "not implemented: kg", "class": "invalid" }), "{arguments:?}");
    }
    for command in ["mine", "sweep"] {
        let told = palace.run(&[command, "/nonexistent", "--json"]).exits(1).json();
        assert_eq!(told["class"], "not_found", "{told}");
    }
    assert_eq!(palace.run(&["completions", "bash", "--json"]).exits(1).json()["class"], "invalid");
}

#[test]
fn a_number_below_zero_is_a_wrong_value_of_the_flag_that_it_was_given_for() {
    let palace = Palace::new();
    for arguments in [&["search", "x", "-n", "-1"][..], &["history", "--limit", "-1"]] {
        palace.run(arguments).refuses(1, "invalid value '-1' for '--limit <LIMIT>'");
    }
}

#[test]
fn messages_that_are_passed_over_are_counted_and_named() {
    let palace = Palace::new();
    let log = palace.file(
        "talk.jsonl",
        "{\"type\":\"assistant\",\"message\":{\"content\":\"Caveat: never open valve 7 before valve 3.\"}}\n\
         {\"type\":\"user\",\"message\":{\"content\":\"thanks\"}}\n{\"type\":\"progress\"}\n",
    );
    let log = log.to_str().expect("a path");
    let ran = palace.run(&["sweep", log]).ok().says("(2 line(s) passed over");
    assert!(ran.stderr.contains("line 1: left out: it begins with \"Caveat:\""), "{ran}");
    let ran = palace.run(&["transcript", "render", log]).ok();
    assert!(ran.stderr.contains("line 1: left out"), "{ran}");
    assert_eq!(palace.json(&["mine", log, "--mode", "convos"])["passed_over"], 2);
}

#[cfg(unix)]
#[test]
fn a_transcript_is_read_from_a_regular_file_alone() {
    let palace = Palace::new();
    for device in ["/dev/zero", "/dev/stdin", "."] {
        palace.run(&["transcript", "render", device]).refuses(1, "not a regular file");
    }
}
