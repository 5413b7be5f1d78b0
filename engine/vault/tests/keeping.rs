//! What is kept comes back byte for byte, under the id that the recipe gives, with its provenance.

mod support;

use support::{Home, UNSCREENED, ask, from_source, note, save};
use undercroft_crypto::Level;
use undercroft_vault::{AddedBy, Claims, Error, Kind, NewDrawer, SourceBatch, drawer_id};

/// Texts that a careless store would change.
const AWKWARD: [&str; 8] = [
    "plain words",
    "  leading and trailing space \r\n\r\n\r\n\r\nand CRLF \t",
    "cafe\u{301} and caf\u{e9}: composed and not",
    "nul\0byte and bell\u{7} and escape \u{1b}[31m",
    "emoji 👩‍👩‍👧‍👦 and flag 🇨🇭",
    "中文句子里的两个字",
    "{\"json\": \"looking\"}\n",
    "\u{feff}byte order mark first",
];

#[test]
fn every_byte_comes_back_at_both_levels_and_after_reopening() {
    for level in [Level::Sealed, Level::HmacOnly] {
        let home = Home::new();
        let vault = home.create(level);
        let ids: Vec<_> = AWKWARD.iter().map(|text| save(&vault, "inbox", text)).collect();
        vault.close().expect("closes");
        let vault = home.open().expect("opens");
        for (id, text) in ids.iter().zip(AWKWARD) {
            assert_eq!(vault.get(*id).expect("reads").content, text);
        }
        assert!(vault.verify(&mut |_| {}).expect("walks").ok);
    }
}

#[test]
fn direct_saves_of_equal_text_are_drawers_of_their_own() {
    let home = Home::new();
    let vault = home.create(Level::Sealed);
    let (one, two) = (save(&vault, "inbox", "same"), save(&vault, "inbox", "same"));
    assert_eq!(one, drawer_id("work", "inbox", None, 0));
    assert_eq!(two, drawer_id("work", "inbox", None, 1));
    assert_eq!(vault.find_duplicate("same \r\n").expect("asks"), Some(one));
    assert_eq!(vault.find_duplicate("other").expect("asks"), None);
}

#[test]
fn an_append_index_is_never_issued_twice() {
    let home = Home::new();
    let vault = home.create(Level::Sealed);
    let first = save(&vault, "inbox", "first");
    vault.delete(first).expect("deletes");
    assert_ne!(save(&vault, "inbox", "second"), first);
}

#[test]
fn provenance_is_kept_and_shown() {
    let home = Home::new();
    let vault = home.create(Level::Sealed);
    let older = save(&vault, "inbox", "we meet on Monday");
    let mut new = note("inbox", "we meet on Tuesday");
    new.kind = Some(Kind::Decision);
    new.content_date = Some("2025-12-30".into());
    new.supersedes = Some(older);
    new.claims =
        Claims { agent: Some("planner".into()), channel: Some("mail".into()), session: Some("s-1".into()) };
    let id = vault.save(new, UNSCREENED).expect("saves").id;
    let meta = vault.get(id).expect("reads").meta;
    assert_eq!(meta.kind, Some(Kind::Decision));
    assert_eq!(meta.content_date.as_deref(), Some("2025-12-30"));
    assert_eq!(meta.supersedes, Some(older));
    assert_eq!(meta.added_by, AddedBy::Cli);
    assert_eq!(
        (meta.agent.as_deref(), meta.channel.as_deref(), meta.session.as_deref()),
        (Some("planner"), Some("mail"), Some("s-1"))
    );
    let links = vault.supersessions().expect("lists");
    assert_eq!((links.summary.verified, links.supersessions.len()), (1, 1));
    vault.update(older, "we met on Monday", UNSCREENED).expect("updates");
    assert_eq!(vault.supersessions().expect("lists").summary.source_changed, 1);
    vault.delete(older).expect("deletes");
    assert_eq!(vault.supersessions().expect("lists").summary.dangling, 1);
    assert!(vault.verify(&mut |_| {}).expect("walks").ok, "a dangling link is no tampering");
}

#[test]
fn bad_fields_are_refused_by_name_and_keep_nothing() {
    let home = Home::new();
    let vault = home.create(Level::Sealed);
    let mut cases = Vec::new();
    for (field, value) in [("wing", ""), ("wing", "a/b"), ("wing", ".."), ("wing", "quarantine-pending")] {
        let mut new = note("inbox", "text");
        new.wing = value.into();
        cases.push((field, new));
    }
    let mut room = note("inbox", "text");
    room.room = "x".repeat(129);
    cases.push(("room", room));
    cases.push(("text", note("inbox", " \n\t ")));
    cases.push(("text", note("inbox", &"x".repeat(100_001))));
    let mut date = note("inbox", "text");
    date.content_date = Some("2025-02-30".into());
    cases.push(("content_date", date));
    let mut link = note("inbox", "text");
    link.supersedes = Some(drawer_id("no", "such", None, 0));
    cases.push(("supersedes", link));
    for (field, new) in cases {
        let error = vault.save(new, UNSCREENED).expect_err("refuses");
        assert!(error.to_string().starts_with(&format!("invalid {field}")), "{error}");
    }
    assert_eq!(vault.stats().expect("counts").records, 0);
}

