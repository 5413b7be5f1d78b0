//! libFuzzer target of the body `dates`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| undercroft_tests::fuzz::dates(bytes));
