use proptest::prelude::*;

use super::codec::ImageLimits;
use crate::embed::{Embedder, HashEmbedder};
use crate::error::{ErrorClass, ImageError};
use crate::{DocumentKey, DocumentMeta, Filter, FusionConfig, Index, Page, Query, analyse, quantize};

fn meta(number: u8) -> DocumentMeta {
    DocumentMeta {
        key: DocumentKey::new([number; 16]),
        seq: u64::from(number),
        wing: "wing".into(),
        room: format!("room{}", number % 4),
        source: number.is_multiple_of(2).then(|| "source".to_owned()),
        chunk: u32::from(number),
        kind: None,
        filed_at_micros: 1_700_000_000_000_000,
        content_day: Some(3),
    }
}

/// Enough drawers that one word has a column and another a list of varints.
fn image() -> Vec<u8> {
    let mut index = Index::new(24);
    for number in 0..90 {
        let text = format!("common number{} 北京\nline مدرسه word{}", number % 30, number % 7);
        let vector: Vec<f32> = HashEmbedder.embed(&text).unwrap()[..24].to_vec();
        index.insert(meta(number), analyse(&text), quantize(&vector)).unwrap();
    }
    let mut image = Vec::new();
    index.write_image(&mut image).unwrap();
    image
}

/// Searches and changes an index in every way: whatever was read must bear it.
fn exercise(mut index: Index) {
    let vector = Some(vec![0.5; index.dimension()]);
    for text in ["common number3 北京 مدرسه", "numbers"] {
        let query = Query {
            text,
            vector: vector.clone(),
            language: None,
            now_micros: 0,
            fusion: FusionConfig::default(),
        };
        let _ = index.search(&query, &Filter::default(), &Page { limit: 5, offset: 1, room_cap: Some(1) });
    }
    let vector = quantize(&vec![0.1; index.dimension()]);
    for number in [3, 200] {
        let _ = index.insert(meta(number), analyse("common words"), vector.clone());
        let _ = index.remove(&DocumentKey::new([number.wrapping_add(1); 16]));
    }
    let mut out = Vec::new();
    index.write_image(&mut out).unwrap();
}

#[test]
fn an_image_reads_back_and_writes_the_same_bytes() {
    let image = image();
    let index = Index::read_image(&mut &*image, ImageLimits::default()).unwrap();
    let mut again = Vec::new();
    index.write_image(&mut again).unwrap();
    assert_eq!(again, image);
    assert_eq!(index.len(), 90);
    exercise(index);
}

#[test]
fn every_truncation_is_refused() {
    let image = image();
    for length in (0..image.len()).step_by(7) {
        assert!(Index::read_image(&mut &image[..length], ImageLimits::default()).is_err(), "{length}");
    }
}

#[test]
fn foreign_bytes_and_versions_are_refused_as_such() {
    let mut image = image();
    image[8] = 9;
    let refused = Index::read_image(&mut &*image, ImageLimits::default()).err().unwrap();
    assert!(matches!(refused, ImageError::Version) && refused.class() == ErrorClass::Integrity);
    assert!(matches!(
        Index::read_image(&mut &[7u8; 64][..], ImageLimits::default()),
        Err(ImageError::Version)
    ));
}

#[test]
fn lengths_beyond_the_limits_are_refused_before_they_are_read() {
    let image = image();
    for limits in [
        ImageLimits { bytes: 500, ..ImageLimits::default() },
        ImageLimits { documents: 89, ..ImageLimits::default() },
    ] {
        assert!(matches!(Index::read_image(&mut &*image, limits), Err(ImageError::TooLarge { .. })));
    }
    let mut claims = image[..16].to_vec();
    claims.extend(u64::MAX.to_le_bytes());
    assert!(matches!(
        Index::read_image(&mut &*claims, ImageLimits::default()),
        Err(ImageError::TooLarge { .. })
    ));
    // A claim within the limit that the input does not hold allocates next to nothing.
    let mut claims = image[..16].to_vec();
    claims.extend((1u64 << 33).to_le_bytes());
    assert!(matches!(
        Index::read_image(&mut &*claims, ImageLimits::default()),
        Err(ImageError::Corrupt { .. })
    ));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn changed_bytes_are_refused_or_bear_every_use(changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4)) {
        let mut image = image();
        for (at, byte) in changes {
            let at = at.index(image.len());
            image[at] = byte;
        }
        let limits = ImageLimits { bytes: 1 << 24, documents: 1_000 };
        if let Ok(index) = Index::read_image(&mut &*image, limits) {
            exercise(index);
        }
    }

    #[test]
    fn any_bytes_are_refused(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let mut image = image()[..16].to_vec();
        image.extend(bytes);
        prop_assert!(Index::read_image(&mut &*image, ImageLimits::default()).is_err());
    }
}
