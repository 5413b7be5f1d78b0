//! What each tool answers over a real vault.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use undercroft_palace::ErrorClass;

use super::fixture::Served;

const NOWHERE: &str = "00000000000000000000000000000000";

#[test]
fn a_text_is_saved_read_replaced_and_deleted_word_for_word() {
    let served = Served::new();
    let content = " \u{1f980} crab\r\n\tat night \n";
    let saved = served.ok(
        "undercroft_save",
        json!({ "content": content, "wing": " sea ", "room": "crabs", "kind": "event", "content_date": "2024-05-01",
                "agent": "a", "channel": "c", "session": "s" }),
    );
    let id = saved.structured["id"].as_str().unwrap();
    assert_eq!(saved.text, format!("saved drawer {id} in sea/crabs"));
    let read = served.ok("undercroft_get_drawer", json!({ "id": id }));
    assert_eq!(serde_json::from_str::<Value>(&read.text).unwrap(), read.structured);
    assert_eq!(read.structured["content"], content);
    let meta = &read.structured["meta"];
    assert_eq!(
        (&meta["wing"], &meta["added_by"], &meta["agent"]),
        (&json!("sea"), &json!("mcp"), &json!("a"))
    );
    let updated = served.ok("undercroft_update_drawer", json!({ "id": id, "content": "crab by day" }));
    assert_eq!(updated.text, format!("updated drawer {id}"));
    assert_eq!(served.ok("undercroft_get_drawer", json!({ "id": id })).structured["content"], "crab by day");
    let deleted = served.ok("undercroft_delete_drawer", json!({ "id": id }));
    assert_eq!(deleted.text, format!("deleted drawer {id}"));
    assert_eq!(
        served.refusal("undercroft_get_drawer", json!({ "id": id })),
        format!("error: No drawer with id {id}")
    );
    assert!(served.refusal("undercroft_delete_drawer", json!({ "id": id })).contains("No drawer"));
    assert!(
        served
            .refusal("undercroft_get_drawer", json!({ "id": "ABC" }))
            .starts_with("error: invalid argument id: ")
    );
}

#[test]
fn each_save_makes_a_drawer_and_a_told_source_keeps_the_same_words_once() {
    let served = Served::new();
    assert_ne!(served.save("twice"), served.save("twice"));
    let add = |content: &str| {
        let given = json!({ "content": content, "source_file": "notes.md", "wing": "w", "room": "r" });
        let added = served.ok("undercroft_add_drawer", given);
        let id = added.structured["id"].as_str().unwrap().to_owned();
        assert_eq!(added.text, format!("added drawer {id} in w/r"));
        id
    };
    let ids: BTreeSet<String> = (0..50).map(|n| add(&format!("piece {n}"))).collect();
    assert_eq!(ids.len(), 50);
    assert!(ids.contains(&add("piece 7")));
    let deleted = served.ok("undercroft_delete_by_source", json!({ "source_file": "notes.md" }));
    assert_eq!(deleted.text, "deleted 50 drawer(s)");
    let again = served.ok("undercroft_delete_by_source", json!({ "source_file": "notes.md" }));
    assert_eq!(again.text, "deleted 0 drawer(s)");
}

#[test]
fn an_update_link_is_named_and_its_receipt_shown() {
    let served = Served::new();
    let old = served.save("the market is on Tuesday");
    let new =
        served.ok("undercroft_save", json!({ "content": "the market is on Friday", "supersedes": old }));
    let id = new.structured["id"].as_str().unwrap();
    assert_eq!(new.text, format!("saved drawer {id} in general/inbox, superseding {old}"));
    let links = served.ok("undercroft_supersessions", json!({}));
    assert!(links.text.starts_with(&format!("[verified] {id} updates {old}\n")), "{}", links.text);
    let dangling = served.refusal("undercroft_save", json!({ "content": "x", "supersedes": NOWHERE }));
    assert!(dangling.contains("supersedes"), "{dangling}");
}

#[test]
fn a_refused_text_names_the_argument_and_nothing_is_kept() {
    let served = Served::new();
    for (given, said) in [
        (json!({ "content": " \n" }), "invalid content: "),
        (json!({ "content": "x".repeat(100_001) }), "invalid content: "),
        (json!({ "content": "x", "wing": "a/b" }), "wing"),
        (json!({ "content": "x", "room": ".." }), "room"),
        (json!({ "content": "x", "kind": "rumour" }), "invalid argument kind: it must be one of question, "),
        (json!({ "content": "x", "content_date": "yesterday" }), "content_date"),
        (json!({ "content": "x", "supersedes": "1" }), "invalid argument supersedes: "),
        (json!({ "content": "x", "agent": "a\u{0}" }), "agent"),
    ] {
        assert!(served.refusal("undercroft_save", given.clone()).contains(said), "{given}");
    }
    assert_eq!(served.ok("undercroft_status", json!({})).structured["records"], 0);
}

