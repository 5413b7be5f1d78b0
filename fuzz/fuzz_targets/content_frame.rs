//! libFuzzer target of the body `content_frame`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| undercroft_tests::fuzz::content_frame(bytes));
