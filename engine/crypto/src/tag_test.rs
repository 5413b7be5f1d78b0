//! Tags hold every field in its place.

use proptest::prelude::*;

use super::*;
use crate::fixture::keys;

#[test]
fn a_tag_verifies_over_its_own_fields() {
    let keys = keys();
    let tag = keys.mac().tag(TagDomain::Drawer, &[b"id", b"meta"]);
    keys.mac().verify(TagDomain::Drawer, &[b"id", b"meta"], &tag).expect("verifies");
}

#[test]
fn moving_bytes_between_fields_is_refused() {
    let keys = keys();
    let tag = keys.mac().tag(TagDomain::Drawer, &[b"ab", b"c"]);
    let others: [&[&[u8]]; 6] =
        [&[b"a", b"bc"], &[b"abc"], &[b"ab", b"c", b""], &[b"", b"ab", b"c"], &[b"c", b"ab"], &[]];
    for fields in others {
        let refused = keys.mac().verify(TagDomain::Drawer, fields, &tag);
        assert!(matches!(refused, Err(Error::TagMismatch)), "{fields:?}");
    }
}

#[test]
fn a_tag_of_one_kind_of_row_is_refused_for_every_other() {
    let keys = keys();
    for made in TagDomain::ALL {
        let tag = keys.mac().tag(made, &[b"x"]);
        for read in TagDomain::ALL {
            assert_eq!(keys.mac().verify(read, &[b"x"], &tag).is_ok(), made == read);
        }
    }
}

#[test]
fn every_flipped_bit_of_a_tag_is_refused() {
    let keys = keys();
    let tag = keys.mac().tag(TagDomain::Meta, &[b"x"]);
    for bit in 0..256 {
        let mut bytes = *tag.as_bytes();
        bytes[bit / 8] ^= 1 << (bit % 8);
        assert!(keys.mac().verify(TagDomain::Meta, &[b"x"], &Tag::from_bytes(bytes)).is_err());
    }
}

proptest! {
    #[test]
    fn two_lists_of_fields_have_one_tag_only_when_equal(
        a in prop::collection::vec(prop::collection::vec(0_u8..3, 0..4), 0..4),
        b in prop::collection::vec(prop::collection::vec(0_u8..3, 0..4), 0..4),
    ) {
        let keys = keys();
        let tag = |list: &[Vec<u8>]| {
            let fields: Vec<&[u8]> = list.iter().map(Vec::as_slice).collect();
            keys.mac().tag(TagDomain::Drawer, &fields)
        };
        prop_assert_eq!(tag(&a) == tag(&b), a == b);
    }
}
