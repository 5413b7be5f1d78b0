//! Files and transcripts become drawers, in place, whole, and never twice.

use std::fs;
use std::path::{Path, PathBuf};

use undercroft_crypto::{MasterKey, OsEntropy};
use undercroft_vault::{Drawer, ErrorClass, Vault, VaultOptions};

use super::*;
use crate::palace::Level;

pub(super) struct Fixture {
    pub(super) dir: tempfile::TempDir,
    pub(super) vault: Vault,
}

pub(super) fn fixture() -> Fixture {
    let dir = tempfile::tempdir().unwrap();
    let master = MasterKey::generate(&OsEntropy);
    let vault =
        Vault::create(&dir.path().join("vault"), "v", Level::Sealed, &master, VaultOptions::default())
            .unwrap();
    Fixture { dir, vault }
}

impl Fixture {
    pub(super) fn put(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.dir.path().join("notes").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, bytes).unwrap();
        path
    }

    pub(super) fn notes(&self) -> PathBuf {
        self.dir.path().join("notes")
    }

    fn mine(&self) -> MineReport {
        mine_files(&self.vault, &self.notes(), "mined", &mut |_| {}).unwrap()
    }

    pub(super) fn drawers(&self) -> Vec<Drawer> {
        let mut drawers = self.vault.recent(None, 500).unwrap();
        drawers.sort_by(|a, b| {
            (&a.meta.source_file, a.meta.chunk_index).cmp(&(&b.meta.source_file, b.meta.chunk_index))
        });
        drawers
    }
}

pub(super) fn log(messages: &[(&str, &str)]) -> String {
    messages
        .iter()
        .map(|(role, text)| {
            let line = serde_json::json!({
                "type": role,
                "timestamp": "2026-01-02T03:04:05Z",
                "message": { "role": role, "content": text },
            });
            format!("{line}\n")
        })
        .collect()
}

#[test]
fn the_drawers_of_a_file_concatenate_to_it_byte_for_byte() {
    let fixture = fixture();
    let text = "A first paragraph.\r\n\r\n".repeat(200) + "end \u{7} without newline";
    fixture.put("Two Words.MD", &text);
    let report = fixture.mine();
    assert_eq!((report.files, report.skipped.len()), (1, 0));
    let drawers = fixture.drawers();
    assert_eq!(drawers.len(), report.drawers);
    let joined: String = drawers.iter().map(|drawer| drawer.content.as_str()).collect();
    assert_eq!(joined, text);
    assert!(drawers.iter().all(|drawer| drawer.meta.room == "two-words"));
}

#[test]
fn mining_again_changes_only_what_changed() {
    let fixture = fixture();
    fixture.put("a.txt", "one\n\n".repeat(600));
    let first = fixture.mine();
    assert!(first.drawers > 2 && first.unchanged == 0);
    let again = fixture.mine();
    assert_eq!((again.drawers, again.unchanged, again.removed), (first.drawers, first.drawers, 0));
    fixture.put("a.txt", "one");
    let shrunk = fixture.mine();
    assert_eq!((shrunk.drawers, shrunk.removed), (1, first.drawers - 1));
    fixture.put("a.txt", " \n");
    assert_eq!(fixture.mine().removed, 1);
    assert!(fixture.drawers().is_empty());
}

#[test]
fn hidden_unknown_and_unreadable_files_are_left_out_and_the_last_are_named() {
    let fixture = fixture();
    fixture.put("good.md", "words");
    fixture.put(".hidden.md", "no");
    fixture.put(".git/config.md", "no");
    fixture.put("picture.png", "no");
    fixture.put("latin.txt", [b'a', 0xe9]);
    let report = fixture.mine();
    assert_eq!((report.files, report.drawers), (1, 1));
    assert_eq!(report.skipped.len(), 1);
    assert!(report.skipped[0].reason.contains("not UTF-8 text after byte 1"), "{:?}", report.skipped);
}

#[test]
fn a_path_without_files_is_an_error() {
    let fixture = fixture();
    fs::create_dir_all(fixture.notes()).unwrap();
    for path in [fixture.notes(), fixture.dir.path().join("missing")] {
        assert!(mine_files(&fixture.vault, &path, "w", &mut |_| {}).is_err());
        assert!(mine_convos(&fixture.vault, &path, "w", &mut |_| {}).is_err());
        assert!(sweep(&fixture.vault, &path, "w", &mut |_| {}).is_err());
    }
}

