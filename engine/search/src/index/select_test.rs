use proptest::prelude::*;

use super::*;

proptest! {
    #[test]
    fn the_best_are_among_what_is_kept(
        scores in prop::collection::vec((0u8..20, 0u8..6), 0..2_000),
        depth in 0usize..40,
    ) {
        let mut selector = Selector::new(depth);
        for (slot, (lower, more)) in scores.iter().enumerate() {
            let (lower, upper) = (f32::from(*lower), f32::from(*lower) + f32::from(*more));
            selector.offer(Candidate { slot: slot as Slot, place: 0, lower, upper });
        }
        let kept: Vec<Slot> = selector.finish().iter().map(|candidate| candidate.slot).collect();
        // Whatever the true scores within the bounds are: here at either end.
        for ends in [0.0, 1.0] {
            let score = |slot: usize| f32::from(scores[slot].0) + ends * f32::from(scores[slot].1);
            let mut best: Vec<usize> = (0..scores.len()).collect();
            best.sort_by(|a, b| score(*b).total_cmp(&score(*a)));
            for slot in best.into_iter().take(depth) {
                let tied = kept.iter().filter(|other| score(**other as usize) == score(slot)).count() > 0;
                prop_assert!(kept.contains(&(slot as Slot)) || tied);
            }
        }
    }
}
