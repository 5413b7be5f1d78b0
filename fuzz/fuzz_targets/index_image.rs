//! libFuzzer target of the body `index_image`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| undercroft_tests::fuzz::index_image(bytes));
