use crate::embed::{Embedder, HashEmbedder};
use crate::{
    DocumentKey, DocumentMeta, Filter, FusionConfig, Gate, ImageLimits, Index, InsertError, Page, Quantized,
    Query, Ranked, analyse, quantize,
};

const NOW: i64 = 1_700_000_000_000_000;
const DAY: i64 = 86_400_000_000;

fn index(texts: &[&str]) -> Index {
    let mut index = Index::new(384);
    for (number, text) in texts.iter().enumerate() {
        file(&mut index, number as u8, text, 0);
    }
    index
}

fn file(index: &mut Index, number: u8, text: &str, days: i64) {
    let meta = DocumentMeta {
        key: DocumentKey::new([number; 16]),
        seq: u64::from(number),
        wing: format!("wing{}", number % 2),
        room: format!("room{}", number % 3),
        source: None,
        chunk: 0,
        kind: number.is_multiple_of(2).then(|| "note".to_owned()),
        filed_at_micros: NOW - days * DAY,
        content_day: None,
    };
    index.insert(meta, analyse(text), quantize(&HashEmbedder.embed(text).unwrap())).unwrap();
}

fn ask(index: &Index, text: &str, filter: &Filter<'_>, page: &Page) -> Ranked {
    let fusion = FusionConfig { gate: Gate::Off, ..FusionConfig::default() };
    let vector = Some(HashEmbedder.embed(text).unwrap());
    index.search(&Query { text, vector, language: None, now_micros: NOW, fusion }, filter, page)
}

fn found(index: &Index, text: &str) -> Vec<u64> {
    ask(index, text, &Filter::default(), &Page::first(50)).hits.iter().map(|hit| hit.seq).collect()
}

#[test]
fn words_are_found_across_unicode_forms() {
    for (stored, asked) in [
        ("Café crème in Zürich", "cafe\u{301}"),
        ("Cafe\u{301} in Zu\u{308}rich", "Zürich"),
        ("我昨天去了北京开会", "北京"),
        ("明天的会议改到三点", "会议"),
        ("用Rust写的v2版本", "rust"),
        ("שָׁלוֹם עוֹלָם", "שלום"),
        ("كتاب محمد", "كِتَابُ"),
        ("Việt Nam", "viet"),
    ] {
        let index = index(&["something else entirely", stored]);
        assert_eq!(found(&index, asked), [1], "{asked}");
    }
}

#[test]
fn any_query_has_an_answer() {
    let index = index(&["a pre-edit of a/b in C++", "we don't go NEAR( it", "plain words"]);
    assert_eq!(found(&index, "pre-edit"), [0]);
    assert_eq!(found(&index, "don't"), [1]);
    assert_eq!(found(&index, "NEAR("), [1]);
    assert_eq!(found(&index, "a/b"), [0]);
    assert_eq!(found(&index, "C++"), [0]);
    for nothing in ["\"", "*", "   ", "", "🎉", "\u{0}"] {
        let answer = ask(&index, nothing, &Filter::default(), &Page::first(5));
        assert!(answer.hits.is_empty() && answer.exhausted && answer.total_admitted == 0, "{nothing:?}");
    }
    let long = "plain ".repeat(17_000);
    assert_eq!(found(&index, &long), [2]);
    assert!(found(&index, &"x".repeat(100_000)).is_empty());
    let many: String = (0..20_000).map(|number| format!("w{number} ")).collect();
    assert!(found(&index, &many).is_empty());
}

#[test]
fn filters_decide_who_competes_and_never_a_score() {
    let index = index(&["blue boat", "blue kite", "blue door", "blue lamp"]);
    let all = ask(&index, "blue", &Filter::default(), &Page::first(10));
    for (filter, expected) in [
        (Filter { wing: Some("wing1"), ..Filter::default() }, vec![1, 3]),
        (Filter { room: Some("room0"), ..Filter::default() }, vec![0, 3]),
        (Filter { excluded_wings: &["wing1"], ..Filter::default() }, vec![0, 2]),
        (Filter { wing: Some("wing1"), excluded_wings: &["wing1"], ..Filter::default() }, vec![1, 3]),
        (Filter { allowed_wings: Some(&["wing0"]), ..Filter::default() }, vec![0, 2]),
        (Filter { allowed_wings: Some(&[]), ..Filter::default() }, vec![]),
        (Filter { wing: Some("nowhere"), ..Filter::default() }, vec![]),
    ] {
        let mut some = ask(&index, "blue", &filter, &Page::first(10));
        assert!(some.hits.iter().all(|hit| all.hits.contains(hit)));
        some.hits.sort_by_key(|hit| hit.seq);
        assert_eq!(some.hits.iter().map(|hit| hit.seq).collect::<Vec<_>>(), expected, "{filter:?}");
        assert_eq!(some.unlabeled_excluded, None);
    }
    let notes = ask(&index, "blue", &Filter { kind: Some("note"), ..Filter::default() }, &Page::first(10));
    assert_eq!((notes.hits.len(), notes.unlabeled_excluded), (2, Some(2)));
}

