//! libFuzzer target of the body `sealed_blob`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| undercroft_tests::fuzz::sealed_blob(bytes));
