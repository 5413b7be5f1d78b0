use proptest::prelude::*;

use super::*;
use crate::quantize;

proptest! {
    #[test]
    fn the_scan_gives_the_cosine_of_every_slot(
        rows in prop::collection::vec(prop::collection::vec(-1.0f32..1.0, 12), 1..200),
        asked in prop::collection::vec(prop_oneof![2 => Just(0.0f32), 1 => -1.0f32..1.0], 12),
    ) {
        let mut vectors = Vectors::new(12);
        rows.iter().for_each(|row| vectors.push(&quantize(row)));
        let Some(probe) = vectors.probe(&asked) else { return Ok(()) };
        let (mut sums, mut cosines) = (Vec::new(), Vec::new());
        vectors.scan(0, &probe, &mut sums, &mut cosines);
        prop_assert_eq!(cosines.len(), rows.len());
        for (slot, row) in rows.iter().enumerate() {
            prop_assert_eq!(cosines[slot], vectors.cosine(slot as Slot, &probe));
            prop_assert_eq!(vectors.codes(slot as Slot), quantize(row).codes);
            let length = |vector: &[f32]| vector.iter().map(|value| value * value).sum::<f32>().sqrt();
            let dot: f32 = row.iter().zip(&asked).map(|(a, b)| a * b).sum();
            prop_assert!((cosines[slot] - dot / (length(row) * length(&asked))).abs() < 0.02);
        }
    }
}

#[test]
fn a_question_that_is_zero_not_finite_or_of_another_dimension_has_no_probe() {
    for vector in [&[0.0, 0.0][..], &[f32::NAN, 1.0], &[f32::INFINITY, 0.0], &[1.0], &[1.0, 0.0, 0.0], &[]] {
        assert_eq!(Probe::new(vector, 2), None);
    }
}

#[test]
fn the_largest_weights_and_codes_of_the_largest_dimension_do_not_overflow() {
    let dimension = crate::limits::DIMENSION_MAX;
    let mut vectors = Vectors::new(dimension);
    vectors.push(&Quantized { scale: 1.0, codes: vec![127; dimension] });
    let probe = vectors.probe(&vec![1.0; dimension]).unwrap();
    assert!((vectors.cosine(0, &probe) - 1.0).abs() < 1e-4);
}

#[test]
fn many_vectors_at_once_are_laid_out_as_one_after_another() {
    let vector = |n: usize| quantize(&[n as f32, 1.0, -((n % 7) as f32)]);
    let all: Vec<_> = (0..BLOCK + 200).map(vector).collect();
    for cuts in [vec![all.len()], vec![1, 63, 64, 65, 100, all.len()], vec![4_095, 4_097, all.len()]] {
        let (mut one, mut many) = (Vectors::new(3), Vectors::new(3));
        let mut from = 0;
        for to in cuts {
            many.push_all(&all[from..to].iter().collect::<Vec<_>>());
            all[from..to].iter().for_each(|vector| one.push(vector));
            from = to;
        }
        assert_eq!(one.inverse_norms, many.inverse_norms);
        for slot in 0..all.len() as Slot {
            assert_eq!(one.codes(slot), many.codes(slot));
        }
    }
}
