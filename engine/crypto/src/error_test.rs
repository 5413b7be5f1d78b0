//! Errors fall into the right classes.

use super::*;

#[test]
fn class_names_are_distinct_and_lower_case() {
    let names: std::collections::BTreeSet<&str> = ErrorClass::ALL.map(ErrorClass::as_str).into();
    assert_eq!(names.len(), ErrorClass::ALL.len());
    assert!(names.iter().all(|name| name.bytes().all(|b| b.is_ascii_lowercase() || b == b'_')));
    assert_eq!(ErrorClass::NotFound.to_string(), "not_found");
}

#[test]
fn what_the_machine_lacks_is_no_defect_and_no_verdict() {
    for number in [5, 12, 23, 24, 28] {
        let error = std::io::Error::from_raw_os_error(number);
        assert_eq!(ErrorClass::of_io(&error), ErrorClass::Unavailable, "{error}");
    }
    for number in [2, 13] {
        let error = std::io::Error::from_raw_os_error(number);
        assert_eq!(ErrorClass::of_io(&error), ErrorClass::Internal, "{error}");
    }
}

#[test]
fn stored_bytes_that_fail_are_an_integrity_matter_and_wrong_arguments_are_not() {
    let integrity = [
        Error::Open,
        Error::TagMismatch,
        Error::Frame { defect: "x" },
        Error::FrameTooLarge { claimed: 2, limit: 1 },
        Error::ManifestForm { detail: "x".into() },
        Error::ManifestMac,
    ];
    assert!(integrity.iter().all(|error| error.class() == ErrorClass::Integrity));
    let invalid = [
        Error::Length { what: "tag", expected: 32, found: 1 },
        Error::Hex { what: "tag", expected: 64 },
        Error::Generation,
        Error::Level,
        Error::ManifestField { field: "name", remedy: "1 to 255 bytes" },
    ];
    assert!(invalid.iter().all(|error| error.class() == ErrorClass::Invalid));
    assert_eq!(Error::Kdf { detail: "x".into() }.class(), ErrorClass::Unavailable);
}
