//! Programs that must not compile: keys cannot be cloned, printed as text, or taken apart.

#[test]
fn keys_cannot_be_cloned_printed_or_taken_apart() {
    trybuild::TestCases::new().compile_fail("tests/compile_fail/*.rs");
}
