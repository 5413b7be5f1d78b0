use proptest::prelude::*;

use super::*;

fn embed(text: &str) -> Vec<f32> {
    HashEmbedder.embed(text).unwrap()
}

/// The recipe, written down without a cache and without buffers.
fn by_definition(text: &str) -> Vec<f32> {
    let mut sums = vec![0i32; DIMENSION];
    let mut add = |feature: String| {
        let place = place(feature.as_bytes());
        sums[place.bucket as usize] += if place.negative { -1 } else { 1 };
    };
    let tokens = undercroft_text::tokens(text);
    tokens.iter().for_each(|token| add(format!("u:{}", token.text)));
    let words: Vec<_> = tokens.iter().filter(|token| token.kind == TokenKind::Word).collect();
    words.windows(2).for_each(|pair| add(format!("b:{} {}", pair[0].text, pair[1].text)));
    for word in words {
        let letters: Vec<char> = word.text.chars().collect();
        if letters.len() > 3 {
            letters.windows(3).for_each(|abc| add(format!("t:{}", abc.iter().collect::<String>())));
        }
    }
    let length = sums.iter().map(|sum| f64::from(*sum).powi(2)).sum::<f64>().sqrt();
    sums.iter().map(|sum| if length == 0.0 { 0.0 } else { (f64::from(*sum) / length) as f32 }).collect()
}

#[test]
fn a_text_without_a_word_is_the_zero_vector() {
    for text in ["", "   ", "\"", "*", "🎉"] {
        assert!(embed(text).iter().all(|value| *value == 0.0), "{text:?}");
    }
}

#[test]
fn a_place_is_read_from_the_digest_as_documented() {
    let digest = Sha256::digest(b"u:cat");
    let expected = u32::from_le_bytes(digest[..4].try_into().unwrap()) % 384;
    assert_eq!(place(b"u:cat"), Place { bucket: expected as u16, negative: digest[4] & 1 == 1 });
}

#[test]
fn vectors_have_the_declared_dimension_and_length_one() {
    let vector = embed("The quick brown fox jumps over the lazy dog");
    assert_eq!(vector.len(), HashEmbedder.dimension());
    let length: f32 = vector.iter().map(|value| value * value).sum();
    assert!((length - 1.0).abs() < 1e-5);
}

#[test]
fn both_unicode_forms_and_any_case_give_one_vector() {
    assert_eq!(embed("Café Zürich"), embed("cafe\u{301} ZU\u{308}RICH"));
}

proptest! {
    #[test]
    fn the_cached_embedding_is_the_one_by_definition(text in "[a-fé漢字ا ]{0,60}", again in any::<String>()) {
        prop_assert_eq!(embed(&text), by_definition(&text));
        prop_assert_eq!(embed(&again), by_definition(&again));
        prop_assert_eq!(embed(&text), by_definition(&text));
    }
}
