//! Metadata is shown in its declared order, absent fields are left out, and stored records read back.

use super::id::drawer_id;
use super::provenance::{AddedBy, Kind};
use super::record::{DrawerMeta, Occurrence, StoredMeta};

fn meta() -> DrawerMeta {
    DrawerMeta {
        wing: "w".into(),
        room: "r".into(),
        source_file: None,
        chunk_index: 3,
        added_by: AddedBy::ConvoMiner,
        filed_at: "2026-01-02T03:04:05Z".into(),
        normalize_version: 3,
        id_recipe: "x".into(),
        line_start: None,
        line_end: None,
        content_date: Some("2025-12-31".into()),
        kind: Some(Kind::Decision),
        supersedes: None,
        agent: None,
        channel: None,
        session: None,
        occurrences: Vec::new(),
    }
}

#[test]
fn absent_fields_are_left_out_and_words_are_the_published_ones() {
    let text = serde_json::to_string(&meta()).expect("serialises");
    assert_eq!(
        text,
        r#"{"wing":"w","room":"r","chunk_index":3,"added_by":"convo-miner","filed_at":"2026-01-02T03:04:05Z","normalize_version":3,"id_recipe":"x","content_date":"2025-12-31","kind":"decision"}"#
    );
}

#[test]
fn stored_records_read_back() {
    let id = drawer_id("w", "r", None, 3);
    let stored = StoredMeta { id, meta: meta(), updated_at: 9, filed_micros: 8, receipt: None };
    let bytes = serde_json::to_vec(&stored).expect("serialises");
    assert_eq!(serde_json::from_slice::<StoredMeta>(&bytes).expect("reads back"), stored);
}

#[test]
fn all_occurrences_are_one_for_each_day() {
    let mut meta = meta();
    let day = |date: Option<&str>, at: &str| Occurrence {
        content_date: date.map(str::to_owned),
        filed_at: at.into(),
    };
    meta.occurrences = vec![
        day(Some("2025-12-31"), "2026-02-01T00:00:00Z"),
        day(None, "2026-03-01T00:00:00Z"),
        day(Some("2025-01-01"), "2026-04-01T00:00:00Z"),
    ];
    let dates: Vec<Option<String>> = meta.all_occurrences().into_iter().map(|o| o.content_date).collect();
    assert_eq!(dates, [None, Some("2025-01-01".to_owned()), Some("2025-12-31".to_owned())]);
}
