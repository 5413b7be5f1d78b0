//! Every part of every row moves head and digest.

use super::*;
use crate::fixture::keys;

const AT: i64 = 1_700_000_000_000_000;

fn label() -> Blind {
    Blind::from_bytes([1; 16])
}

fn tag() -> Tag {
    Tag::from_bytes([2; 32])
}

#[test]
fn the_empty_chain_is_all_zeros() {
    let genesis = ChainState::genesis();
    assert_eq!(genesis.height, Height::new(0));
    assert_eq!(genesis.head.as_bytes(), &[0; 32]);
    assert_eq!(genesis.digest.as_bytes(), &[0; 32]);
}

#[test]
fn each_part_of_a_row_changes_head_and_digest() {
    let keys = keys();
    let genesis = ChainState::genesis();
    let first = keys.chain().step(&genesis, &label(), &tag(), AT);
    let others = [
        keys.chain().step(&genesis, &Blind::from_bytes([3; 16]), &tag(), AT),
        keys.chain().step(&genesis, &label(), &Tag::from_bytes([3; 32]), AT),
        keys.chain().step(&genesis, &label(), &tag(), AT + 1),
        keys.chain().step(&first, &label(), &tag(), AT),
    ];
    for other in others {
        assert_ne!(other.head, first.head);
        assert_ne!(other.digest, first.digest);
    }
}

#[test]
fn the_head_alone_and_the_digest_alone_are_those_of_the_step() {
    let keys = keys();
    let genesis = ChainState::genesis();
    let state = keys.chain().step(&genesis, &label(), &tag(), AT);
    assert_eq!(keys.chain().step_head(&genesis.head, &label(), &tag(), AT), state.head);
    assert_eq!(step_digest(&genesis.digest, &label(), &tag(), AT), state.digest);
    assert_eq!(state.height, Height::new(1));
}

#[test]
fn the_digest_survives_a_change_of_keys_and_the_head_does_not() {
    let other = crate::derive::VaultKeys::derive(
        &crate::fixture::master(),
        &crate::fixture::seal_id(),
        crate::fixture::generation(4),
        &crate::fixture::salt(),
    );
    let before = keys().chain().step(&ChainState::genesis(), &label(), &tag(), AT);
    let after = other.chain().step(&ChainState::genesis(), &label(), &tag(), AT);
    assert_eq!(before.digest, after.digest);
    assert_ne!(before.head, after.head);
}

#[test]
fn swapping_two_rows_is_seen() {
    let keys = keys();
    let walk = |times: [i64; 2]| {
        times.iter().fold(ChainState::genesis(), |s, at| keys.chain().step(&s, &label(), &tag(), *at))
    };
    assert_ne!(walk([1, 2]).head, walk([2, 1]).head);
    assert_ne!(walk([1, 2]).digest, walk([2, 1]).digest);
}

#[test]
fn a_witness_binds_the_height() {
    let digest = Digest::from_bytes([4; 32]);
    assert_ne!(witness_digest(Height::new(1), &digest), witness_digest(Height::new(2), &digest));
}

#[test]
fn a_height_never_wraps_round() {
    assert_eq!(Height::new(u64::MAX).next(), Height::new(u64::MAX));
}
