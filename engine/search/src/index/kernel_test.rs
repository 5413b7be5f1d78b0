use proptest::prelude::*;

use super::*;

proptest! {
    #[test]
    fn the_scan_in_wide_registers_gives_the_sums_of_the_plain_one(
        columns in prop::collection::vec(prop::collection::vec(-127i8..=127, 192), 1..12),
        weights in prop::collection::vec((0u32..12, any::<i16>()), 0..12),
    ) {
        let weights: Vec<_> = weights.into_iter().filter(|(at, _)| (*at as usize) < columns.len()).collect();
        let codes = columns.concat();
        let (mut wide, mut plain) = (vec![0; 192], vec![0; 192]);
        accumulate(&codes, 192, &weights, &mut wide);
        accumulate_body(&codes, 192, &weights, &mut plain);
        let by_definition = |row: usize| -> i32 {
            weights.iter().map(|(at, weight)| i32::from(columns[*at as usize][row]) * i32::from(*weight)).sum()
        };
        prop_assert_eq!(&plain, &(0..192).map(by_definition).collect::<Vec<_>>());
        prop_assert_eq!(wide, plain);
    }

    #[test]
    fn evidence_in_wide_registers_is_bit_for_bit_the_plain_one(
        rows in prop::collection::vec((any::<u8>(), 0u8..4, 0.1f32..9.0, 0.0f32..9.0), 1..200),
        weight in 0.0f32..12.0,
        admits in 0u8..2,
    ) {
        let ranking = Ranking::default();
        let (counts, roles): (Vec<u8>, Vec<u8>) = rows.iter().map(|row| (row.0, row.1)).unzip();
        let (norms, base): (Vec<f32>, Vec<f32>) = rows.iter().map(|row| (row.2, row.3)).unzip();
        let word = Word { weight, admits, ranking: &ranking, counts: &counts, roles: &roles, norms: &norms };
        let run = |add: fn(&Word<'_>, Sums<'_>)| {
            let (mut base, mut cover, mut admits) = (base.clone(), vec![0.0; rows.len()], vec![0; rows.len()]);
            add(&word, Sums { base: &mut base, cover: &mut cover, admits: &mut admits });
            (base, cover, admits)
        };
        prop_assert_eq!(run(add_word), run(add_word_body));
    }

    #[test]
    fn fusion_in_wide_registers_is_bit_for_bit_the_plain_one(
        rows in prop::collection::vec((-1.0f32..1.0, 0.0f32..40.0, 0.0f32..9.0, 0.0f64..2.0, any::<u8>()), 1..200),
        half in 0.0f32..20.0,
    ) {
        let column = |read: fn(&(f32, f32, f32, f64, u8)) -> f32| rows.iter().map(read).collect::<Vec<f32>>();
        let ages: Vec<f64> = rows.iter().map(|row| row.3).collect();
        let lines: Vec<u8> = rows.iter().map(|row| row.4.max(1)).collect();
        let fusing = Fusing {
            fusion: Fusion::new(&crate::FusionConfig::default()),
            half,
            line: 1.0,
            line_bound: 1.0001,
            age_factor: 0.7,
            cosines: &column(|row| row.0),
            raws: &column(|row| row.1),
            covers: &column(|row| row.2),
            lines: &lines,
            ages: &ages,
            weights: &vec![0.55; rows.len()],
        };
        let run = |fuse: fn(&Fusing<'_>, Scores<'_>)| {
            let [mut semantics, mut lowers, mut uppers] = [(); 3].map(|()| vec![0.0f32; rows.len()]);
            fuse(&fusing, Scores { semantics: &mut semantics, lowers: &mut lowers, uppers: &mut uppers });
            [semantics, lowers, uppers].map(|scores| scores.into_iter().map(f32::to_bits).collect::<Vec<_>>())
        };
        let [_, lowers, uppers] = run(fuse);
        let ordered = lowers.iter().zip(&uppers).all(|(lower, upper)| f32::from_bits(*lower) <= f32::from_bits(*upper));
        prop_assert!(ordered);
        prop_assert_eq!(run(fuse), run(fuse_body));
    }

    #[test]
    fn more_evidence_never_squashes_to_less(raw in 0.0f32..40.0, more in 0.0f32..4.0, half in 0.001f32..20.0) {
        let (less, more) = (squash(raw, half), squash(raw + more, half));
        prop_assert!((0.0..=1.0).contains(&less) && less <= more && more <= 1.0, "{less} {more}");
    }
}

#[test]
fn evidence_that_all_but_fills_the_scale_is_still_in_order() {
    // Found by the property above: the quotient of the two squares gave the smaller one more.
    let (half, less, more) =
        (0.010_023_22, 22.555_521 + 1.096_724_6 * (0.999 / 16.0), 22.555_521 + 1.000_1 * 1.096_724_6);
    assert!(squash(less, half) <= squash(more, half));
    let plain = |raw: f32| raw * raw / (raw * raw + half * half);
    assert!(plain(less) > plain(more), "the plain quotient does not keep the order here");
}
