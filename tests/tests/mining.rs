//! Filing what is there: notes, transcripts, and everything that can be wrong with either.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use undercroft_tests::support::Palace;
use unicode_segmentation::UnicodeSegmentation as _;

/// The drawers of one source, in the order of the source.
fn drawers_of(palace: &Palace, source: &Path) -> Vec<Value> {
    let mut found = Vec::new();
    for offset in (0..).step_by(500) {
        let page = palace.json(&["drawer", "list", "--limit", "500", "--offset", &offset.to_string()]);
        let page = page["drawers"].as_array().expect("drawers").clone();
        if page.is_empty() {
            break;
        }
        found.extend(page);
    }
    let ids = found.iter().map(|drawer| drawer["id"].as_str().expect("an id").to_owned());
    let mut drawers: Vec<Value> =
        ids.map(|id| palace.json(&["drawer", "get", &id])["drawer"].clone()).collect();
    drawers.retain(|drawer| drawer["meta"]["source_file"] == json!(source));
    drawers.sort_by_key(|drawer| drawer["meta"]["chunk_index"].as_u64());
    drawers
}

fn joined(drawers: &[Value]) -> String {
    drawers.iter().map(|drawer| drawer["content"].as_str().expect("content")).collect()
}

fn mine(palace: &Palace, path: &Path, extra: &[&str]) -> Value {
    let path = path.to_str().expect("a path in UTF-8");
    let all: Vec<&str> = ["mine", path].iter().chain(extra).copied().collect();
    palace.json(&all)
}

#[test]
fn the_drawers_of_a_file_are_the_file_with_its_lines() {
    let palace = Palace::new();
    let mut text = String::from("\u{feff}# Heading\r\n\r\n");
    for n in 0..40 {
        text.push_str(&format!(
            "Paragraph {n} of the long file. It has a second sentence, and a third one. 東京の話。\r\n\r\n"
        ));
    }
    text.push_str("the end has no newline \u{7}");
    let file = palace.file("notes/Long File.md", &text);
    let report = mine(&palace, &file, &["--wing", "w"]);
    let drawers = drawers_of(&palace, &file);
    assert_eq!(report["drawers"], drawers.len());
    assert!(drawers.len() > 3);
    assert_eq!(joined(&drawers), text);
    let mut line = 1;
    for drawer in &drawers {
        assert_eq!(drawer["meta"]["line_start"], line, "{drawer}");
        line += drawer["content"].as_str().expect("content").matches('\n').count();
        assert_eq!(drawer["meta"]["room"], "long-file");
        assert_eq!(drawer["meta"]["added_by"], "miner");
    }
}

#[test]
fn mining_again_files_nothing_and_a_shrunk_file_leaves_nothing_behind() {
    let palace = Palace::new();
    let file = palace.file("a.txt", "A paragraph about copper.\n\n".repeat(200));
    let first = mine(&palace, &file, &[]);
    let writes = palace.json(&["stats"])["chain_records"].clone();
    let again = mine(&palace, &file, &[]);
    assert_eq!((&again["drawers"], &again["unchanged"]), (&first["drawers"], &first["drawers"]));
    assert_eq!(palace.json(&["stats"])["chain_records"], writes, "mining again wrote something");
    fs::write(&file, "A paragraph about tin.").expect("a shrunk file");
    let shrunk = mine(&palace, &file, &[]);
    assert_eq!(shrunk["removed"].as_u64(), Some(first["drawers"].as_u64().expect("a count") - 1));
    assert!(palace.found("copper").is_empty());
    assert_eq!(joined(&drawers_of(&palace, &file)), "A paragraph about tin.");
    palace.verifies();
}

#[test]
fn a_file_that_is_not_text_is_named_and_its_neighbours_are_filed() {
    let palace = Palace::new();
    palace.file("notes/latin.txt", [b'c', b'a', b'f', 0xe9]);
    palace.file("notes/good.txt", "good words");
    palace.file("notes/.hidden.txt", "hidden words");
    palace.file("notes/picture.png", [0x89, b'P', b'N', b'G']);
    let notes = palace.outside().join("notes");
    let ran = palace.run(&["mine", notes.to_str().expect("a path")]).ok();
    assert!(ran.stdout.contains("Mined 1 file(s)"), "{ran}");
    assert!(ran.stderr.contains("latin.txt: not UTF-8 text after byte 3"), "{ran}");
    assert_eq!(palace.json(&["stats"])["records"], 1);
    palace.run(&["mine", palace.outside().join("nowhere").to_str().expect("a path")]).refuses(1, "nowhere");
    let empty = palace.outside().join("empty");
    fs::create_dir(&empty).expect("a folder");
    palace.run(&["mine", empty.to_str().expect("a path")]).refuses(1, "empty");
    palace.run(&["mine", "x", "--mode", "dreams"]).refuses(1, "unknown mine mode");
}

