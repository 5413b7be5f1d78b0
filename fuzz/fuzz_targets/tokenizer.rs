//! libFuzzer target of the body `tokenizer`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| undercroft_tests::fuzz::tokenizer(bytes));
