//! Resolvers: good, bad, off and blank declarations, and what each does to a start.

use super::parse::{Fusion, Limit, TrustFloor};
use super::{Environment, Finding, Severity, inventory, resolve};
use crate::settings::VaultSettings;

fn declared(pairs: &[(&str, &str)]) -> Environment {
    Environment::from_pairs(pairs.iter().copied())
}

fn judged(name: &str, value: &str) -> Option<Finding> {
    resolve::judge(&declared(&[(name, value)]), inventory::find(name).unwrap())
}

fn severity(name: &str, value: &str) -> Option<Severity> {
    judged(&format!("UNDERCROFT_{name}"), value).map(|finding| finding.severity)
}

#[test]
fn every_parsed_variable_refuses_or_warns_as_its_class_says() {
    let accept_any =
        ["UNDERCROFT_PASSPHRASE", "UNDERCROFT_ASSERTION_SECRET", "UNDERCROFT_RECOVERY_PASSPHRASE"];
    for variable in inventory::all().filter(|v| v.is_parsed() && !accept_any.contains(&v.name)) {
        let finding = judged(variable.name, "no-such-value ").unwrap();
        let expected = match variable.class {
            inventory::Class::Protects => Severity::Refuse,
            inventory::Class::Tunes => Severity::Warn,
        };
        assert_eq!(finding.severity, expected, "{finding:?}");
        assert!(!finding.message.is_empty());
    }
}

#[test]
fn good_bad_off_and_blank_values() {
    use Severity::{Ok, Refuse, Seen, Warn};
    let table: &[(&str, &str, Option<Severity>)] = &[
        ("EMBEDDER", "hash", Some(Ok)),
        ("EMBEDDER", " hash ", Some(Ok)),
        ("EMBEDDER", "onnx", Some(Refuse)),
        ("EMBEDDER", "", None),
        ("FUSION", "bm25", Some(Ok)),
        ("FUSION", "rrf", Some(Warn)),
        ("FUSION", "  ", None),
        ("FUSION_WEIGHT", "0.9", Some(Ok)),
        ("FUSION_WEIGHT", "much", Some(Warn)),
        ("SEMANTIC_GATE", "0.4", Some(Ok)),
        ("SEMANTIC_GATE", "off", Some(Ok)),
        ("SEMANTIC_GATE", "4", Some(Refuse)),
        ("SEMANTIC_FLOOR", "0.99", Some(Warn)),
        ("TRUST_FLOOR", "standard", Some(Ok)),
        ("TRUST_FLOOR", "trusted", Some(Refuse)),
        ("TRUST_FLOOR", "high", Some(Refuse)),
        ("RETRIEVAL", "pq", Some(Refuse)),
        ("RETRIEVAL", "off", Some(Ok)),
        ("ADMISSION", "off", Some(Ok)),
        ("ADMISSION", "quarantine", Some(Refuse)),
        ("ADMISSION_RATE", "10/60", Some(Ok)),
        ("ADMISSION_RATE", "fast", Some(Refuse)),
        ("ADMISSION_LLM", "advisory", Some(Refuse)),
        ("READ_AUDIT", "off", Some(Ok)),
        ("READ_AUDIT", "chain", Some(Refuse)),
        ("IVF_MIN", "4096", Some(Warn)),
        ("AUDIT_CEILING", "1000", Some(Ok)),
        ("SEARCH_TRACE", "0", Some(Seen)),
        ("FORCE_EMBEDDER", "yes", Some(Seen)),
        ("PASSPHRASE", "word", Some(Ok)),
        ("PASSPHRASE", "", Some(Refuse)),
        ("PASSPHRASE", " \t", Some(Refuse)),
        ("MCP_HTTP_TOKEN", "a token", Some(Ok)),
        ("MCP_HTTP_TOKEN", "token\n", Some(Refuse)),
        ("MCP_HTTP_TOKEN", "", Some(Refuse)),
        ("ASSERTION_SECRET", " ", Some(Refuse)),
        ("METRICS", "1", Some(Ok)),
        ("METRICS", "maybe", Some(Warn)),
        ("OTLP_ENDPOINT", "", Some(Refuse)),
        ("OTLP_ENDPOINT", "http://collector.example:4318", Some(Refuse)),
        ("LLM_URL", "http://localhost:11434", Some(Ok)),
        ("LLM_URL", "http://model.example", Some(Refuse)),
        ("LLM_CA", "", Some(Refuse)),
        ("ORCH_KEY", "short", Some(Refuse)),
        ("ORCH_ADDR", "nowhere", Some(Warn)),
        ("LANG", "nl", Some(Warn)),
    ];
    for (name, value, expected) in table {
        assert_eq!(severity(name, value), *expected, "{name}={value:?}");
    }
}

