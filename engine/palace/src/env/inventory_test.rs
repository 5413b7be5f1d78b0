//! The inventory is complete, consistent, and says what the book says, in both directions.

use std::collections::{BTreeMap, BTreeSet};

use super::inventory::{self, Class, PREFIX, Reader};

const BOOK: &str = include_str!("../../../../docs/configuration.md");

/// The rows of the book's tables: name to (values, default, whether built).
fn book() -> BTreeMap<String, (String, String, bool)> {
    BOOK.lines()
        .filter(|line| line.starts_with("| `UNDERCROFT_"))
        .map(|line| {
            let cells: Vec<&str> = line.trim_matches('|').split(" | ").map(str::trim).collect();
            let [name, values, default, _bad, built, _meaning] = cells[..] else { panic!("cells of {line}") };
            (name.trim_matches('`').to_owned(), (values.to_owned(), default.to_owned(), built == "yes"))
        })
        .collect()
}

#[test]
fn the_book_and_the_inventory_name_the_same_variables() {
    let known: BTreeSet<String> = inventory::all().map(|variable| variable.name.to_owned()).collect();
    let written: BTreeSet<String> = book().into_keys().collect();
    assert_eq!(known, written);
}

#[test]
fn the_book_says_what_the_inventory_says() {
    let book = book();
    for variable in inventory::all() {
        let (values, default, built) = &book[variable.name];
        assert_eq!(values, variable.values, "values of {}", variable.name);
        assert_eq!(default, variable.default, "default of {}", variable.name);
        assert_eq!(*built, variable.is_built(), "whether {} is built", variable.name);
    }
}

#[test]
fn rows_are_whole_and_names_are_unique() {
    let mut seen = BTreeSet::new();
    for variable in inventory::all() {
        assert!(variable.name.starts_with(PREFIX), "{}", variable.name);
        assert!(seen.insert(variable.name), "{} stands twice", variable.name);
        assert!(!variable.values.is_empty() && !variable.default.is_empty(), "{}", variable.name);
        assert!(variable.meaning.ends_with('.'), "{}", variable.name);
        assert_eq!(inventory::find(variable.name).unwrap().name, variable.name);
    }
    assert_eq!(seen.len(), 86);
}

#[test]
fn what_protects_is_classed_as_protecting() {
    let listed = [
        "ADMIN_CA",
        "ADMIN_TOKEN",
        "ADMISSION",
        "ADMISSION_LLM",
        "ADMISSION_RATE",
        "ADMIT_TRUSTED_SOURCES",
        "ASSERTION_SECRET",
        "EMBEDDER",
        "EMBED_CA",
        "FORCE_EMBEDDER",
        "INDEX_CA",
        "LLM_CA",
        "MCP_HTTP_TOKEN",
        "ORCH_ADMIN_TOKEN",
        "ORCH_ENGINE_CA",
        "ORCH_KEY",
        "ORCH_METRICS_ADDR",
        "ORCH_METRICS_TOKEN",
        "ORCH_RATE_LIMIT",
        "OTLP_ENDPOINT",
        "OTLP_CA",
        "PASSPHRASE",
        "READ_AUDIT",
        "RECOVERY_PASSPHRASE",
        "RETRIEVAL",
        "SEMANTIC_GATE",
        "TRUST_FLOOR",
    ];
    // Outward addresses pin a path off the machine, and a reranker that cannot start must not be passed over.
    let paths = [
        "ADMIN_URL",
        "EMBED_URL",
        "LLM_URL",
        "QDRANT_URL",
        "CHROMA_URL",
        "MILVUS_URL",
        "WEAVIATE_URL",
        "PGVECTOR_DSN",
        "RERANKER",
    ];
    let expected: BTreeSet<String> =
        listed.iter().chain(&paths).map(|name| format!("{PREFIX}{name}")).collect();
    let found: BTreeSet<String> =
        inventory::all().filter(|v| v.class == Class::Protects).map(|v| v.name.to_owned()).collect();
    assert_eq!(found, expected);
}

#[test]
fn secrets_are_marked_so_that_they_are_never_trimmed() {
    for variable in inventory::all() {
        let sounds_secret = ["TOKEN", "SECRET", "PASSPHRASE", "_KEY", "DSN", "HEADERS"]
            .iter()
            .any(|part| variable.name.ends_with(part))
            && !variable.name.contains("TOKENIZER");
        assert_eq!(variable.secret, sounds_secret, "{}", variable.name);
    }
}

#[test]
fn readers_have_distinct_codes() {
    let codes: BTreeSet<char> = inventory::all().map(|variable| variable.reader.code()).collect();
    assert_eq!(codes.into_iter().collect::<String>(), "CEHLOTX");
    assert_eq!(Reader::Engine.code(), 'E');
}

#[test]
fn a_near_miss_is_recognised_and_a_stranger_is_not() {
    assert_eq!(inventory::nearest("UNDERCROFT_PASPHRASE"), Some("UNDERCROFT_PASSPHRASE"));
    assert_eq!(inventory::nearest("UNDERCROFT_FUSION_WIEGHT"), Some("UNDERCROFT_FUSION_WEIGHT"));
    assert_eq!(inventory::nearest("UNDERCROFT_COLOUR_SCHEME"), None);
    assert_eq!(inventory::nearest("UNDERCROFT_"), None);
}
