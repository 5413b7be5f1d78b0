//! What is filed from a source: no surface takes another's place, nobody builds on what he has not seen, what was there is
//! remembered, and a deduplication tells the truth and takes no text apart.

mod support;

use support::{Home, UNSCREENED, from_source, note, save};
use undercroft_crypto::Level;
use undercroft_vault::{
    AddedBy, DrawerId, Error, ErrorClass, NewDrawer, Origin, Past, SourceBatch, SourceState, Vault,
    drawer_id, limits,
};

fn batch(texts: &[&str], expects: Option<SourceState>) -> SourceBatch {
    SourceBatch {
        source: "notes.md".into(),
        wing: "mined".into(),
        added_by: AddedBy::Miner,
        drawers: (0..).zip(texts).map(|(at, text)| from_source("notes.md", at, text)).collect(),
        total: None,
        expects,
    }
}

fn id(chunk: u32) -> DrawerId {
    drawer_id("mined", "notes", Some("notes.md"), chunk)
}

fn words(vault: &Vault) -> Vec<String> {
    let filed = vault.filed_from("notes.md").expect("reads");
    filed.drawers.into_iter().map(|drawer| drawer.content).collect()
}

#[test]
fn what_one_surface_filed_another_does_not_replace() {
    let home = Home::new();
    let vault = home.create(Level::Sealed);
    vault.file_source(batch(&["a file"], None), UNSCREENED).expect("files");
    let swept = NewDrawer { added_by: AddedBy::Sweeper, ..from_source("notes.md", 0, "a message") };
    let refused = vault.save(swept.clone(), UNSCREENED).expect_err("another surface");
    assert!(matches!(&refused, Error::OtherSurface { by: "miner", wanted: "sweeper", .. }), "{refused}");
    assert_eq!(refused.class(), ErrorClass::Conflict);
    // Its neighbours in a batch are filed.
    let beside = NewDrawer { added_by: AddedBy::Sweeper, ..from_source("notes.md", 7, "another message") };
    let both = SourceBatch { added_by: AddedBy::Sweeper, drawers: vec![swept, beside], ..batch(&[], None) };
    let outcome = vault.file_source(both, UNSCREENED).expect("files the other");
    assert!(outcome.drawers[0].is_err() && outcome.drawers[1].as_ref().is_ok_and(|saved| saved.created));
    assert_eq!(words(&vault), ["a file", "another message"]);
    let surfaces = vault.surfaces_of("notes.md", "mined", "notes").expect("reads");
    assert_eq!(surfaces.into_iter().collect::<Vec<_>>(), [AddedBy::Miner, AddedBy::Sweeper]);
    assert!(vault.surfaces_of("notes.md", "mined", "elsewhere").expect("reads").is_empty());
    assert!(vault.verify(&mut |_| {}).expect("walks").ok);
}

#[test]
fn a_batch_that_builds_on_what_is_no_longer_so_files_nothing() {
    let home = Home::new();
    let vault = home.create(Level::Sealed);
    let empty = vault.filed_from("notes.md").expect("reads").state;
    let first = vault.file_source(batch(&["one", "two"], Some(empty)), UNSCREENED).expect("files");
    let state = vault.filed_from("notes.md").expect("reads").state;
    assert_eq!(first.state, Some(state), "the outcome says what is there now");
    let stale = vault.file_source(batch(&["other", "words"], Some(empty)), UNSCREENED).expect_err("stale");
    assert!(matches!(&stale, Error::SourceChanged(source) if source == "notes.md"), "{stale}");
    vault.update(id(0), "by hand", UNSCREENED).expect("updates");
    assert!(vault.file_source(batch(&["three"], Some(state)), UNSCREENED).is_err(), "one was changed");
    let state = vault.filed_from("notes.md").expect("reads").state;
    vault.delete(id(1)).expect("deletes");
    assert!(vault.file_source(batch(&["three"], Some(state)), UNSCREENED).is_err(), "one was destroyed");
    assert_eq!(words(&vault), ["by hand"]);
}

#[test]
fn the_chain_remembers_what_was_ever_filed_under_an_id() {
    let home = Home::new();
    let vault = home.create(Level::Sealed);
    vault.file_source(batch(&["one", "two"], None), UNSCREENED).expect("files");
    vault.delete(id(1)).expect("deletes");
    let pasts = vault.pasts(&[id(0), id(1), id(2)]).expect("looks");
    assert_eq!(pasts, [Past::There, Past::Gone, Past::Never]);
    home.sql().execute("DELETE FROM drawers", []).expect("removes a row past the engine");
    let verdict = vault.pasts(&[id(0)]).expect_err("the chain says that it is there");
    assert_eq!(verdict.class(), ErrorClass::Integrity);
}

