//! libFuzzer target of the body `names`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| undercroft_tests::fuzz::names(bytes));
