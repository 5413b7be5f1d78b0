//! libFuzzer target of the body `manifest`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| undercroft_tests::fuzz::manifest(bytes));
