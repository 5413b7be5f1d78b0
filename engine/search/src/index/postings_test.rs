use proptest::prelude::*;

use super::*;

fn collect(list: &List) -> Vec<(Slot, u32)> {
    let mut all = Vec::new();
    list.each(|slot, count| all.push((slot, count)));
    all
}

#[test]
fn a_frequent_term_becomes_a_column_and_a_rare_one_does_not() {
    let mut postings = Postings::default();
    for slot in 0..400 {
        postings.push(0, slot, 1 + slot % 3);
        if slot % 50 == 0 {
            postings.push(1, slot, 300);
        }
    }
    assert!(postings.list(0).dense && !postings.list(1).dense);
    assert_eq!(collect(postings.list(0)), (0..400).map(|slot| (slot, 1 + slot % 3)).collect::<Vec<_>>());
    assert_eq!(collect(postings.list(1))[2], (100, COUNT_MAX), "counts are capped");
}

#[test]
fn a_varint_that_ends_early_or_is_too_long_is_no_panic() {
    for bytes in [&[][..], &[0x80], &[0xff; 12], &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01]] {
        let _ = read_varint(bytes, &mut 0);
    }
    assert_eq!(read_varint(&[0x80], &mut 0), None);
}

proptest! {
    #[test]
    fn what_is_pushed_is_read_in_order_and_block_by_block(
        gaps in prop::collection::vec((1u32..600, 1u32..400), 1..120),
        block in 1u32..3_000,
    ) {
        let mut postings = Postings::default();
        let mut slot = 0;
        let mut expected = Vec::new();
        for (gap, count) in gaps {
            slot += gap;
            postings.push(3, slot, count);
            expected.push((slot, count.min(COUNT_MAX)));
        }
        let list = postings.list(3);
        prop_assert_eq!(collect(list), expected.clone());
        prop_assert_eq!(postings.frequency(3) as usize, expected.len());
        if !list.dense {
            let (mut cursor, mut read, mut end) = (Cursor::default(), Vec::new(), 0);
            while end <= slot {
                end += block;
                while let Some(posting) = cursor.next(list, end) {
                    prop_assert!(posting.0 < end && posting.0 >= end - block);
                    read.push(posting);
                }
            }
            prop_assert_eq!(read, expected);
        }
    }

    #[test]
    fn varints_round_trip(values in prop::collection::vec(any::<u32>(), 0..20)) {
        let mut bytes = Vec::new();
        values.iter().for_each(|value| write_varint(&mut bytes, u64::from(*value)));
        let mut at = 0;
        let read: Vec<u32> = std::iter::from_fn(|| read_varint(&bytes, &mut at)).collect();
        prop_assert_eq!(read, values);
    }
}
