//! Derived keys are unrelated, and what the small keys make depends on every input.

use std::collections::HashSet;

use super::*;
use crate::fixture::{generation, keys, master, place, rising, salt, seal_id};

fn derived(master: &MasterKey, seal_id: SealId, number: u32, salt: Salt, purpose: Purpose) -> [u8; 32] {
    *derive_secret(master, &seal_id, generation(number), &salt, purpose).expose()
}

#[test]
fn all_keys_of_related_vaults_and_generations_differ() {
    let other_master = MasterKey::from_bytes(&rising::<32>(1)).expect("32 bytes");
    let (id, other_id) = (seal_id(), SealId::from_bytes(rising(0x41)));
    let (salt, other_salt) = (salt(), Salt::from_bytes(rising(0x81)));
    let inputs = [
        (&other_master, id, 3, salt),
        (&master(), id, 3, salt),
        (&master(), other_id, 3, salt),
        (&master(), id, 4, salt),
        (&master(), id, 3, other_salt),
    ];
    let mut seen = HashSet::new();
    for (master, id, number, salt) in inputs {
        for purpose in Purpose::ALL {
            assert!(seen.insert(derived(master, id, number, salt, purpose)), "{purpose:?}");
        }
    }
    assert_eq!(seen.len(), 5 * Purpose::ALL.len());
}

#[test]
fn a_segment_opens_under_its_own_header_only() {
    let keys = keys();
    let sealed = keys.segment().seal(b"header", b"body", &crate::entropy::SeededEntropy::new(1));
    assert_eq!(keys.segment().open(b"header", &sealed).expect("opens"), b"body");
    assert!(matches!(keys.segment().open(b"headed", &sealed), Err(Error::Open)));
    assert!(matches!(keys.segment().open(b"", &sealed), Err(Error::Open)));
}

#[test]
fn a_derived_nonce_changes_with_each_of_its_inputs() {
    let (keys, id) = (keys(), seal_id());
    let nonce = |seed: u8, ctx: &SealContext<'_>, plain: &[u8]| keys.nonce().nonce(&[seed; 32], ctx, plain);
    let first = nonce(1, &place(&id), b"text");
    assert_eq!(first, nonce(1, &place(&id), b"text"));
    assert_ne!(first, nonce(2, &place(&id), b"text"));
    assert_ne!(first, nonce(1, &place(&id), b"texts"));
    assert_ne!(first, nonce(1, &SealContext { record: b"other", ..place(&id) }, b"text"));
}

#[test]
fn sample_ranks_change_with_round_and_record() {
    let keys = keys();
    let (a, b) = (Blind::from_bytes([1; 16]), Blind::from_bytes([2; 16]));
    assert_eq!(keys.sample().rank(1, &a), keys.sample().rank(1, &a));
    assert_ne!(keys.sample().rank(1, &a), keys.sample().rank(2, &a));
    assert_ne!(keys.sample().rank(1, &a), keys.sample().rank(1, &b));
}
