use proptest::prelude::*;

use super::*;
use crate::embed::{Embedder, HashEmbedder};
use crate::query::{FusionConfig, FusionMode, Gate};
use crate::{Index, analyse, quantize};

/// Words with forms, slips and shared beginnings, in scripts that delimit words and that attach them.
const WORDS: [&str; 32] = [
    "move",
    "moved",
    "moving",
    "went",
    "go",
    "house",
    "houses",
    "hause",
    "the",
    "of",
    "and",
    "kubernetes",
    "kubernets",
    "database",
    "databases",
    "vectordatabase",
    "to",
    "is",
    "und",
    "der",
    "ist",
    "北京",
    "我昨天去了北京",
    "会议",
    "مدرسه",
    "المدرسه",
    "привет",
    "приват",
    "2026",
    "C",
    "don't",
    "Ana's",
];

#[derive(Clone, Debug)]
struct Filing {
    key: u8,
    words: Vec<(usize, bool)>,
    wing: u8,
    room: u8,
    source: Option<u8>,
    chunk: u32,
    kind: Option<u8>,
    age: i64,
}

#[derive(Clone, Debug)]
enum Change {
    File(Filing),
    Remove(u8),
}

fn filing() -> impl Strategy<Value = Filing> {
    let words = prop::collection::vec((0..WORDS.len(), prop::bool::weighted(0.15)), 0..14);
    let place = (0u8..2, 0u8..3, prop::option::of(0u8..2), 0u32..3, prop::option::of(0u8..2));
    (0u8..24, words, place, 0i64..200).prop_map(|(key, words, (wing, room, source, chunk, kind), age)| {
        Filing { key, words, wing, room, source, chunk, kind, age }
    })
}

fn changes() -> impl Strategy<Value = Vec<Change>> {
    let change = prop_oneof![4 => filing().prop_map(Change::File), 1 => (0u8..24).prop_map(Change::Remove)];
    prop::collection::vec(change, 1..40)
}

fn key(number: u8) -> DocumentKey {
    DocumentKey::new([number; 16])
}

fn document(filing: &Filing) -> (DocumentMeta, Analysed, Quantized) {
    let words =
        filing.words.iter().map(|(word, ends)| format!("{}{}", WORDS[*word], if *ends { "\n" } else { " " }));
    let text: String = words.collect();
    let meta = DocumentMeta {
        key: key(filing.key),
        seq: u64::from(filing.key),
        wing: format!("wing{}", filing.wing),
        room: format!("room{}", filing.room),
        source: filing.source.map(|source| format!("source{source}")),
        chunk: filing.chunk,
        kind: filing.kind.map(|kind| format!("kind{kind}")),
        filed_at_micros: 1_700_000_000_000_000 - filing.age * 86_400_000_000,
        content_day: None,
    };
    (meta, analyse(&text), quantize(&HashEmbedder.embed(&text).unwrap()))
}

/// Numbers that give every kind of evidence a weight.
fn everything() -> Ranking {
    Ranking {
        stopword: 0.4,
        line: 0.7,
        neighbour: 0.4,
        room: 0.2,
        feedback: 0.5,
        saturation: 3.0,
        ..Ranking::default()
    }
}

/// Numbers that leave Okapi's evidence alone.
fn plain() -> Ranking {
    Ranking {
        stopword: 1.0,
        line: 0.0,
        neighbour: 0.0,
        room: 0.0,
        feedback: 0.0,
        saturation: 1.0,
        ..Ranking::default()
    }
}

fn pair(changes: &[Change], ranking: Ranking) -> (Index, Exact) {
    let (mut index, mut exact) = (Index::with_ranking(384, ranking), Exact::new(ranking));
    for change in changes {
        match change {
            Change::File(filing) => {
                let (meta, text, vector) = document(filing);
                index.insert(meta.clone(), text.clone(), vector.clone()).unwrap();
                exact.insert(meta, text, vector);
            }
            Change::Remove(number) => assert_eq!(index.remove(&key(*number)), exact.remove(&key(*number))),
        }
    }
    (index, exact)
}

fn question(words: &[usize], mode: FusionMode, gate: Gate) -> (String, FusionConfig) {
    let text = words.iter().map(|word| WORDS[*word]).collect::<Vec<_>>().join(" ");
    (text, FusionConfig { mode, gate, ..FusionConfig::default() })
}

fn query<'a>(text: &'a str, fusion: FusionConfig) -> Query<'a> {
    let vector = Some(HashEmbedder.embed(text).unwrap());
    Query { text, vector, language: None, now_micros: 1_700_000_000_000_000, fusion }
}

fn same(found: &Ranked, expected: &Ranked) -> Result<(), TestCaseError> {
    prop_assert_eq!(found, expected);
    Ok(())
}

fn pages() -> impl Strategy<Value = Page> {
    (0usize..12, 0usize..6, prop::option::of(0usize..3)).prop_map(|(limit, offset, room_cap)| Page {
        limit,
        offset,
        room_cap,
    })
}

fn modes() -> impl Strategy<Value = (FusionMode, Gate)> {
    let mode = prop_oneof![3 => Just(FusionMode::Bm25), 1 => Just(FusionMode::Legacy)];
    (mode, prop_oneof![Just(Gate::Off), Just(Gate::At(0.56))])
}

