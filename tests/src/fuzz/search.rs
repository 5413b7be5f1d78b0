//! Bodies over the index: any query has an answer, and an image is an index or an error.

use std::sync::OnceLock;

use undercroft_search::embed::{Embedder, HashEmbedder};
use undercroft_search::{
    DocumentKey, DocumentMeta, Filter, FusionConfig, ImageLimits, Index, Page, Query, Ranked, analyse,
    quantize,
};

const TEXTS: [&str; 8] = [
    "The bilge pump draws three amperes and its fuse is under the stern seat.",
    "昨天我们在北京开会讨论了预算",
    "שָׁלוֹם לְכֻלָּם and a mixed line",
    "fn main() { println!(\"C++ pre-edit a/b\"); }",
    "Встреча с Ёлкой в пятницу",
    "We moved the databases to the second rack. We do not move them again.",
    "👩‍👩‍👧‍👦 family",
    "2026-03-05 port 7044",
];
/// An image of a few drawers is some tens of kilobytes.
const LIMITS: ImageLimits = ImageLimits { bytes: 1 << 22, documents: 10_000 };

fn index() -> &'static Index {
    static INDEX: OnceLock<Index> = OnceLock::new();
    INDEX.get_or_init(build)
}

fn build() -> Index {
    let embedder = HashEmbedder;
    let mut index = Index::new(embedder.dimension());
    for (n, text) in (0_u8..).zip(TEXTS) {
        let meta = DocumentMeta {
            key: DocumentKey::new([n; 16]),
            seq: u64::from(n) + 1,
            wing: format!("wing{}", n % 2),
            room: format!("room{}", n % 3),
            source: (n % 2 == 0).then(|| "source".to_owned()),
            chunk: u32::from(n),
            kind: (n % 3 == 0).then(|| "event".to_owned()),
            filed_at_micros: i64::from(n) * 1_000_000,
            content_day: None,
        };
        let vector = quantize(&embedder.embed(text).expect("an embedding"));
        index.insert(meta, analyse(text), vector).expect("a vector of its dimension");
    }
    index
}

fn ask(index: &Index, text: &str, filter: &Filter<'_>, page: &Page) -> Ranked {
    let query = Query {
        text,
        vector: Some(HashEmbedder.embed(text).expect("an embedding")),
        language: None,
        now_micros: 1_000_000_000,
        fusion: FusionConfig::default(),
    };
    index.search(&query, filter, page)
}

/// Any text gets an answer in order, within bounds, the same twice, and pages that tile.
pub fn query(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let filter = Filter::default();
    let whole = ask(index(), &text, &filter, &Page::first(TEXTS.len()));
    assert_eq!(whole, ask(index(), &text, &filter, &Page::first(TEXTS.len())));
    assert!(whole.hits.windows(2).all(|pair| pair[0].score >= pair[1].score), "out of order");
    assert!(whole.hits.iter().all(|hit| hit.score.is_finite() && (0.0..=1.0).contains(&hit.semantic)));
    let mut tiled = Vec::new();
    for offset in (0..TEXTS.len()).step_by(3) {
        tiled.extend(ask(index(), &text, &filter, &Page { limit: 3, offset, room_cap: None }).hits);
    }
    assert_eq!(tiled, whole.hits, "pages do not tile");
    let narrow = Filter { wing: Some("wing1"), ..Filter::default() };
    let narrowed = ask(index(), &text, &narrow, &Page::first(TEXTS.len()));
    assert!(narrowed.hits.iter().all(|hit| hit.key.as_bytes()[0] % 2 == 1), "a filter was not kept");
}

/// Bytes are an index that answers, or an error; an index that answers is written again.
pub fn index_image(bytes: &[u8]) {
    if let Ok(read) = Index::read_image(&mut &bytes[..], LIMITS) {
        assert!(read.len() <= LIMITS.documents);
        let mut again = Vec::new();
        read.write_image(&mut again).expect("written to memory");
        // An embedding of another width is not comparable; words are all that such an index is asked for.
        let query = Query {
            text: "pump 北京 databases",
            vector: None,
            language: None,
            now_micros: 0,
            fusion: FusionConfig::default(),
        };
        let _ = read.search(&query, &Filter::default(), &Page::first(10));
    }
}

/// The image of the bodies' index: a seed.
pub(super) fn image() -> Vec<u8> {
    let mut bytes = Vec::new();
    index().write_image(&mut bytes).expect("written to memory");
    bytes
}