#[test]
fn mining_again_writes_nothing_and_a_shrunk_source_loses_its_surplus() {
    let home = Home::new();
    let vault = home.create(Level::Sealed);
    let batch = |texts: &[&str]| SourceBatch {
        source: "notes.md".into(),
        wing: "mined".into(),
        added_by: AddedBy::Miner,
        drawers: (0..).zip(texts).map(|(i, text)| from_source("notes.md", i, text)).collect(),
        total: Some(u32::try_from(texts.len()).expect("few")),
        expects: None,
    };
    let first = vault.file_source(batch(&["one", "two", "three"]), UNSCREENED).expect("files");
    assert!(first.drawers.iter().all(|saved| saved.as_ref().is_ok_and(|s| s.created)));
    let height = vault.stats().expect("counts").chain_records;
    let again = vault.file_source(batch(&["one", "two", "three"]), UNSCREENED).expect("files");
    assert!(again.drawers.iter().all(|saved| saved.as_ref().is_ok_and(|s| s.unchanged)));
    assert_eq!(vault.stats().expect("counts").chain_records, height, "nothing was written");
    let shrunk = vault.file_source(batch(&["one", "2"]), UNSCREENED).expect("files");
    assert_eq!(shrunk.removed, [drawer_id("mined", "notes", Some("notes.md"), 2)]);
    assert_eq!(vault.stats().expect("counts").records, 2);
    assert!(vault.verify(&mut |_| {}).expect("walks").ok);
    assert_eq!(vault.delete_source("notes.md").expect("deletes").len(), 2);
    assert!(vault.verify(&mut |_| {}).expect("walks").ok);
}

#[test]
fn a_source_that_became_empty_costs_only_what_its_own_surface_filed() {
    let home = Home::new();
    let vault = home.create(Level::Sealed);
    let batch = |added_by, room: &str, texts: &[&str]| SourceBatch {
        source: "talk.jsonl".into(),
        wing: "mined".into(),
        added_by,
        drawers: (0..)
            .zip(texts)
            .map(|(at, text)| NewDrawer {
                room: room.into(),
                added_by,
                ..from_source("talk.jsonl", at, text)
            })
            .collect(),
        total: Some(u32::try_from(texts.len()).expect("few")),
        expects: None,
    };
    let file = |batch| vault.file_source(batch, UNSCREENED).expect("files");
    file(batch(AddedBy::Miner, "mined", &["a file"]));
    file(batch(AddedBy::Sweeper, "swept", &["said", "answered"]));
    assert!(file(batch(AddedBy::ConvoMiner, "packed", &[])).removed.is_empty());
    assert_eq!(file(batch(AddedBy::Miner, "mined", &[])).removed.len(), 1);
    assert_eq!(vault.stats().expect("counts").records, 2, "the sweep's drawers stay");
    let mut foreign = batch(AddedBy::Miner, "mined", &["not of this surface"]);
    foreign.added_by = AddedBy::Sweeper;
    foreign.total = None;
    let refused = file(foreign).drawers.remove(0);
    assert!(matches!(refused, Err(Error::InvalidField { field: "added_by", .. })), "{refused:?}");
}

#[test]
fn one_refused_item_costs_its_neighbours_nothing() {
    let home = Home::new();
    let vault = home.create(Level::Sealed);
    let all = vec![note("inbox", "alpha"), note("inbox", &"x".repeat(100_001)), note("inbox", "omega")];
    let results = vault.save_many(all, UNSCREENED).expect("commits");
    assert!(results[0].is_ok() && results[2].is_ok());
    assert!(matches!(&results[1], Err(Error::InvalidField { field: "text", .. })));
    assert_eq!(vault.stats().expect("counts").records, 2);
}

#[test]
fn deduplication_keeps_the_oldest_and_the_days_of_the_others() {
    let home = Home::new();
    let vault = home.create(Level::Sealed);
    let keeper = save(&vault, "inbox", "the boiler code is 4711");
    let mut copy = note("inbox", "the boiler code is 4711\r\n");
    copy.content_date = Some("2025-05-05".into());
    vault.save(copy, UNSCREENED).expect("saves");
    let found = vault.dedup(false).expect("counts");
    assert_eq!((found.duplicate_groups, found.removed, found.applied), (1, 1, false));
    assert_eq!(vault.stats().expect("counts").records, 2);
    let done = vault.dedup(true).expect("applies");
    assert_eq!((done.removed, done.dates_kept, done.applied), (1, 1, true));
    let drawer = vault.get(keeper).expect("reads");
    assert_eq!(drawer.content, "the boiler code is 4711");
    assert_eq!(drawer.meta.occurrences[0].content_date.as_deref(), Some("2025-05-05"));
    assert!(vault.verify(&mut |_| {}).expect("walks").ok);
    assert_eq!(vault.search(&ask("boiler code")).expect("searches").hits.len(), 1);
}

#[test]
fn history_names_what_happened_newest_first() {
    let home = Home::new();
    let vault = home.create(Level::Sealed);
    let id = save(&vault, "inbox", "first");
    vault.update(id, "second", UNSCREENED).expect("updates");
    save(&vault, "inbox", "other");
    vault.delete(id).expect("deletes");
    let labels: Vec<String> =
        vault.history(None, 50, 0).expect("lists").into_iter().map(|r| r.record_id).collect();
    assert_eq!(labels.len(), 4);
    assert_eq!(labels[0], format!("del/{id}"));
    let own = vault.history(Some(&id.to_string()), 50, 0).expect("lists");
    assert_eq!(own.iter().map(|r| r.seq).collect::<Vec<_>>(), [4, 2, 1]);
}