#[test]
fn no_message_repeats_a_secret() {
    for variable in inventory::all().filter(|v| v.secret || v.name.ends_with("_URL")) {
        for value in ["hunter2 ", "http://user:hunter2@far.example", "host=far.example password=hunter2"] {
            let message = judged(variable.name, value).map(|finding| finding.message).unwrap_or_default();
            assert!(!message.contains("hunter2"), "{}: {message}", variable.name);
        }
    }
    let shown = format!("{:?}", declared(&[("UNDERCROFT_PASSPHRASE", "hunter2")]));
    assert!(shown.contains("UNDERCROFT_PASSPHRASE") && !shown.contains("hunter2"));
}

#[test]
fn a_passphrase_is_never_trimmed() {
    let reading = resolve::passphrase(&declared(&[("UNDERCROFT_PASSPHRASE", " two words\n")]));
    assert_eq!(reading.accept().unwrap().as_deref(), Some(" two words\n"));
}

#[cfg(unix)]
#[test]
fn a_value_that_is_not_text_is_unreadable_unless_it_is_a_path() {
    use std::ffi::OsString;
    use std::os::unix::ffi::OsStringExt;
    let bytes = OsString::from_vec(vec![b'/', 0xff]);
    let environment = Environment::from_pairs([
        (OsString::from("UNDERCROFT_HOME"), bytes.clone()),
        (OsString::from("UNDERCROFT_PASSPHRASE"), bytes.clone()),
    ]);
    assert_eq!(resolve::home(&environment), Some(bytes));
    let finding = |name| resolve::judge(&environment, inventory::find(name).unwrap()).unwrap();
    assert_eq!(finding("UNDERCROFT_HOME").severity, Severity::Seen);
    assert_eq!(finding("UNDERCROFT_PASSPHRASE").severity, Severity::Refuse);
}

#[test]
fn settings_take_declarations_and_keep_defaults_for_the_rest() {
    let environment = declared(&[
        ("UNDERCROFT_FUSION", "legacy"),
        ("UNDERCROFT_FUSION_WEIGHT", "0.1"),
        ("UNDERCROFT_SEMANTIC_GATE", "off"),
        ("UNDERCROFT_TRUST_FLOOR", "standard"),
        ("UNDERCROFT_FORCE_EMBEDDER", "1"),
        ("UNDERCROFT_AUDIT_CEILING", "5"),
        ("UNDERCROFT_SEARCH_TRACE", "0"),
        ("UNDERCROFT_SEMANTIC_FLOOR", "none"),
    ]);
    let (settings, warnings) = VaultSettings::resolve(&environment).unwrap();
    assert_eq!(
        settings,
        VaultSettings {
            fusion: Fusion::Legacy,
            fusion_weight: 0.20,
            semantic_gate: Some(Limit::Off),
            semantic_floor: None,
            trust_floor: Some(TrustFloor::Standard),
            force_embedder: true,
            audit_ceiling: Some(5),
            search_trace: true,
        }
    );
    let warned: Vec<&str> = warnings.iter().map(|finding| finding.variable.as_str()).collect();
    assert_eq!(warned, ["UNDERCROFT_SEMANTIC_FLOOR"]);
    assert_eq!(VaultSettings::resolve(&declared(&[])).unwrap(), (VaultSettings::default(), vec![]));
}

#[test]
fn a_declared_protection_that_cannot_be_had_stops_the_start() {
    for (name, value) in [
        ("UNDERCROFT_ADMISSION", "quarantine"),
        ("UNDERCROFT_READ_AUDIT", "chain"),
        ("UNDERCROFT_RETRIEVAL", "hnsw"),
        ("UNDERCROFT_EMBED_CA", "/no/such/file.pem"),
    ] {
        let finding = VaultSettings::resolve(&declared(&[(name, value)])).unwrap_err();
        assert_eq!(finding.variable, name);
    }
    // A declaration for a process that is not this one does not stop a local command.
    assert!(VaultSettings::resolve(&declared(&[("UNDERCROFT_ORCH_KEY", "short")])).is_ok());
}

#[test]
fn the_language_comes_from_the_nearest_declaration() {
    let tag = |pairs: &[(&str, &str)]| resolve::language_tag(&declared(pairs));
    assert_eq!(tag(&[("UNDERCROFT_LANG", "DE"), ("LANG", "fr_FR.UTF-8")]).as_deref(), Some("de"));
    assert_eq!(tag(&[("UNDERCROFT_LANG", ""), ("LANG", "pt-BR")]).as_deref(), Some("pt"));
    assert_eq!(tag(&[("LANG", "C.UTF-8")]).as_deref(), Some("c"));
    assert_eq!(tag(&[]), None);
}