#[test]
fn a_wing_that_cannot_be_is_refused_before_any_file_is_read() {
    let fixture = fixture();
    fixture.put("a.md", "words");
    fixture.put("a.jsonl", log(&[("user", "words")]));
    for wing in ["", "a/b", "quarantine-pending", &"x".repeat(129)] {
        let refusals = [
            mine_files(&fixture.vault, &fixture.notes(), wing, &mut |_| panic!("read")).unwrap_err(),
            mine_convos(&fixture.vault, &fixture.notes(), wing, &mut |_| panic!("read")).unwrap_err(),
            sweep(&fixture.vault, &fixture.notes(), wing, &mut |_| panic!("read")).unwrap_err(),
        ];
        assert!(refusals.iter().all(|error| error.class() == ErrorClass::Invalid), "{refusals:?}");
    }
}

#[test]
fn many_small_files_share_transactions_and_none_is_lost() {
    let fixture = fixture();
    for number in 0..600 {
        fixture.put(
            &format!("{number:03}.md"),
            if number % 3 == 0 { String::new() } else { format!("text {number}") },
        );
    }
    let report = fixture.mine();
    assert_eq!((report.files, report.drawers, report.skipped.len()), (600, 400, 0));
    let page = fixture.vault.list(None, None, 500, 0).unwrap();
    assert_eq!(page.len(), 400);
}

#[test]
fn conversations_are_packed_with_their_time() {
    let fixture = fixture();
    fixture.put(
        "talk.jsonl",
        log(&[("user", "where is the key"), ("assistant", "behind the map")]) + "not json\n",
    );
    let report = mine_convos(&fixture.vault, &fixture.notes(), "talks", &mut |_| {}).unwrap();
    assert_eq!((report.files, report.drawers), (1, 1));
    assert!(report.skipped[0].reason.starts_with("line 3:"), "{:?}", report.skipped);
    let drawer = &fixture.drawers()[0];
    assert_eq!(drawer.content, "User: where is the key\n\nAssistant: behind the map");
    assert_eq!(drawer.meta.content_date.as_deref(), Some("2026-01-02T03:04:05Z"));
}

#[test]
fn a_transcript_that_cannot_be_read_whole_destroys_nothing() {
    let fixture = fixture();
    let long = "many words here. ".repeat(200);
    let whole = log(&[("user", &long), ("assistant", &long), ("user", &long)]);
    fixture.put("talk.jsonl", &whole);
    let mine = || mine_convos(&fixture.vault, &fixture.notes(), "w", &mut |_| {}).unwrap();
    let first = mine();
    assert!(first.drawers >= 2, "{first:?}");
    let cut = format!("{}not json\n", whole.lines().next().unwrap().to_owned() + "\n");
    for spoiled in ["", " \n", "not json\n", &cut] {
        fixture.put("talk.jsonl", spoiled);
        assert_eq!(mine().removed, 0, "{spoiled:?}");
        assert_eq!(fixture.drawers().len(), first.drawers, "{spoiled:?}");
    }
    fixture.put("talk.jsonl", log(&[("user", "short")]));
    assert_eq!(mine().removed, first.drawers - 1);
}

#[test]
fn a_sweep_files_each_message_once() {
    let fixture = fixture();
    fixture.put("a.jsonl", log(&[("user", "one"), ("assistant", "two"), ("user", "one")]));
    let first = sweep(&fixture.vault, &fixture.notes(), "convos", &mut |_| {}).unwrap();
    assert_eq!((first.files, first.filed, first.present), (1, 3, 0));
    fixture.put("b.jsonl", log(&[("user", "one"), ("user", "three")]));
    let second = sweep(&fixture.vault, &fixture.notes(), "convos", &mut |_| {}).unwrap();
    assert_eq!((second.files, second.filed, second.present), (2, 1, 4));
    let contents: Vec<String> = fixture.drawers().into_iter().map(|drawer| drawer.content).collect();
    assert_eq!(contents, ["User: one", "Assistant: two", "User: one", "User: three"]);
}