#[test]
fn hits_are_shown_with_their_evidence_and_pages_fit_together() {
    let served = Served::new();
    for n in 0..7 {
        served.ok(
            "undercroft_save",
            json!({ "content": format!("the blue boat number {n}"), "wing": "sea", "room": "boats",
                    "content_date": "2024-05-01" }),
        );
    }
    let first = served.ok("undercroft_search", json!({ "query": "blue boat", "limit": 4 }));
    let lines: Vec<&str> = first.text.lines().collect();
    assert!(
        lines[0].starts_with("1. [score ") && lines[0].contains("(sea/boats, happened 2024-05-01, filed "),
        "{lines:?}"
    );
    let id = first.structured["hits"][0]["id"].as_str().unwrap();
    assert!(lines[0].ends_with(&format!(" id {id}")), "{lines:?}");
    assert!(
        lines[1].starts_with("evidence: exact ")
            && lines[1].contains(" · morph ")
            && lines[1].contains(" · semantic ")
    );
    assert_eq!((lines[2], lines[3]), (first.structured["hits"][0]["content"].as_str().unwrap(), ""));
    let ranked_at = first.structured["ranked_at"].as_str().unwrap();
    assert_eq!(
        *lines.last().unwrap(),
        format!("more may follow: repeat with offset=4 and ranked_at={ranked_at}")
    );
    let rest = json!({ "query": "blue boat", "limit": 4, "offset": 4, "ranked_at": ranked_at });
    let second = served.ok("undercroft_search", rest);
    assert!(
        second.text.starts_with("5. [score ") && !second.text.contains("more may follow"),
        "{}",
        second.text
    );
    let ids: BTreeSet<String> = [&first, &second]
        .iter()
        .flat_map(|page| page.structured["hits"].as_array().unwrap())
        .map(|hit| hit["id"].to_string())
        .collect();
    assert_eq!(ids.len(), 7);
    let past = served.ok("undercroft_search", json!({ "query": "blue boat", "offset": 7 }));
    assert_eq!(past.text, "no more memories past rank 7");
}

#[test]
fn a_search_says_what_it_did_not_find_and_did_not_look_at() {
    let served = Served::new();
    served.save("a green boat");
    assert_eq!(
        served.ok("undercroft_search", json!({ "query": "boat", "wing": "none" })).text,
        "no memories matched"
    );
    let kind = served.ok("undercroft_search", json!({ "query": "boat", "kind": "event" }));
    assert_eq!(
        kind.text,
        "no memories matched\n(1 in-scope drawers carry no declared kind and were not considered)"
    );
    let whole = json!({ "query": "boat", "limit": 1.0, "offset": 0.0, "language": "en", "room_cap": 1 });
    assert!(served.ok("undercroft_search", whole).text.contains("a green boat"));
    for (name, value) in
        [("limit", json!(0)), ("limit", json!(501)), ("room_cap", json!(0)), ("language", json!("tlh"))]
    {
        let mut given = json!({ "query": "boat" });
        given[name] = value;
        let said = served.refusal("undercroft_search", given);
        assert!(said.starts_with(&format!("error: invalid argument {name}: ")), "{said}");
    }
    assert!(
        served
            .refusal("undercroft_search", json!({ "query": "x", "ranked_at": "now" }))
            .contains("ranked_at")
    );
    assert!(served.refusal("undercroft_search", json!({ "query": "x", "offset": 10_000 })).contains("limit"));
}

