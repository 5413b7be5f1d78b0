//! Each parser: what it takes, what it refuses, and what `off` means to it.

use proptest::prelude::*;

use super::parse::*;
use crate::env::Complaint;

fn accepts<T>(parse: impl Fn(&str) -> Result<T, Complaint>, good: &[&str]) {
    for text in good {
        assert!(parse(text).is_ok(), "{text:?} should be accepted");
    }
}

fn refuses<T>(parse: impl Fn(&str) -> Result<T, Complaint>, bad: &[&str]) {
    for text in bad {
        assert!(parse(text).is_err(), "{text:?} should be refused");
    }
}

#[test]
fn whole_numbers_have_no_signs_units_or_separators() {
    accepts(at_least::<1>, &["1", "50", "18446744073709551615"]);
    refuses(at_least::<1>, &["0", "-1", "1.0", "1_000", "1k", "off", "18446744073709551616"]);
    accepts(between::<1, 16>, &["1", "16"]);
    refuses(between::<1, 16>, &["0", "17", "four"]);
}

#[test]
fn off_is_read_in_any_case_and_is_not_zero() {
    assert_eq!(off_or_at_least::<0>("OFF"), Ok(Limit::Off));
    assert_eq!(off_or_at_least::<0>("0"), Ok(Limit::At(0)));
    refuses(off_or_at_least::<2>, &["1", "none", "disabled", "of"]);
}

#[test]
fn shares_stay_inside_their_range_and_are_numbers() {
    assert_eq!(semantic_gate("0.3"), Ok(Limit::At(0.3)));
    assert_eq!(semantic_gate("Off"), Ok(Limit::Off));
    refuses(semantic_gate, &["-0.1", "1.01", "NaN", "inf", "30%", "0,3"]);
    assert_eq!(semantic_floor("off"), Ok(0.0));
    accepts(semantic_floor, &["0", "0.98"]);
    refuses(semantic_floor, &["0.99", "nan"]);
}

#[test]
fn a_weight_outside_its_range_is_clamped_and_a_word_is_refused() {
    assert_eq!(fusion_weight("0"), Ok(0.20));
    assert_eq!(fusion_weight("5"), Ok(0.70));
    assert_eq!(fusion_weight("0.5"), Ok(0.5));
    refuses(fusion_weight, &["NaN", "inf", "half", "off"]);
}

#[test]
fn closed_vocabularies_know_their_words_only() {
    assert_eq!(fusion("legacy"), Ok(Fusion::Legacy));
    refuses(fusion, &["rrf", "BM25", "sum"]);
    accepts(model_api, &["ollama", "openai"]);
    refuses(model_api, &["OpenAI", "azure"]);
    assert_eq!(switch("off"), Ok(false));
    assert_eq!(switch("true"), Ok(true));
    refuses(switch, &["yes", "on", "2"]);
    assert_eq!(trust_floor("off"), Ok(None));
    assert_eq!(trust_floor("standard"), Ok(Some(TrustFloor::Standard)));
    refuses(trust_floor, &["verified", "Standard"]);
}

#[test]
fn what_this_version_lacks_is_told_apart_from_a_typing_error() {
    let lacking = [
        embedder("onnx"),
        retrieval("pq"),
        reranker("colbert"),
        admission("quarantine"),
        admission_advisor("advisory"),
        read_audit("chain"),
        trust_floor("trusted").map(drop),
    ];
    for complaint in lacking {
        let Err(Complaint::NotBuilt(message)) = complaint else { panic!("{complaint:?}") };
        assert!(message.starts_with("not implemented: "), "{message}");
    }
    for mistyped in [embedder("hsh"), retrieval("ivf"), admission("on"), read_audit("yes"), reranker("bert")]
    {
        assert!(matches!(mistyped, Err(Complaint::Unreadable(_))), "{mistyped:?}");
    }
    accepts(embedder, &["hash"]);
    for declined in
        [retrieval("off"), reranker("OFF"), admission("Off"), admission_advisor("off"), read_audit("off")]
    {
        assert_eq!(declined, Ok(()));
    }
}

#[test]
fn a_rate_has_two_numbers_above_zero() {
    assert_eq!(admission_rate("30/60"), Ok(Some(Rate { count: 30, seconds: 60 })));
    assert_eq!(admission_rate("off"), Ok(None));
    refuses(admission_rate, &["30", "0/60", "30/0", "30/minute", "30/60/2", "-1/5", "/"]);
    assert_eq!(rate_limit("0"), Ok(0));
    assert_eq!(rate_limit("off"), Ok(0));
    refuses(rate_limit, &["100/min", "1_000", "-5", "1e3", "99999999999999999999"]);
}

#[test]
fn tokens_keep_inner_space_and_lose_nothing_silently() {
    accepts(token, &["abc", " leading", "in side"]);
    refuses(token, &["trailing ", "newline\n"]);
    accepts(admin_token, &["0123456789abcdef"]);
    refuses(admin_token, &["0123456789abcde", "0123456789abcdef\n"]);
}

#[test]
fn each_way_a_key_is_wrong_has_words_of_its_own() {
    accepts(hex_key, &[&"ab".repeat(32), &format!(" {}\n", "0F".repeat(32))]);
    let message = |text: &str| match hex_key(text) {
        Err(Complaint::Unreadable(message)) => message,
        other => panic!("{other:?}"),
    };
    assert!(message(&"zz".repeat(32)).contains("is not hex"));
    assert!(message(&"ab".repeat(31)).contains("has 62 hex digits"));
}

#[test]
fn addresses_to_listen_on_name_a_host_and_a_port() {
    accepts(listen_address, &["127.0.0.1:8900", "localhost:1", "[::1]:8900", "0.0.0.0:65535"]);
    refuses(
        listen_address,
        &["8900", ":8900", "host:", "host:65536", "::1:8900", "http://host:80", "[::1:80", "[x]:80"],
    );
    accepts(optional_listener, &["off", "127.0.0.1:9100"]);
}

#[test]
fn seeds_are_decimal_or_hexadecimal() {
    assert_eq!(seed("0x6d75766572612e31"), Ok(0x6d75_7665_7261_2e31));
    assert_eq!(seed("7"), Ok(7));
    refuses(seed, &["0x", "x7", "-7", "0x1ffffffffffffffff"]);
}

#[test]
fn the_language_of_results_is_one_of_ten() {
    accepts(interface_language, &["en", "de_DE.UTF-8", "PT-br", "hi"]);
    refuses(interface_language, &["nl", "english", "C"]);
}

proptest! {
    #[test]
    fn no_parser_panics_and_no_share_leaves_its_range(text in "\\PC{0,40}") {
        if let Ok(Limit::At(gate)) = semantic_gate(&text) { prop_assert!((0.0..=1.0).contains(&gate)); }
        if let Ok(floor) = semantic_floor(&text) { prop_assert!((0.0..=0.98).contains(&floor)); }
        if let Ok(weight) = fusion_weight(&text) { prop_assert!((0.20..=0.70).contains(&weight)); }
        let _ = (listen_address(&text), hex_key(&text), admission_rate(&text), seed(&text), interface_language(&text));
    }
}