#[test]
fn a_message_that_is_too_large_for_a_drawer_becomes_parts_and_is_not_lost() {
    let fixture = fixture();
    let long = "many words here. ".repeat(15_000);
    fixture.put("a.jsonl", log(&[("user", &long)]));
    let report = sweep(&fixture.vault, &fixture.notes(), "convos", &mut |_| {}).unwrap();
    assert!(report.filed >= 3 && report.skipped.is_empty(), "{report:?}");
    let joined: String = fixture.drawers().iter().map(|drawer| drawer.content.as_str()).collect();
    assert_eq!(joined, format!("User: {long}"));
}

#[test]
fn rooms_are_made_from_file_names() {
    let room = |name: &str| walk::room_of(Path::new(name));
    assert_eq!(room("/x/My Notes (2).md"), "my-notes-2");
    assert_eq!(room("--.md"), "unsorted");
    assert_eq!(room("東京 Trip.txt"), "東京-trip");
    assert!(room(&format!("{}.md", "é".repeat(100))).len() <= 128);
}

#[cfg(target_os = "linux")]
#[test]
fn names_that_are_not_text_and_links_that_lead_nowhere_are_named_and_replace_nothing() {
    use std::os::unix::ffi::OsStrExt as _;
    let fixture = fixture();
    let notes = fixture.dir.path().join("odd");
    fs::create_dir_all(&notes).unwrap();
    for name in [&b"\xfe.md"[..], b"\xff.md"] {
        fs::write(notes.join(std::ffi::OsStr::from_bytes(name)), "words").unwrap();
    }
    std::os::unix::fs::symlink(notes.join("gone"), notes.join("dangling.md")).unwrap();
    fs::write(notes.join("fine.md"), "kept").unwrap();
    let report = mine_files(&fixture.vault, &notes, "w", &mut |_| {}).unwrap();
    assert_eq!((report.files, report.drawers, report.skipped.len()), (1, 1, 3), "{:?}", report.skipped);
}

#[test]
fn a_drawer_that_replaces_another_is_counted() {
    let fixture = fixture();
    let file = fixture.put("changing.md", "first words");
    let mine = || mine_files(&fixture.vault, &file, "w", &mut |_| {}).unwrap();
    assert_eq!(mine().replaced, 0);
    fs::write(&file, "other words").unwrap();
    assert_eq!((mine().replaced, mine().replaced), (1, 0));
}

pub(super) fn contents(fixture: &Fixture) -> Vec<String> {
    fixture.drawers().into_iter().map(|drawer| drawer.content).collect()
}

#[test]
fn a_partial_reading_replaces_nothing_that_was_filed_and_adds_what_is_new() {
    let fixture = fixture();
    let mine = || mine_convos(&fixture.vault, &fixture.notes(), "w", &mut |_| {}).unwrap();
    let long = |n: usize| format!("message {n} {}", "words ".repeat(130));
    let said: Vec<String> = (0..6).map(long).collect();
    let whole = log(&said.iter().map(|text| ("user", text.as_str())).collect::<Vec<_>>());
    fixture.put("talk.jsonl", &whole);
    let first = mine();
    let before = contents(&fixture);
    assert_eq!((first.drawers, before.len()), (6, 6));

    // A line in the middle is spoiled, so all that follow would move up by one.
    let mut lines: Vec<&str> = whole.lines().collect();
    lines[1] = "{ spoiled";
    let spoiled = lines.join("\n") + "\n";
    fixture.put("talk.jsonl", &spoiled);
    let partial = mine();
    assert_eq!((partial.replaced, partial.removed, partial.drawers, partial.unchanged), (0, 0, 5, 5));
    assert!(partial.skipped[0].reason.starts_with("line 2: not JSON"), "{:?}", partial.skipped);
    assert_eq!(contents(&fixture), before);

    // What was said since is added behind it, once.
    let grown = spoiled + &log(&[("user", "one more"), ("assistant", "and an answer")]);
    fixture.put("talk.jsonl", &grown);
    let added = mine();
    assert_eq!((added.drawers, added.unchanged, added.replaced), (6, 5, 0));
    let now = contents(&fixture);
    assert_eq!((&now[..6], now[6].as_str()), (&before[..], "User: one more\n\nAssistant: and an answer"));
    assert_eq!((mine().unchanged, contents(&fixture)), (6, now));

    // Once it can be read whole, the drawers are those of the file again.
    let mended = grown.replace("{ spoiled", whole.lines().nth(1).unwrap());
    fixture.put("talk.jsonl", mended);
    assert_eq!((mine().removed, contents(&fixture).len()), (0, 7));
}

