//! libFuzzer target of the body `segment`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| undercroft_tests::fuzz::segment(bytes));
