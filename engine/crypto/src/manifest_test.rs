//! A manifest comes back as written, and every change of it is refused.

use proptest::prelude::*;

use super::*;
use crate::derive::VaultKeys;
use crate::error::ErrorClass;
use crate::fixture::{generation, keys, master, rising, salt, seal_id};

fn two_generations() -> Manifest {
    Manifest {
        version: MANIFEST_VERSION,
        name: "notes".into(),
        level: Level::Sealed,
        seal_id: seal_id(),
        generations: vec![(generation(2), Salt::from_bytes([1; 16])), (generation(3), salt())],
        embedder: Some(EmbedderIdentity { name: "hash-v1".into(), dimension: 384 }),
        created_at: "2026-01-02T03:04:05Z".into(),
        anchor: Anchor { height: Height::new(7), head: Head::from_bytes([0x44; 32]) },
        log_id: Some("4-1-99".into()),
    }
}

fn plain() -> Manifest {
    Manifest {
        level: Level::HmacOnly,
        generations: vec![(generation(3), salt())],
        embedder: None,
        anchor: Anchor { height: Height::GENESIS, head: Head::from_bytes([0; 32]) },
        log_id: None,
        ..two_generations()
    }
}

fn written() -> String {
    two_generations().to_json(keys().manifest())
}

fn read(text: &str) -> Result<Manifest, Error> {
    UnverifiedManifest::parse(text)?.verify(keys().manifest())
}

fn malformed(text: &str) {
    match UnverifiedManifest::parse(text) {
        Err(error @ Error::ManifestForm { .. }) => assert_eq!(error.class(), ErrorClass::Integrity),
        other => panic!("not refused: {other:?}\n{text}"),
    }
}

/// Golden: computed with Python's `hmac` over the documented bytes.
#[test]
fn the_macs_are_the_known_ones() {
    for (manifest, mac) in [
        (two_generations(), "1dd02d8f63097a7ec4c53c36e8ee5da51e6ce5d42d20df83067715077fbd6fe1"),
        (plain(), "9a9532ec3989f3e6d6bf120c7c7bb1e88cc3f5ef935679a6cec86f29cf0a55ed"),
    ] {
        assert!(manifest.to_json(keys().manifest()).contains(&format!("\"mac\": \"{mac}\"")));
    }
}

#[test]
fn a_manifest_comes_back_as_it_was_written() {
    for manifest in [two_generations(), plain()] {
        let text = manifest.to_json(keys().manifest());
        let unverified = UnverifiedManifest::parse(&text).expect("well formed");
        assert_eq!(unverified.seal_id(), &seal_id());
        assert_eq!(unverified.name(), "notes");
        assert_eq!(unverified.newest(), &(generation(3), salt()));
        assert_eq!(unverified.generations(), manifest.generations);
        assert_eq!(unverified.verify(keys().manifest()).expect("verifies"), manifest);
    }
}

#[test]
fn every_flipped_bit_of_the_text_is_refused() {
    let text = written();
    for bit in 0..text.len() * 8 {
        let mut bytes = text.clone().into_bytes();
        bytes[bit / 8] ^= 1 << (bit % 8);
        // A file that is not UTF-8 never reaches the parser.
        if let Ok(changed) = String::from_utf8(bytes) {
            assert!(read(&changed).is_err(), "bit {bit}:\n{changed}");
        }
    }
}

#[test]
fn each_changed_field_is_refused_like_a_wrong_key() {
    let changes: [(&str, &str); 12] = [
        ("\"name\": \"notes\"", "\"name\": \"other\""),
        ("\"sealed\"", "\"hmac-only\""),
        ("\"seal_id\": \"40", "\"seal_id\": \"41"),
        ("\"generation\": 2", "\"generation\": 1"),
        ("\"generation\": 3", "\"generation\": 4"),
        ("\"salt\": \"01", "\"salt\": \"02"),
        ("hash-v1", "hash-v2"),
        ("384", "385"),
        ("03:04:05Z", "03:04:06Z"),
        ("\"height\": 7", "\"height\": 6"),
        ("\"head\": \"44", "\"head\": \"45"),
        ("4-1-99", "4-1-98"),
    ];
    for (from, to) in changes {
        let changed = written().replacen(from, to, 1);
        assert_ne!(changed, written(), "{from}");
        let error = read(&changed).expect_err(from);
        assert!(matches!(error, Error::ManifestMac), "{from}: {error}");
    }
    let other = VaultKeys::derive(&master(), &seal_id(), generation(4), &Salt::from_bytes([3; 16]));
    let wrong_key = UnverifiedManifest::parse(&written()).expect("well formed").verify(other.manifest());
    let error = wrong_key.expect_err("wrong key");
    assert!(matches!(error, Error::ManifestMac));
    assert_eq!(error.class(), ErrorClass::Integrity);
}

