//! Every fuzz body, on stable, for a bounded count: seeds of the right form and random changes of them.
//! `FUZZ_ROUNDS=100000 cargo test -p undercroft-tests --test fuzz_bodies` runs more.

use undercroft_tests::fuzz::{ALL, run};
use undercroft_tests::tree;

fn rounds(least: usize) -> usize {
    let declared = std::env::var("FUZZ_ROUNDS").ok();
    declared.map_or(least, |text| text.parse().expect("FUZZ_ROUNDS is a number"))
}

fn fuzz(name: &str, least: usize) {
    let (_, body) = ALL.iter().find(|(known, _)| *known == name).expect("a body of this name");
    run(name, *body, rounds(least), 0xf0_22);
}

macro_rules! fuzzed {
    ($($test:ident: $name:literal, $rounds:literal;)*) => {$(
        #[test]
        fn $test() {
            fuzz($name, $rounds);
        }
    )*};
}

fuzzed! {
    chunks_are_the_text_for_any_bytes: "chunker", 20_000;
    tokens_lie_in_any_text: "tokenizer", 10_000;
    any_log_is_read_or_its_lines_are_named: "transcripts", 20_000;
    an_accepted_name_is_safe: "names", 50_000;
    a_date_has_a_day_exactly_when_it_is_accepted: "dates", 50_000;
    no_foreign_manifest_verifies: "manifest", 50_000;
    a_frame_decodes_within_its_limit_or_not_at_all: "content_frame", 30_000;
    nothing_opens_but_what_was_sealed: "sealed_blob", 30_000;
    a_segment_is_whole_and_ours_or_nothing: "segment", 30_000;
    a_vector_decodes_to_what_is_written_back: "vector_codec", 50_000;
    an_id_is_shown_as_it_was_typed: "drawer_id", 50_000;
    an_image_is_an_index_or_an_error: "index_image", 20_000;
    any_query_has_an_answer_in_order: "query", 10_000;
    a_record_of_a_journal_is_read_in_its_place_alone: "journal_record", 50_000;
}

#[test]
fn every_body_has_a_target_for_libfuzzer() {
    let manifest = tree::read("fuzz/Cargo.toml");
    for (name, _) in ALL {
        assert!(manifest.contains(&format!("name = \"{name}\"")), "fuzz/Cargo.toml has no target {name}");
        let target = tree::read(&format!("fuzz/fuzz_targets/{name}.rs"));
        assert!(target.contains(&format!("fuzz::{name}(bytes)")), "the target {name} calls another body");
    }
}
