//! libFuzzer target of the body `transcripts`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| undercroft_tests::fuzz::transcripts(bytes));
