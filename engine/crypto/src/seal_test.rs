//! Sealed values open in their own place and nowhere else.

use super::*;
use crate::derive::VaultKeys;
use crate::entropy::SeededEntropy;
use crate::fixture::{generation, keys, master, place, rising, salt, seal_id};

const PLAIN: &[u8] = b"a short text";

fn sealed_by(keys: &VaultKeys) -> Vec<u8> {
    keys.enc().seal(&place(&seal_id()), PLAIN, &SeededEntropy::new(1))
}

fn refused(keys: &VaultKeys, ctx: &SealContext<'_>, sealed: &[u8]) {
    assert!(matches!(keys.enc().open(ctx, sealed), Err(Error::Open)));
}

#[test]
fn what_was_sealed_opens_in_its_place() {
    let (keys, id) = (keys(), seal_id());
    for plain in [b"".as_slice(), b"x", PLAIN, &[7; 100_000]] {
        let sealed = keys.enc().seal(&place(&id), plain, &SeededEntropy::new(1));
        assert_eq!(sealed.len(), plain.len() + SEAL_OVERHEAD);
        assert_eq!(keys.enc().open(&place(&id), &sealed).expect("opens"), plain);
    }
}

#[test]
fn two_seals_of_one_text_share_nothing() {
    let (keys, id, entropy) = (keys(), seal_id(), SeededEntropy::new(1));
    let first = keys.enc().seal(&place(&id), PLAIN, &entropy);
    let second = keys.enc().seal(&place(&id), PLAIN, &entropy);
    assert_ne!(first[..NONCE_LEN], second[..NONCE_LEN]);
    assert_ne!(first[NONCE_LEN..], second[NONCE_LEN..]);
}

#[test]
fn every_flipped_bit_is_refused() {
    let (keys, id) = (keys(), seal_id());
    let sealed = sealed_by(&keys);
    for bit in 0..sealed.len() * 8 {
        let mut changed = sealed.clone();
        changed[bit / 8] ^= 1 << (bit % 8);
        refused(&keys, &place(&id), &changed);
    }
}

#[test]
fn every_cut_and_every_extension_is_refused() {
    let (keys, id) = (keys(), seal_id());
    let sealed = sealed_by(&keys);
    for len in 0..sealed.len() {
        refused(&keys, &place(&id), &sealed[..len]);
    }
    let longer = [sealed.as_slice(), &[0]].concat();
    refused(&keys, &place(&id), &longer);
}

#[test]
fn another_vault_is_refused() {
    let keys = keys();
    let other = SealId::from_bytes(rising(0x41));
    refused(&keys, &place(&other), &sealed_by(&keys));
}

#[test]
fn another_generation_in_the_place_is_refused() {
    let (keys, id) = (keys(), seal_id());
    refused(&keys, &SealContext { generation: generation(4), ..place(&id) }, &sealed_by(&keys));
}

#[test]
fn another_record_is_refused() {
    let (keys, id) = (keys(), seal_id());
    for record in [b"".as_slice(), b"recor", b"records", b"Record"] {
        refused(&keys, &SealContext { record, ..place(&id) }, &sealed_by(&keys));
    }
}

#[test]
fn every_other_field_is_refused() {
    let (keys, id) = (keys(), seal_id());
    let sealed = sealed_by(&keys);
    for domain in SealDomain::ALL.into_iter().filter(|d| *d != SealDomain::DrawerContent) {
        refused(&keys, &SealContext { domain, ..place(&id) }, &sealed);
    }
}

#[test]
fn another_key_is_refused() {
    let id = seal_id();
    let sealed = sealed_by(&keys());
    let other = VaultKeys::derive(&master(), &id, generation(3), &crate::ids::Salt::from_bytes([9; 16]));
    refused(&other, &place(&id), &sealed);
    // The same inputs, derived again, do open it.
    let again = VaultKeys::derive(&master(), &id, generation(3), &salt());
    assert_eq!(again.enc().open(&place(&id), &sealed).expect("opens"), PLAIN);
}

#[test]
fn a_reused_buffer_holds_the_new_text_alone_and_is_empty_after_a_refusal() {
    let (keys, id) = (keys(), seal_id());
    let mut sealed = sealed_by(&keys);
    let mut out = vec![1; 500];
    keys.enc().open_into(&place(&id), &sealed, &mut out).expect("opens");
    assert_eq!(out, PLAIN);
    assert!(out.capacity() >= 500);
    sealed[NONCE_LEN] ^= 1;
    assert!(keys.enc().open_into(&place(&id), &sealed, &mut out).is_err());
    assert!(out.is_empty());
}

#[test]
fn resealing_is_repeatable_and_opens_like_any_seal() {
    let (keys, id) = (keys(), seal_id());
    let reseal = |seed: u8| keys.enc().reseal(&place(&id), PLAIN, keys.nonce(), &[seed; 32]);
    assert_eq!(reseal(1), reseal(1));
    assert_ne!(reseal(1), reseal(2));
    assert_eq!(keys.enc().open(&place(&id), &reseal(1)).expect("opens"), PLAIN);
}

#[test]
fn an_opening_error_says_nothing_of_the_cause() {
    let (keys, id) = (keys(), seal_id());
    let sealed = sealed_by(&keys);
    let cut = keys.enc().open(&place(&id), &sealed[..3]).expect_err("cut");
    let moved = keys.enc().open(&SealContext { record: b"", ..place(&id) }, &sealed).expect_err("moved");
    assert_eq!(cut.to_string(), moved.to_string());
    assert_eq!(cut.class(), crate::error::ErrorClass::Integrity);
}
