//! Blind values are equal only for equal values of one column and one key.

use std::collections::HashSet;

use super::*;
use crate::derive::VaultKeys;
use crate::entropy::SeededEntropy;
use crate::fixture::{generation, keys, master, seal_id};
use crate::ids::Salt;

#[test]
fn equal_values_of_a_column_are_equal_and_of_two_columns_are_not() {
    let keys = keys();
    let mut seen = HashSet::new();
    for column in BlindColumn::ALL {
        let blind = keys.blind().blind(column, b"kitchen");
        assert_eq!(blind, keys.blind().blind(column, b"kitchen"));
        assert!(seen.insert(blind), "{column:?}");
    }
}

#[test]
fn no_domain_with_its_separator_begins_another() {
    let mut domains: Vec<&str> = BlindColumn::ALL.map(BlindColumn::as_str).to_vec();
    domains.push(LABEL_DOMAIN);
    for (i, a) in domains.iter().enumerate() {
        assert!(!a.contains('\0'));
        for b in &domains[i + 1..] {
            assert!(!format!("{a}\0").starts_with(&format!("{b}\0")));
            assert_ne!(a, b);
        }
    }
}

#[test]
fn a_separator_inside_a_value_does_not_reach_another_column() {
    let keys = keys();
    let mimic = [b"undercroft/blind/room/1\0".as_slice(), b"x"].concat();
    assert_ne!(keys.blind().blind(BlindColumn::Wing, &mimic), keys.blind().blind(BlindColumn::Room, b"x"));
}

#[test]
fn another_generation_blinds_differently() {
    let other = VaultKeys::derive(&master(), &seal_id(), generation(4), &Salt::from_bytes([1; 16]));
    assert_ne!(other.blind().blind(BlindColumn::Wing, b"x"), keys().blind().blind(BlindColumn::Wing, b"x"));
}

#[test]
fn a_label_key_survives_a_change_of_generation() {
    let (old, id) = (keys(), seal_id());
    let new = VaultKeys::derive(&master(), &id, generation(4), &Salt::from_bytes([1; 16]));
    let entropy = SeededEntropy::new(1);
    let label_key = LabelKey::generate(&entropy);
    let sealed = label_key.seal_under(old.enc(), &id, generation(3), &entropy);
    let opened = LabelKey::open_from(old.enc(), &id, generation(3), &sealed).expect("opens");
    let resealed = opened.seal_under(new.enc(), &id, generation(4), &entropy);
    let again = LabelKey::open_from(new.enc(), &id, generation(4), &resealed).expect("opens");
    assert_eq!(again.blind("drawer.add"), label_key.blind("drawer.add"));
    assert_ne!(again.blind("drawer.add"), again.blind("drawer.del"));
}

#[test]
fn a_sealed_label_key_opens_only_in_its_vault_and_generation() {
    let (keys, id) = (keys(), seal_id());
    let entropy = SeededEntropy::new(1);
    let sealed = LabelKey::generate(&entropy).seal_under(keys.enc(), &id, generation(3), &entropy);
    let other = SealId::from_bytes([0; 16]);
    assert!(matches!(LabelKey::open_from(keys.enc(), &other, generation(3), &sealed), Err(Error::Open)));
    assert!(matches!(LabelKey::open_from(keys.enc(), &id, generation(4), &sealed), Err(Error::Open)));
    assert!(matches!(LabelKey::open_from(keys.enc(), &id, generation(3), &sealed[1..]), Err(Error::Open)));
}

#[test]
fn a_label_key_of_another_length_is_refused_even_if_it_was_sealed_here() {
    let (keys, id) = (keys(), seal_id());
    let sealed = keys.enc().seal(&place(&id, generation(3)), &[1; 31], &SeededEntropy::new(1));
    assert!(matches!(LabelKey::open_from(keys.enc(), &id, generation(3), &sealed), Err(Error::Open)));
}