#[test]
fn a_partial_reading_of_another_log_at_the_same_path_is_filed_beside_the_first() {
    let fixture = fixture();
    let mine = || mine_convos(&fixture.vault, &fixture.notes(), "w", &mut |_| {}).unwrap();
    fixture.put("talk.jsonl", log(&[("user", "the first log"), ("user", "yes"), ("user", "yes")]));
    mine();
    let before = contents(&fixture);
    fixture.put("talk.jsonl", log(&[("user", "another log"), ("user", "yes")]) + "not json\n");
    assert_eq!(mine().replaced, 0);
    let now = contents(&fixture);
    assert_eq!((&now[..1], now[1].as_str(), now.len()), (&before[..], "User: another log", 2));
    assert_eq!((mine().drawers, contents(&fixture).len()), (2, 2));
}

#[test]
fn words_said_twice_are_held_only_when_they_were_filed_twice() {
    let fixture = fixture();
    let mine = || mine_convos(&fixture.vault, &fixture.notes(), "w", &mut |_| {}).unwrap();
    let wordless = "{\"type\":\"user\",\"message\":{\"content\":null}}\n";
    let yes = log(&[("user", "yes")]);
    fixture.put("talk.jsonl", format!("{yes}{wordless}{}bad\n", log(&[("user", "no")])));
    assert_eq!(mine().skipped.len(), 2);
    fixture.put("talk.jsonl", format!("{yes}{yes}{}bad\n", log(&[("user", "no")])));
    mine();
    assert_eq!(contents(&fixture), ["User: yes\n\nUser: no", "User: yes"]);
}

#[test]
fn a_file_that_cannot_be_kept_whole_is_refused_whole_and_named_once() {
    let fixture = fixture();
    let path = fixture.put("gap.txt", format!("a\nstart{}end", " ".repeat(5_000_000)));
    let report = fixture.mine();
    assert_eq!((report.drawers, report.skipped.len()), (0, 1));
    assert!(report.skipped[0].reason.starts_with("line 2: 5000000 bytes of"), "{:?}", report.skipped);
    for (blank, drawers) in [("".to_owned(), 0), (" \n\0".repeat(9), 0), ("\u{1}".repeat(5_000) + "end", 1)] {
        fs::write(&path, &blank).unwrap();
        let report = fixture.mine();
        assert_eq!((report.drawers, report.skipped.len()), (drawers, usize::from(blank.len() == 27)));
        let joined = contents(&fixture).concat();
        assert!(joined == blank || report.drawers == 0);
    }
}

#[test]
fn a_part_of_a_message_that_is_refused_is_named_with_its_line_and_asked_for_no_more() {
    let fixture = fixture();
    let mine = || mine_convos(&fixture.vault, &fixture.notes(), "w", &mut |_| {}).unwrap();
    let gap = format!("start{}end", " ".repeat(250_000));
    fixture.put("talk.jsonl", log(&[("user", &gap)]) + "not json\n");
    let first = mine();
    assert!(first.skipped.iter().any(|one| one.reason.starts_with("line 1: invalid text")), "{first:?}");
    let before = contents(&fixture);
    mine();
    assert_eq!(contents(&fixture), before);
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(12))]
    #[test]
    fn the_drawers_of_any_file_concatenate_to_it_or_it_is_named(
        parts in proptest::collection::vec((proptest::sample::select(vec![" ", "\r\n", "\0", "\u{2003}", "word. ", "é"]), 0..60_000_usize), 0..4)
    ) {
        let text: String = parts.iter().map(|(part, times)| part.repeat(*times)).collect();
        let fixture = fixture();
        let path = fixture.put("any.txt", &text);
        let report = fixture.mine();
        let drawers = fixture.vault.filed_from(path.to_str().unwrap()).unwrap().drawers;
        let joined: String = drawers.iter().map(|drawer| drawer.content.as_str()).collect();
        if report.skipped.is_empty() {
            proptest::prop_assert!(joined == text);
        } else {
            proptest::prop_assert!(drawers.is_empty() && report.skipped.len() == 1);
        }
    }
}
