//! A kit opens with its secret, and with nothing else; whatever is changed in it is told.

use proptest::prelude::*;

use super::*;
use crate::entropy::SeededEntropy;
use crate::error::ErrorClass;

const PAGE: &str = include_str!("../../../docs/formats/recovery-kit.md");

fn key(seed: u64) -> MasterKey {
    MasterKey::generate(&SeededEntropy::new(seed))
}

fn sealed(body: &[u8]) -> (MasterKey, Vec<u8>) {
    let key = key(1);
    let file = seal(KitSecret::KeyFile(&key), body, &SeededEntropy::new(2)).unwrap();
    (key, file)
}

/// Puts the digest right again, as somebody would who wants a change to pass.
fn covered(mut file: Vec<u8>) -> Vec<u8> {
    let end = file.len() - DIGEST_LEN;
    let digest = Sha256::digest(&file[..end]);
    file[end..].copy_from_slice(&digest);
    file
}

#[test]
fn a_kit_opens_with_its_passphrase_and_not_with_another() {
    let file = seal(KitSecret::Passphrase(b"twelve words"), b"body", &SeededEntropy::new(3)).unwrap();
    assert_eq!(open(KitSecret::Passphrase(b"twelve words"), &file).unwrap().as_slice(), b"body");
    let other = open(KitSecret::Passphrase(b"twelve Words"), &file).unwrap_err();
    assert!(matches!(other, Error::KitSecret { .. }) && other.class() == ErrorClass::Denied, "{other}");
    let kind = open(KitSecret::KeyFile(&key(1)), &file).unwrap_err();
    assert!(matches!(kind, Error::KitKind { needs: "a passphrase" }), "{kind}");
    assert!(!file.windows(4).any(|part| part == b"body"));
}

#[test]
fn a_kit_opens_with_its_key_file_and_not_with_another() {
    let (own, file) = sealed(b"");
    assert!(open(KitSecret::KeyFile(&own), &file).unwrap().is_empty());
    let other = open(KitSecret::KeyFile(&key(9)), &file).unwrap_err();
    assert!(matches!(other, Error::KitSecret { what: "a key file" }), "{other}");
    assert!(matches!(open(KitSecret::Passphrase(b"x"), &file), Err(Error::KitKind { .. })));
}

#[test]
fn two_kits_of_the_same_body_have_nothing_in_common_but_their_form() {
    let key = key(1);
    let make = |seed| seal(KitSecret::KeyFile(&key), b"the same", &SeededEntropy::new(seed)).unwrap();
    let (one, other) = (make(1), make(2));
    assert_eq!(one[..MAGIC.len() + 1], other[..MAGIC.len() + 1]);
    assert_ne!(one[MAGIC.len() + 1..HEAD_LEN], other[MAGIC.len() + 1..HEAD_LEN]);
}

#[test]
fn every_changed_byte_is_found_without_the_secret() {
    let (own, file) = sealed(b"a body of some length");
    for at in 0..file.len() {
        let mut changed = file.clone();
        changed[at] ^= 1;
        let error = open(KitSecret::KeyFile(&own), &changed).unwrap_err();
        let expected = if at < MAGIC.len() { ErrorClass::Invalid } else { ErrorClass::Integrity };
        assert_eq!(error.class(), expected, "byte {at}: {error}");
    }
}

#[test]
fn a_change_that_hides_from_the_digest_is_found_with_the_secret() {
    let (own, file) = sealed(b"a body of some length");
    for at in MAGIC.len()..file.len() - DIGEST_LEN {
        let mut changed = file.clone();
        changed[at] ^= 1;
        let error = open(KitSecret::KeyFile(&own), &covered(changed)).unwrap_err();
        // In salt and check value it looks like another secret; in the body it cannot.
        let expected = match at {
            8 => ErrorClass::Integrity,
            9..HEAD_LEN => ErrorClass::Denied,
            _ => ErrorClass::Integrity,
        };
        assert_eq!(error.class(), expected, "byte {at}: {error}");
    }
}

#[test]
fn what_is_cut_or_continued_is_damaged() {
    let (own, file) = sealed(b"body");
    for end in MAGIC.len()..file.len() {
        let error = open(KitSecret::KeyFile(&own), &file[..end]).unwrap_err();
        assert!(matches!(error, Error::KitDamaged), "{end}: {error}");
    }
    let longer = [file.as_slice(), b"x"].concat();
    assert!(matches!(open(KitSecret::KeyFile(&own), &longer), Err(Error::KitDamaged)));
    let short = covered([&MAGIC[..], &[0; DIGEST_LEN]].concat());
    assert!(matches!(open(KitSecret::KeyFile(&own), &short), Err(Error::KitDamaged)));
}

#[test]
fn another_version_and_another_file_say_so() {
    let (own, mut file) = sealed(b"body");
    file[7] = 2;
    let newer = open(KitSecret::KeyFile(&own), &file).unwrap_err();
    assert!(newer.to_string().contains("version") && newer.class() == ErrorClass::Invalid, "{newer}");
    let other = open(KitSecret::KeyFile(&own), b"{\"a\": 1}").unwrap_err();
    assert!(matches!(other, Error::KitForm { .. }), "{other}");
}

#[test]
fn the_page_gives_every_part_with_its_length() {
    let expected: [(&str, usize); 7] = [
        ("magic", MAGIC.len()),
        ("secret", 1),
        ("salt", KdfSalt::LEN),
        ("check", CHECK_LEN),
        ("nonce", 24),
        ("authenticator", 16),
        ("digest", DIGEST_LEN),
    ];
    for (part, length) in expected {
        let row = format!("| {length} | {part}: ");
        assert!(PAGE.contains(&row), "the page has no row {row:?}");
    }
    assert!(PAGE.contains(KIT_DOMAIN) && PAGE.contains("`UCrckit`"));
}

proptest! {
    #[test]
    fn any_body_comes_back(body in proptest::collection::vec(any::<u8>(), 0..600)) {
        let (own, file) = sealed(&body);
        let opened = open(KitSecret::KeyFile(&own), &file).unwrap();
        prop_assert_eq!(opened.as_slice(), body.as_slice());
    }

    #[test]
    fn no_bytes_are_taken_for_a_kit(tail in proptest::collection::vec(any::<u8>(), 0..300), kit in any::<bool>()) {
        let file = if kit { covered([&MAGIC[..], &tail, &[0; DIGEST_LEN]].concat()) } else { tail };
        prop_assert!(open(KitSecret::KeyFile(&key(1)), &file).is_err());
    }
}
