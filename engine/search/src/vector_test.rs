use proptest::prelude::*;

use super::*;

#[test]
fn the_zero_vector_keeps_scale_zero_and_is_similar_to_nothing() {
    let zero = quantize(&[0.0; 4]);
    assert_eq!(zero, Quantized { scale: 0.0, codes: vec![0; 4] });
    assert_eq!(zero.inverse_norm(), 0.0);
}

#[test]
fn components_that_are_not_finite_count_as_zero() {
    let vector = quantize(&[f32::NAN, f32::INFINITY, 1.0, f32::NEG_INFINITY]);
    assert_eq!(vector.codes, [0, 0, 127, 0]);
}

#[test]
fn a_vector_too_small_to_divide_becomes_zero() {
    assert_eq!(quantize(&[f32::MIN_POSITIVE / 2.0, 0.0]).codes, [0, 0]);
}

#[test]
fn the_layout_is_the_documented_one() {
    let vector = Quantized { scale: 0.5, codes: vec![1, -1, 127] };
    assert_eq!(vector.to_bytes(), [0x02, b'Q', 0, 0, 0, 0x3f, 1, 0xff, 127]);
}

#[test]
fn short_foreign_and_impossible_bytes_are_refused_by_name() {
    let good = quantize(&[0.5, -1.0]).to_bytes();
    assert!(matches!(Quantized::from_bytes(&[]), Err(VectorError::Truncated { bytes: 0 })));
    assert!(matches!(Quantized::from_bytes(&good[..5]), Err(VectorError::Truncated { bytes: 5 })));
    assert!(matches!(Quantized::from_bytes(&good[..6]), Err(VectorError::Dimension { found: 0 })));
    let mut version = good.clone();
    version[0] = 1;
    assert!(matches!(Quantized::from_bytes(&version), Err(VectorError::Format { version: 1, .. })));
    let mut kind = good.clone();
    kind[1] = b'P';
    assert!(matches!(Quantized::from_bytes(&kind), Err(VectorError::Format { kind: b'P', .. })));
    for scale in [f32::NAN, f32::INFINITY, -1.0, f32::MAX] {
        let mut bytes = good.clone();
        bytes[2..6].copy_from_slice(&scale.to_le_bytes());
        assert!(matches!(Quantized::from_bytes(&bytes), Err(VectorError::Scale)));
    }
    let mut code = good.clone();
    code[6] = 0x80;
    assert!(matches!(Quantized::from_bytes(&code), Err(VectorError::Code)));
    let mut long = good;
    long.resize(HEADER + DIMENSION_MAX + 1, 0);
    assert!(matches!(Quantized::from_bytes(&long), Err(VectorError::Dimension { .. })));
}

proptest! {
    #[test]
    fn encoding_round_trips(vector in prop::collection::vec(-10.0f32..10.0, 1..64)) {
        let quantized = quantize(&vector);
        prop_assert_eq!(&Quantized::from_bytes(&quantized.to_bytes()).unwrap(), &quantized);
        for (value, restored) in vector.iter().zip(quantized.restore()) {
            prop_assert!((value - restored).abs() <= quantized.scale * 0.5001);
        }
    }

    #[test]
    fn no_bytes_make_the_decoder_panic(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
        if let Ok(vector) = Quantized::from_bytes(&bytes) {
            prop_assert_eq!(vector.to_bytes(), bytes);
        }
    }
}
