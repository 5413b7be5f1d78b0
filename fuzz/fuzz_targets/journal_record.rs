//! libFuzzer target of the body `journal_record`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| undercroft_tests::fuzz::journal_record(bytes));
