//! What `--json` prints, as programs rely on it. Ids, times, hashes, fractions and paths are masked.

use serde_json::json;
use undercroft_tests::support::{Palace, expect_golden};

/// A palace with one of each: linked, dated, mined.
fn furnished() -> (Palace, String) {
    let palace = Palace::new();
    let older = palace.remember("The port is 7040.");
    let typed = [
        "remember",
        "The port is 7044.",
        "--supersedes",
        &older,
        "--kind",
        "decision",
        "--content-date",
        "2026-03-05",
        "--wing",
        "work",
        "--room",
        "bridge",
        "--agent",
        "codex",
        "--channel",
        "terminal",
        "--session",
        "s-1",
    ];
    let _ = palace.json(&typed);
    palace.file("notes/plain.md", "Mined words about copper.\n");
    (palace, older)
}

#[test]
fn every_command_that_prints_data_keeps_its_shape() {
    let (palace, older) = furnished();
    let made = palace.json(&["remember", "One more."]);
    expect_golden("remember", &made);
    let extra = made["id"].as_str().expect("an id").to_owned();
    let shapes: [(&str, &[&str]); 20] = [
        ("mine", &["mine", "notes"]),
        ("init_again", &["init"]),
        ("search", &["search", "port", "--wing", "work", "-n", "1"]),
        ("search_by_kind", &["search", "port", "--kind", "event"]),
        ("drawer_get", &["drawer", "get", &older]),
        ("drawer_list", &["drawer", "list", "--wing", "work"]),
        ("check_dup_found", &["drawer", "check-dup", "One more."]),
        ("check_dup_missing", &["drawer", "check-dup", "Nobody said this."]),
        ("drawer_update", &["drawer", "update", &extra, "One more, changed."]),
        ("drawer_delete", &["drawer", "delete", &extra]),
        ("dedup", &["dedup"]),
        ("stats", &["stats"]),
        ("taxonomy", &["taxonomy"]),
        ("wake_up", &["wake-up", "--wing", "work"]),
        ("history", &["history", "--limit", "1"]),
        ("supersessions", &["supersessions"]),
        ("verify", &["verify"]),
        ("repair", &["repair"]),
        ("vault_list", &["vault", "list"]),
        ("vault_anchor", &["vault", "anchor", "default"]),
    ];
    for (name, arguments) in shapes {
        let mut value = palace.json(arguments);
        if let Some(size) = value.get_mut("db_bytes") {
            *size = json!("<size>");
        }
        expect_golden(name, &value);
    }
}

#[test]
fn an_error_is_one_object_with_its_class() {
    let palace = Palace::new();
    let refused: [(&str, &[&str], i32); 6] = [
        ("error_not_found", &["drawer", "get", "00000000000000000000000000000000"], 1),
        ("error_invalid_id", &["drawer", "get", "17"], 1),
        ("error_invalid_kind", &["remember", "x", "--kind", "rumour"], 1),
        ("error_no_vault", &["search", "x", "--vault", "nobody"], 1),
        ("error_not_built", &["search", "x", "--backend", "qdrant"], 1),
        ("error_conflict", &["vault", "create", "default"], 1),
    ];
    for (name, arguments, code) in refused {
        let all: Vec<&str> = arguments.iter().copied().chain(["--json"]).collect();
        let ran = palace.run(&all).exits(code);
        expect_golden(name, &ran.json());
    }
    let manifest = palace.vault().join("vault.json");
    std::fs::write(&manifest, "{}").expect("changed");
    let ran = palace.run(&["verify", "--json"]).exits(2);
    expect_golden("error_integrity", &ran.json());
}
