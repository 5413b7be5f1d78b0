//! libFuzzer target of the body `vector_codec`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| undercroft_tests::fuzz::vector_codec(bytes));