#[test]
fn dropping_a_generation_an_embedder_or_a_log_id_is_refused() {
    let mac = UnverifiedManifest::parse(&written()).expect("well formed").mac;
    for stripped in [
        Manifest { generations: vec![(generation(3), salt())], ..two_generations() },
        Manifest { embedder: None, ..two_generations() },
        Manifest { log_id: None, ..two_generations() },
    ] {
        assert!(matches!(read(&json::render(&stripped, &mac)), Err(Error::ManifestMac)));
    }
}

#[test]
fn unknown_repeated_and_missing_fields_are_refused() {
    let text = written();
    malformed(&text.replacen('{', "{\"extra\": 1,", 1));
    malformed(&text.replacen("\"height\"", "\"extra\": 1, \"height\"", 1));
    malformed(&text.replacen("\"dimension\"", "\"extra\": 1, \"dimension\"", 1));
    malformed(&text.replacen("\"salt\"", "\"extra\": 1, \"salt\"", 1));
    malformed(&text.replacen('{', "{\"name\": \"notes\",", 1));
    malformed(&text.replacen("  \"name\": \"notes\",\n", "", 1));
    malformed(&text.replacen("  \"log_id\": \"4-1-99\",\n", "", 1));
}

#[test]
fn text_that_is_no_manifest_is_refused() {
    for text in ["", "null", "[]", "{}", "\"vault\"", "{\"version\": 1}"] {
        malformed(text);
    }
    malformed(&format!("{}{}", written(), written()));
    malformed(&written()[..written().len() - 3]);
    malformed(&format!("{}{}", " ".repeat(MANIFEST_MAX_BYTES), written()));
    malformed(&"[".repeat(MANIFEST_MAX_BYTES));
}

#[test]
fn byte_values_must_be_lower_case_and_of_their_length() {
    let text = written();
    malformed(&text.replacen(
        "\"seal_id\": \"404142434445464748494a",
        "\"seal_id\": \"404142434445464748494A",
        1,
    ));
    malformed(&text.replacen("\"seal_id\": \"40", "\"seal_id\": \"", 1));
    malformed(&text.replacen("\"seal_id\": \"40", "\"seal_id\": \"zz", 1));
    malformed(&text.replacen("\"mac\": \"1d", "\"mac\": \"", 1));
    malformed(&text.replacen("\"head\": \"44", "\"head\": \"4444", 1));
}

/// Renders a manifest that breaks a bound, with a right MAC, so that only the bound can refuse it.
#[test]
fn fields_out_of_bounds_are_refused_even_under_a_right_mac() {
    let g = |number, byte| (generation(number), Salt::from_bytes([byte; 16]));
    let embedder = |name: &str, dimension| Some(EmbedderIdentity { name: name.into(), dimension });
    let base = two_generations;
    let cases: [(&str, Manifest); 14] = [
        ("version", Manifest { version: 0, ..base() }),
        ("version", Manifest { version: 2, ..base() }),
        ("name", Manifest { name: String::new(), ..base() }),
        ("name", Manifest { name: "n".repeat(NAME_MAX_BYTES + 1), ..base() }),
        ("generations", Manifest { generations: vec![], ..base() }),
        ("generations", Manifest { generations: vec![g(3, 1), g(2, 2)], ..base() }),
        ("generations", Manifest { generations: vec![g(3, 1), g(3, 2)], ..base() }),
        ("generations", Manifest { generations: vec![g(1, 1), g(2, 2), g(3, 3)], ..base() }),
        ("embedder.name", Manifest { embedder: embedder("", 1), ..base() }),
        ("embedder.name", Manifest { embedder: embedder(&"e".repeat(256), 1), ..base() }),
        ("embedder.dimension", Manifest { embedder: embedder("e", 0), ..base() }),
        ("created_at", Manifest { created_at: "t".repeat(CREATED_AT_MAX_BYTES + 1), ..base() }),
        ("log_id", Manifest { log_id: Some(String::new()), ..base() }),
        ("log_id", Manifest { log_id: Some("l".repeat(LOG_ID_MAX_BYTES + 1)), ..base() }),
    ];
    for (expected, manifest) in cases {
        match manifest.check() {
            Err(Error::ManifestField { field, .. }) => assert_eq!(field, expected),
            other => panic!("{expected} not refused: {other:?}"),
        }
        malformed(&manifest.to_json(keys().manifest()));
    }
    let zero = written().replacen("\"generation\": 2", "\"generation\": 0", 1);
    malformed(&zero);
}

