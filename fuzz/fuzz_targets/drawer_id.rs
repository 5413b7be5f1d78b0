//! libFuzzer target of the body `drawer_id`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| undercroft_tests::fuzz::drawer_id(bytes));
