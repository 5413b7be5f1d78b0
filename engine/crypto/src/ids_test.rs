//! Small values refuse what is not theirs.

use proptest::prelude::*;

use super::*;
use crate::entropy::SeededEntropy;

#[test]
fn a_slice_of_another_length_is_refused_and_named() {
    for len in [0, 15, 17, 32] {
        match SealId::from_slice(&vec![0; len]) {
            Err(Error::Length { what, expected, found }) => {
                assert_eq!((what, expected, found), ("seal id", 16, len));
            }
            other => panic!("{len} not refused: {other:?}"),
        }
    }
    assert!(Tag::from_slice(&[0; 16]).is_err());
    assert!(Head::from_slice(&[0; 33]).is_err());
}

#[test]
fn hexadecimal_is_lower_case_and_of_exact_length() {
    let hex = "00112233445566778899aabbccddeeff";
    assert_eq!(Blind::from_hex(hex).expect("hex").to_hex(), hex);
    for text in ["", "00", &hex[1..], &hex.to_uppercase(), &hex.replace('f', "g"), &format!("{hex}00")] {
        assert!(matches!(Blind::from_hex(text), Err(Error::Hex { .. })), "{text}");
    }
}

#[test]
fn generations_begin_at_one_rise_and_never_wrap_round() {
    assert_eq!(KeyGeneration::first().get(), 1);
    assert!(KeyGeneration::first() < KeyGeneration::first().next());
    assert!(matches!(KeyGeneration::from_u32(0), Err(Error::Generation)));
    let last = KeyGeneration::from_u32(u32::MAX).expect("not zero");
    assert_eq!(last.next(), last);
}

#[test]
fn drawn_values_differ() {
    let entropy = SeededEntropy::new(1);
    assert_ne!(SealId::generate(&entropy), SealId::generate(&entropy));
    assert_ne!(Salt::generate(&entropy), Salt::generate(&entropy));
    assert_ne!(KdfSalt::generate(&entropy), KdfSalt::generate(&entropy));
}

#[test]
fn tags_are_equal_only_in_every_byte() {
    let tag = Tag::from_bytes([5; 32]);
    assert_eq!(tag, Tag::from_slice(&[5; 32]).expect("32 bytes"));
    for at in 0..32 {
        let mut bytes = [5; 32];
        bytes[at] = 4;
        assert_ne!(tag, Tag::from_bytes(bytes));
    }
}

proptest! {
    #[test]
    fn every_value_comes_back_from_bytes_and_from_hex(bytes in any::<[u8; 32]>()) {
        let digest = Digest::from_slice(&bytes).expect("32 bytes");
        prop_assert_eq!(digest.as_bytes(), &bytes);
        prop_assert_eq!(Digest::from_hex(&digest.to_hex()).expect("hex"), digest);
    }

    #[test]
    fn no_text_makes_hexadecimal_panic(text in ".{0,40}") {
        let _ = SealId::from_hex(&text);
    }
}