#[test]
fn the_longest_manifest_fits_its_own_bound() {
    let widest = |max: usize| "\u{1}".repeat(max);
    let manifest = Manifest {
        name: widest(NAME_MAX_BYTES),
        embedder: Some(EmbedderIdentity { name: widest(EMBEDDER_NAME_MAX_BYTES), dimension: u32::MAX }),
        created_at: widest(CREATED_AT_MAX_BYTES),
        anchor: Anchor { height: Height::new(u64::MAX), head: Head::from_bytes([0xFF; 32]) },
        log_id: Some(widest(LOG_ID_MAX_BYTES)),
        ..two_generations()
    };
    assert_eq!(read(&manifest.to_json(keys().manifest())).expect("reads"), manifest);
}

#[test]
fn a_level_is_read_in_three_spellings_and_kept_in_two() {
    assert_eq!(Level::parse("sealed").expect("level"), Level::Sealed);
    assert_eq!(Level::parse("hmac-only").expect("level"), Level::HmacOnly);
    assert_eq!("hmac_only".parse::<Level>().expect("level"), Level::HmacOnly);
    for text in ["", "Sealed", "hmac", "sealed ", "hmac only"] {
        assert!(matches!(Level::parse(text), Err(Error::Level)));
    }
    malformed(&plain().to_json(keys().manifest()).replacen("hmac-only", "hmac_only", 1));
}

fn any_manifest() -> impl Strategy<Value = Manifest> {
    let embedder = prop::option::of((".{1,40}", 1..u32::MAX));
    let salts = prop::collection::vec(any::<[u8; 16]>(), 1..=2);
    (".{1,60}", any::<bool>(), salts, embedder, any::<(u64, [u8; 32])>(), prop::option::of(".{1,30}"))
        .prop_map(|(name, sealed, salts, embedder, (height, head), log_id)| Manifest {
            version: MANIFEST_VERSION,
            name,
            level: if sealed { Level::Sealed } else { Level::HmacOnly },
            seal_id: SealId::from_bytes(rising(1)),
            generations: (1..).zip(salts).map(|(n, s)| (generation(n), Salt::from_bytes(s))).collect(),
            embedder: embedder.map(|(name, dimension)| EmbedderIdentity { name, dimension }),
            created_at: "2026-01-02T03:04:05Z".into(),
            anchor: Anchor { height: Height::new(height), head: Head::from_bytes(head) },
            log_id,
        })
}

proptest! {
    #[test]
    fn every_manifest_in_bounds_comes_back(manifest in any_manifest()) {
        prop_assert!(manifest.check().is_ok());
        prop_assert_eq!(read(&manifest.to_json(keys().manifest())).expect("reads"), manifest);
    }

    #[test]
    fn two_manifests_have_one_encoding_only_when_equal(a in any_manifest(), b in any_manifest()) {
        prop_assert_eq!(canonical::encode(&a) == canonical::encode(&b), a == b);
    }

    #[test]
    fn no_text_makes_parsing_panic(text in ".{0,200}") {
        prop_assert!(UnverifiedManifest::parse(&text).is_err());
    }
}