#[test]
fn words_that_were_changed_by_hand_are_told_when_the_source_takes_their_place() {
    let home = Home::new();
    let vault = home.create(Level::Sealed);
    let file = |texts: &[&str]| {
        let outcome = vault.file_source(batch(texts, None), UNSCREENED).expect("files");
        outcome.drawers.into_iter().map(|saved| saved.expect("is kept").edited).collect::<Vec<_>>()
    };
    assert_eq!(file(&["one", "two"]), [false, false]);
    assert_eq!(file(&["1", "two"]), [false, false], "the source itself changed");
    vault.update(id(1), "by hand", UNSCREENED).expect("updates");
    assert_eq!(file(&["1", "two"]), [false, true]);
    assert_eq!(file(&["1", "two"]), [false, false]);
}

#[test]
fn pieces_of_a_longer_text_survive_a_deduplication() {
    let home = Home::new();
    let vault = home.create(Level::Sealed);
    let in_file = |source: &str, texts: &[&str]| SourceBatch {
        source: source.into(),
        drawers: (0..).zip(texts).map(|(at, text)| from_source(source, at, text)).collect(),
        ..batch(&[], None)
    };
    let message = |line: u32, part: u32, text: &str| {
        let origin = Origin {
            source: "talk.jsonl".into(),
            chunk: line | part << 24,
            line_start: Some(line),
            line_end: Some(line),
        };
        NewDrawer::from_source("mined", "talk", text, AddedBy::Sweeper, origin)
    };
    for file in [in_file("a.md", &["licence", "own a"]), in_file("b.md", &["own b", "licence"])] {
        vault.file_source(file, UNSCREENED).expect("files");
    }
    // Two files of one drawer each, and two messages, may be copies; the parts of one message may not.
    for file in [in_file("c.md", &["short"]), in_file("d.md", &["short"])] {
        vault.file_source(file, UNSCREENED).expect("files");
    }
    for new in [message(1, 0, "yes"), message(2, 0, "yes"), message(3, 0, "part"), message(3, 1, "part")] {
        vault.save(new, UNSCREENED).expect("saves");
    }
    let found = vault.dedup(false).expect("counts");
    assert_eq!((found.duplicate_groups, found.removed, found.pieces_left), (2, 2, 4));
    let done = vault.dedup(true).expect("applies");
    assert_eq!((done.removed, done.pieces_left), (2, 4));
    let joined = |source: &str| {
        let filed = vault.filed_from(source).expect("reads").drawers;
        filed.iter().map(|drawer| drawer.content.as_str()).collect::<Vec<_>>().join("|")
    };
    assert_eq!((joined("a.md").as_str(), joined("b.md").as_str()), ("licence|own a", "own b|licence"));
    assert_eq!(joined("talk.jsonl"), "yes|part|part");
    assert!(vault.verify(&mut |_| {}).expect("walks").ok);
}

#[test]
fn a_deduplication_counts_the_days_that_it_keeps_and_those_that_it_cannot() {
    let home = Home::new();
    let vault = home.create(Level::HmacOnly);
    let most = limits::MAX_OCCURRENCES;
    let copies = |from: usize, count: usize| -> Vec<NewDrawer> {
        let at = |n: usize| format!("20{:02}-{:02}-{:02}", n / 336, n / 28 % 12 + 1, n % 28 + 1);
        (from..from + count).map(|n| NewDrawer { content_date: Some(at(n)), ..note("inbox", "ok") }).collect()
    };
    vault.save_many(copies(0, most + 300), UNSCREENED).expect("commits");
    let found = vault.dedup(false).expect("counts");
    assert_eq!((found.removed, found.dates_kept, found.dates_lost), (1_299, 1_000, 299));
    let done = vault.dedup(true).expect("applies");
    assert_eq!((done.removed, done.dates_kept, done.dates_lost), (1_299, 1_000, 299));
    vault.save_many(copies(most + 300, 5), UNSCREENED).expect("commits");
    let more = vault.dedup(true).expect("applies");
    assert_eq!((more.removed, more.dates_kept, more.dates_lost), (5, 5, 5));
    let keeper = save(&vault, "inbox", "ok");
    assert_eq!(vault.dedup(false).expect("counts").removed, 1, "{keeper}");
}