#[test]
fn places_are_listed_as_pairs_and_as_objects() {
    let served = Served::new();
    for (wing, room) in [("b", "x"), ("a", "y"), ("a", "x"), ("a", "y")] {
        served
            .ok("undercroft_save", json!({ "content": format!("{wing}{room}"), "wing": wing, "room": room }));
    }
    let wings = served.ok("undercroft_list_wings", json!({}));
    assert_eq!(wings.text, r#"[["a",3],["b",1]]"#);
    assert_eq!(
        wings.structured,
        json!({ "wings": [{ "wing": "a", "count": 3 }, { "wing": "b", "count": 1 }] })
    );
    assert_eq!(served.ok("undercroft_list_rooms", json!({ "wing": "a" })).text, r#"[["x",1],["y",2]]"#);
    assert_eq!(served.ok("undercroft_list_rooms", json!({ "wing": "none" })).text, "[]");
    let taxonomy = served.ok("undercroft_get_taxonomy", json!({}));
    assert_eq!(taxonomy.text, r#"[["a",[["x",1],["y",2]]],["b",[["x",1]]]]"#);
    assert_eq!(taxonomy.structured["wings"][1]["rooms"], json!([{ "room": "x", "count": 1 }]));
    let page = served.ok("undercroft_list_drawers", json!({ "wing": "a", "limit": 2, "offset": 1 }));
    let page = page.structured["drawers"].as_array().unwrap();
    assert_eq!(page.iter().map(|d| d["preview"].as_str().unwrap()).collect::<Vec<_>>(), ["ax", "ay"]);
}

#[test]
fn waking_up_shows_what_is_newest() {
    let served = Served::new();
    assert_eq!(served.ok("undercroft_wake_up", json!({})).text, "palace is empty");
    for n in 0..20 {
        served.save(&format!("\n  line {n}\nmore"));
    }
    let lines = served.ok("undercroft_wake_up", json!({})).text;
    let lines: Vec<&str> = lines.lines().collect();
    assert_eq!((lines.len(), lines[0]), (16, "## ESSENTIAL STORY (vault 'v')"));
    assert_eq!(lines[1], "- [general/inbox] line 19");
    assert_eq!(served.ok("undercroft_wake_up", json!({ "wing": "w" })).text, "nothing is filed in wing w");
}

#[test]
fn copies_are_told_counted_and_removed() {
    let served = Served::new();
    assert_eq!(served.ok("undercroft_check_duplicate", json!({ "content": "same" })).text, "not filed");
    let id = served.save("same");
    assert_eq!(
        served.ok("undercroft_check_duplicate", json!({ "content": "same" })).text,
        format!("duplicate of {id}")
    );
    served.save("same");
    let counted = served.ok("undercroft_dedup", json!({}));
    assert_eq!((&counted.structured["removed"], &counted.structured["applied"]), (&json!(1), &json!(false)));
    assert_eq!(served.ok("undercroft_status", json!({})).structured["records"], 2);
    let removed = served.ok("undercroft_dedup", json!({ "apply": true }));
    assert_eq!(serde_json::from_str::<Value>(&removed.text).unwrap(), removed.structured);
    assert_eq!(served.ok("undercroft_status", json!({})).structured["records"], 1);
}

#[test]
fn the_history_is_the_agents_and_its_pages_skip_what_is_the_operators() {
    let served = Served::new();
    let ids: Vec<String> = (0..5).map(|n| served.save(&format!("text {n}"))).collect();
    served.ok("undercroft_delete_drawer", json!({ "id": ids[1] }));
    let seen = |limit: u32, offset: u32| -> Vec<String> {
        let page = served.ok("undercroft_history", json!({ "limit": limit, "offset": offset }));
        let page = page.structured["records"].as_array().unwrap().clone();
        page.iter().map(|record| record["record_id"].as_str().unwrap().to_owned()).collect()
    };
    let newest_first: Vec<String> = ids.iter().rev().cloned().collect();
    assert_eq!(seen(20, 0), newest_first);
    assert_eq!(seen(2, 1), newest_first[1..3]);
    assert_eq!(seen(2, 9), Vec::<String>::new());
    let one = served.ok("undercroft_history", json!({ "subject": ids[1] }));
    assert_eq!(one.structured["records"].as_array().unwrap().len(), 1, "its end is the operator's to see");
}

#[test]
fn the_status_and_the_verdict_are_the_vaults() {
    let served = Served::new();
    served.save("one");
    let status = served.ok("undercroft_status", json!({}));
    assert_eq!(serde_json::from_str::<Value>(&status.text).unwrap(), status.structured);
    let expected =
        json!({ "id": "v", "records": 1, "level": "sealed", "chain_ceiling": null, "read_only": false });
    for (name, value) in expected.as_object().unwrap() {
        assert_eq!(&status.structured[name], value, "{name}");
    }
    for name in ["codebooks", "embed_failures", "rerank_failures", "late_failures", "chain_replays"] {
        assert!(status.structured.get(name).is_some(), "{name}");
    }
    let verdict = served.ok("undercroft_verify", json!({}));
    assert!(verdict.text.starts_with("records checked: "), "{}", verdict.text);
    assert!(verdict.text.ends_with("\nresult: VERIFY OK"), "{}", verdict.text);
    assert!(verdict.text.lines().all(|line| line.contains(": ")), "{}", verdict.text);
}

#[test]
fn stored_bytes_that_were_changed_are_a_verdict_and_are_reported() {
    let served = Served::new();
    let id = served.save("one that somebody will change on disk");
    // Somebody who has the file and not the key.
    let other = rusqlite::Connection::open(served.vault.dir().join("vault.db")).unwrap();
    other.execute("UPDATE drawers SET content = zeroblob(99)", []).unwrap();
    let said = served.refusal("undercroft_get_drawer", json!({ "id": id }));
    assert!(said.starts_with("error: integrity: "), "{said}");
    let verdict = served.call("undercroft_verify", json!({}));
    assert!(verdict.is_error && verdict.text.ends_with("result: VERIFY FAILED"), "{verdict:?}");
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": { "name": "undercroft_get_drawer", "arguments": { "id": id } } });
    let (_, told) = served.over_lines(call.to_string().as_bytes());
    assert!(
        told.len() == 1 && told[0].class() == ErrorClass::Integrity && told[0].error().is_some(),
        "{told:?}"
    );
}