const FILTERS: [Filter<'static>; 7] = [
    Filter { wing: None, room: None, kind: None, excluded_wings: &[], allowed_wings: None },
    Filter { wing: Some("wing0"), room: None, kind: None, excluded_wings: &[], allowed_wings: None },
    Filter {
        wing: Some("wing1"),
        room: Some("room1"),
        kind: None,
        excluded_wings: &["wing1"],
        allowed_wings: None,
    },
    Filter {
        wing: None,
        room: Some("room0"),
        kind: Some("kind0"),
        excluded_wings: &["wing1"],
        allowed_wings: None,
    },
    Filter {
        wing: None,
        room: None,
        kind: Some("kind1"),
        excluded_wings: &[],
        allowed_wings: Some(&["wing0"]),
    },
    Filter { wing: None, room: None, kind: Some("unknown"), excluded_wings: &[], allowed_wings: Some(&[]) },
    Filter { wing: Some("unknown"), room: None, kind: None, excluded_wings: &[], allowed_wings: None },
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 192, ..ProptestConfig::default() })]

    #[test]
    fn the_index_finds_what_looking_at_every_drawer_finds(
        changes in changes(),
        words in prop::collection::vec(0..WORDS.len(), 0..6),
        (mode, gate) in modes(),
        page in pages(),
        filter in 0..FILTERS.len(),
        tuned in any::<bool>(),
    ) {
        let (index, exact) = pair(&changes, if tuned { everything() } else { plain() });
        let (text, fusion) = question(&words, mode, gate);
        let query = query(&text, fusion);
        let filter = &FILTERS[filter];
        same(&index.search(&query, filter, &page), &exact.search(&query, filter, &page))?;
        prop_assert_eq!(index.len(), exact.drawers.len());
    }

    #[test]
    fn the_order_of_insertion_an_image_and_a_rebuild_change_nothing(
        changes in changes(),
        words in prop::collection::vec(0..WORDS.len(), 1..6),
        rotation in 0usize..24,
    ) {
        let (index, exact) = pair(&changes, everything());
        let (text, fusion) = question(&words, FusionMode::Bm25, Gate::At(0.5));
        let (query, filter, page) = (query(&text, fusion), Filter::default(), Page::first(100));
        let expected = index.search(&query, &filter, &page);
        let mut rotated = Index::with_ranking(384, everything());
        let mut drawers = exact.drawers.clone();
        if !drawers.is_empty() {
            let middle = rotation % drawers.len();
            drawers.rotate_left(middle);
        }
        for Drawer { meta, text, vector } in drawers {
            rotated.insert(meta, text, vector).unwrap();
        }
        same(&rotated.search(&query, &filter, &page), &expected)?;
        same(&index.compacted().search(&query, &filter, &page), &expected)?;
        let mut image = Vec::new();
        index.write_image(&mut image).unwrap();
        let mut read = Index::read_image(&mut &*image, crate::ImageLimits::default()).unwrap();
        read.ranking = everything();
        same(&read.search(&query, &filter, &page), &expected)?;
    }

    #[test]
    fn pages_are_the_slices_of_one_deeper_call(
        changes in changes(),
        words in prop::collection::vec(0..WORDS.len(), 1..6),
        step in 1usize..5,
        room_cap in prop::option::of(0usize..3),
    ) {
        let (index, _) = pair(&changes, everything());
        let (text, fusion) = question(&words, FusionMode::Bm25, Gate::At(0.5));
        let query = query(&text, fusion);
        let page = |offset, limit| index.search(&query, &Filter::default(), &Page { limit, offset, room_cap });
        let deep = page(0, 100);
        let mut joined = Vec::new();
        loop {
            let next = page(joined.len(), step);
            prop_assert_eq!(next.total_admitted, deep.total_admitted);
            joined.extend(next.hits);
            if next.exhausted {
                break;
            }
        }
        prop_assert_eq!(joined, deep.hits);
    }
}

#[test]
fn several_blocks_frequent_words_and_removed_drawers_are_ranked_as_by_the_definition() {
    let (mut index, mut exact) = (Index::with_ranking(384, everything()), Exact::new(everything()));
    let mut state = 7u64;
    let mut random = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    for number in 0..5_000u64 {
        // Squaring makes the first words frequent enough for columns.
        let words =
            (0..3 + random(6)).map(|_| WORDS[random(WORDS.len()) * random(WORDS.len()) / WORDS.len()]);
        let text = words.collect::<Vec<_>>().join(" ");
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&number.to_le_bytes());
        let meta = DocumentMeta {
            key: DocumentKey::new(bytes),
            seq: number,
            wing: "wing".into(),
            room: format!("room{}", random(900)),
            source: None,
            chunk: 0,
            kind: None,
            filed_at_micros: 1_690_000_000_000_000 + number as i64 * 1_000_000,
            content_day: None,
        };
        let (text, vector) = (analyse(&text), quantize(&HashEmbedder.embed(&text).unwrap()));
        if number % 7 == 0 {
            index.insert(meta.clone(), text, vector).unwrap();
            index.remove(&meta.key);
        } else {
            index.insert(meta.clone(), text.clone(), vector.clone()).unwrap();
            exact.insert(meta, text, vector);
        }
    }
    for text in ["moved house", "the databases of kubernetes", "北京 会议"] {
        for page in [Page::first(10), Page { limit: 20, offset: 30, room_cap: None }] {
            let query = query(text, FusionConfig::default());
            assert_eq!(
                index.search(&query, &Filter::default(), &page),
                exact.search(&query, &Filter::default(), &page),
                "{text}"
            );
        }
    }
}