#[test]
fn a_room_cap_lets_every_room_in_first() {
    let index = index(&["blue", "blue", "blue", "blue", "blue", "blue"]);
    let capped = ask(&index, "blue", &Filter::default(), &Page { limit: 6, offset: 0, room_cap: Some(1) });
    let rooms: Vec<u64> = capped.hits.iter().map(|hit| hit.seq % 3).collect();
    assert_eq!(rooms, [0, 1, 2, 0, 1, 2]);
    let none = ask(&index, "blue", &Filter::default(), &Page { limit: 6, offset: 0, room_cap: Some(0) });
    assert_eq!(none, ask(&index, "blue", &Filter::default(), &Page::first(6)));
}

#[test]
fn the_newer_of_equal_texts_comes_first_and_equal_ones_by_sequence() {
    let mut index = Index::new(384);
    for (number, days) in [(3, 30), (4, 0), (5, 30)] {
        file(&mut index, number, "blue boat", days);
    }
    assert_eq!(found(&index, "boat"), [4, 3, 5]);
    let hits = ask(&index, "boat", &Filter::default(), &Page::first(3)).hits;
    assert!((hits[0].score - hits[1].score - 0.05).abs() < 0.01, "half of a tenth in thirty days");
}

#[test]
fn a_replaced_or_removed_drawer_is_found_no_more() {
    let mut index = index(&["blue boat", "red kite"]);
    file(&mut index, 0, "green door", 0);
    assert_eq!((found(&index, "boat").len(), found(&index, "door")), (0, vec![0]));
    assert!(index.remove(&DocumentKey::new([1; 16])));
    assert!(!index.remove(&DocumentKey::new([1; 16])));
    assert_eq!((found(&index, "kite").len(), index.len(), index.wings()), (0, 1, vec!["wing0"]));
}

#[test]
fn many_replacements_do_not_grow_the_index() {
    let mut index = index(&[]);
    let mut peak = 0;
    for round in 0..3_000u32 {
        file(&mut index, (round % 5) as u8, &format!("round number{round} of many"), 0);
        if round == 600 {
            peak = index.memory_bytes();
        }
    }
    assert_eq!(index.len(), 5);
    assert!(index.memory_bytes() <= 2 * peak);
}

#[test]
fn a_vector_of_another_dimension_is_refused() {
    let meta = DocumentMeta {
        key: DocumentKey::new([9; 16]),
        seq: 9,
        wing: "w".into(),
        room: "r".into(),
        source: None,
        chunk: 0,
        kind: None,
        filed_at_micros: i64::MIN,
        content_day: None,
    };
    let vector = Quantized { scale: 1.0, codes: vec![1; 8] };
    let refused = Index::new(384).insert(meta, analyse("text"), vector);
    assert_eq!(refused, Err(InsertError::Dimension { expected: 384, found: 8 }));
}

#[test]
fn an_image_holds_nothing_of_removed_drawers() {
    let mut index = index(&["recognisable zanzibar", "kept"]);
    index.remove(&DocumentKey::new([0; 16]));
    let mut image = Vec::new();
    index.write_image(&mut image).unwrap();
    for gone in [&b"zanzibar"[..], b"recognisable", &[0; 16][..0]] {
        assert!(gone.is_empty() || !image.windows(gone.len()).any(|window| window == gone));
    }
    let read = Index::read_image(&mut &*image, ImageLimits::default()).unwrap();
    assert_eq!((read.len(), found(&read, "kept")), (1, vec![1]));
}
