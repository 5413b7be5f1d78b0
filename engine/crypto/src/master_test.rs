//! Where a master key may come from.

use super::*;
use crate::entropy::SeededEntropy;

#[test]
fn a_key_file_must_hold_exactly_32_bytes() {
    for len in [0, 31, 33, 64] {
        let refused = MasterKey::from_bytes(&vec![7; len]);
        assert!(matches!(refused, Err(Error::Length { expected: 32, found, .. }) if found == len));
    }
    let key = MasterKey::from_bytes(&[7; 32]).expect("32 bytes");
    assert_eq!(key.expose_to_key_file(), &[7; 32]);
}

#[test]
fn a_generated_key_comes_back_from_its_file() {
    let entropy = SeededEntropy::new(1);
    let key = MasterKey::generate(&entropy);
    let again = MasterKey::from_bytes(key.expose_to_key_file()).expect("32 bytes");
    assert_eq!(again.expose_to_key_file(), key.expose_to_key_file());
    assert_ne!(MasterKey::generate(&entropy).expose_to_key_file(), key.expose_to_key_file());
}

#[test]
fn passphrase_and_salt_both_change_the_key() {
    let derive = |passphrase: &[u8], salt: u8| {
        *MasterKey::from_passphrase(passphrase, &KdfSalt::from_bytes([salt; 16]))
            .expect("64 MiB")
            .expose_to_key_file()
    };
    let first = derive(b"open sesame", 1);
    assert_ne!(first, derive(b"open sesame ", 1));
    assert_ne!(first, derive(b"open sesame", 2));
}