#[test]
fn twelve_megabytes_in_one_paragraph_come_back_and_their_last_words_are_found() {
    let palace = Palace::new();
    let mut text = String::with_capacity(12 << 20);
    let words = ["brass", "lantern", "harbour", "ledger", "willow", "cobalt", "ferry", "thimble"];
    let mut n = 0_usize;
    while text.len() < (12 << 20) - 100 {
        text.push_str(words[(n * 7 + n / 5) % words.len()]);
        text.push(' ');
        n += 1;
    }
    text.push_str("and the quicksilver albatross signed it");
    let file = palace.file("one-paragraph.txt", &text);
    let report = mine(&palace, &file, &[]);
    let drawers = report["drawers"].as_u64().expect("a count");
    assert!(drawers >= 12 * 1024 * 1024 / 800, "{drawers} drawers");
    // Reading some fifteen thousand drawers one process each would take minutes: the engine is asked directly.
    let collected = undercroft_tests::support::concatenate(&palace, file.to_str().expect("a path"));
    assert!(collected == text, "{} bytes came back of {}", collected.len(), text.len());
    let hits = palace.found("quicksilver albatross");
    assert!(hits[0].ends_with("and the quicksilver albatross signed it"), "{:?}", hits.first());
}

#[test]
fn no_cut_falls_inside_a_grapheme() {
    let palace = Palace::new();
    let family = "👩‍👩‍👧‍👦";
    let text = format!("{}{}", family.repeat(300), "e\u{301}\u{327}".repeat(900));
    let file = palace.file("graphemes.txt", &text);
    let _ = mine(&palace, &file, &[]);
    let drawers = drawers_of(&palace, &file);
    assert!(drawers.len() > 5);
    assert_eq!(joined(&drawers), text);
    let whole: Vec<&str> = text.graphemes(true).collect();
    let cut: Vec<String> = drawers
        .iter()
        .flat_map(|d| {
            d["content"].as_str().expect("content").graphemes(true).map(str::to_owned).collect::<Vec<_>>()
        })
        .collect();
    assert_eq!(cut, whole);
}

const CLAUDE: &str = r#"{"type":"user","timestamp":"2026-01-02T03:04:05Z","message":{"role":"user","content":"Where did we put the ladder?"}}
{"type":"assistant","timestamp":"2026-01-02T03:04:09Z","message":{"role":"assistant","content":[{"type":"text","text":"Behind the elder.\n  Indented \"words\" — kept."}]}}
this line is no JSON
{"type":"user","timestamp":"2026-01-02T03:05:00Z","message":{"role":"user","content":"Thanks."}}
[1, 2]
"#;

#[test]
fn transcripts_are_packed_and_every_rejected_line_is_named() {
    let palace = Palace::new();
    let file = palace.file("logs/talk.jsonl", CLAUDE);
    let logs = palace.outside().join("logs");
    let report = mine(&palace, &logs, &["--mode", "convos", "--wing", "talks"]);
    assert_eq!((&report["files"], &report["drawers"]), (&json!(1), &json!(1)));
    let reasons: Vec<String> =
        report["skipped"].as_array().expect("skipped").iter().map(|s| s["reason"].to_string()).collect();
    assert!(
        reasons.len() == 2 && reasons[0].contains("line 3") && reasons[1].contains("line 5"),
        "{reasons:?}"
    );
    let drawers = drawers_of(&palace, &file);
    let words = "User: Where did we put the ladder?\n\nAssistant: Behind the elder.\n  Indented \"words\" — kept.\n\nUser: Thanks.";
    assert_eq!(joined(&drawers), words);
    assert_eq!(drawers[0]["meta"]["content_date"], "2026-01-02T03:04:05Z");
    let again = mine(&palace, &logs, &["--mode", "convos", "--wing", "talks"]);
    assert_eq!(again["unchanged"], 1);
}

#[test]
fn a_sweep_files_each_message_once_however_often_it_runs() {
    let palace = Palace::new();
    palace.file("logs/a.jsonl", CLAUDE);
    palace.file("logs/b.jsonl", CLAUDE);
    let logs = palace.outside().join("logs");
    let logs = logs.to_str().expect("a path");
    let first = palace.json(&["sweep", logs]);
    assert_eq!((&first["drawers"], &first["present"]), (&json!(3), &json!(3)));
    let second = palace.json(&["sweep", logs]);
    assert_eq!((&second["drawers"], &second["present"]), (&json!(0), &json!(6)));
    let _ = palace.run(&["search", "ladder", "--wing", "convos"]).ok().says("Where did we put the ladder?");
    let ran = palace.run(&["sweep", logs]).ok();
    assert!(ran.stderr.contains("a.jsonl: line 3"), "{ran}");
}

#[test]
fn a_source_is_deleted_whole() {
    let palace = Palace::new();
    let file = palace.file("a.txt", "Copper and tin.\n\n".repeat(200));
    let _ = mine(&palace, &file, &[]);
    let _ = palace.remember("Zinc stays.");
    let _ = palace.run(&["drawer", "delete-by-source", file.to_str().expect("a path")]).ok().says("Deleted ");
    assert_eq!(palace.json(&["stats"])["records"], 1);
    assert!(palace.found("copper").is_empty());
    palace.verifies();
}

#[test]
fn the_tour_of_the_readme_works() {
    let palace = Palace::new();
    let tour = undercroft_tests::tree::root().join("docs/tour");
    let report = mine(&palace, &tour.join("notes"), &["--wing", "home"]);
    assert_eq!((&report["files"], report["skipped"].as_array().map(Vec::len)), (&json!(3), Some(0)));
    let convos = mine(&palace, &tour.join("transcripts"), &["--wing", "work", "--mode", "convos"]);
    assert_eq!((&convos["files"], convos["skipped"].as_array().map(Vec::len)), (&json!(2), Some(0)));
    assert!(palace.found("where is the key to the stopcock")[0].contains("behind the map"));
    assert!(palace.found("why did the export fail")[0].contains("nightly export"));
    palace.verifies();
}
