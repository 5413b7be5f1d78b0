//! libFuzzer target of the body `chunker`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| undercroft_tests::fuzz::chunker(bytes));
