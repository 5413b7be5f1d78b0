//! Drawer ids follow the published recipe and read back strictly.

use super::id::{DrawerId, drawer_id};

/// Computed apart: sha256(b"w\x1fr\x1f(direct)\x1f" + u32le(0) + b"\x1f" + u32le(3))[:16].
const DIRECT: &str = "72fea9868a484153c056c26c217695af";
/// Computed apart: the same with source "notes.md" and chunk 7.
const SOURCED: &str = "b5c03b3bac1f50928ca86461822af469";

#[test]
fn ids_follow_the_recipe() {
    assert_eq!(drawer_id("w", "r", None, 0).to_string(), DIRECT);
    assert_eq!(drawer_id("w", "r", Some("notes.md"), 7).to_string(), SOURCED);
}

#[test]
fn every_field_moves_the_id() {
    let base = drawer_id("w", "r", Some("s"), 1);
    for other in [
        drawer_id("x", "r", Some("s"), 1),
        drawer_id("w", "x", Some("s"), 1),
        drawer_id("w", "r", Some("x"), 1),
        drawer_id("w", "r", Some("s"), 2),
        drawer_id("w", "r", None, 1),
        drawer_id("wr", "", Some("s"), 1),
    ] {
        assert_ne!(base, other);
    }
}

#[test]
fn only_thirty_two_lower_case_digits_are_an_id() {
    let id = drawer_id("w", "r", None, 0);
    assert_eq!(id.to_string().parse::<DrawerId>().expect("reads back"), id);
    for text in
        ["", "abc", &DIRECT.to_uppercase(), &format!("{DIRECT}0"), &format!(" {DIRECT}"), &"g".repeat(32)]
    {
        assert!(text.parse::<DrawerId>().is_err(), "{text:?}");
    }
}

#[test]
fn one_stray_character_anywhere_is_refused() {
    for at in 0..DIRECT.len() {
        for stray in (0..=0x7f_u8).filter(|byte| !b"0123456789abcdef".contains(byte)) {
            let mut text = DIRECT.to_owned();
            text.replace_range(at..=at, char::from(stray).encode_utf8(&mut [0; 4]));
            assert!(text.parse::<DrawerId>().is_err(), "{text:?}");
        }
    }
}
