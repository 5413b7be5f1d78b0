//! The pre-flight over whole environments.

use super::check;
use crate::env::{Environment, Severity, inventory};

#[test]
fn an_empty_environment_starts() {
    let report = check(&Environment::default());
    assert!(report.starts() && report.findings.is_empty());
}

#[test]
fn counts_tell_what_was_parsed_from_what_was_taken_as_it_stands() {
    let report = check(&Environment::from_pairs([
        ("UNDERCROFT_FUSION", "bm25"),
        ("UNDERCROFT_SEMANTIC_GATE", "0.2"),
        ("UNDERCROFT_HOME", "/somewhere"),
        ("UNDERCROFT_METRICS", "perhaps"),
        ("PATH", "/bin"),
    ]));
    assert_eq!((report.validated, report.accepted, report.warnings(), report.refusals()), (2, 1, 1, 0));
    assert!(report.starts());
}

#[test]
fn one_refusal_is_enough() {
    let report =
        check(&Environment::from_pairs([("UNDERCROFT_FUSION", "bm25"), ("UNDERCROFT_READ_AUDIT", "chain")]));
    assert!(!report.starts());
}

#[test]
fn unknown_names_are_warned_about_with_the_nearest_known_one() {
    let report = check(&Environment::from_pairs([
        ("UNDERCROFT_REED_AUDIT", "chain"),
        ("UNDERCROFT_XYZZY_PLUGH", "1"),
        ("UNDERCROFT_VS_URL", "http://elsewhere.example"),
    ]));
    assert!(report.starts());
    let messages: Vec<(&str, Severity, bool)> = report
        .findings
        .iter()
        .map(|f| (f.variable.as_str(), f.severity, f.message.contains("did you mean UNDERCROFT_READ_AUDIT?")))
        .collect();
    assert_eq!(
        messages,
        [("UNDERCROFT_REED_AUDIT", Severity::Warn, true), ("UNDERCROFT_XYZZY_PLUGH", Severity::Warn, false)]
    );
}

#[test]
fn the_preflight_exercises_every_variable_of_the_inventory() {
    let everything = Environment::from_pairs(inventory::all().map(|variable| (variable.name, "1")));
    let report = check(&everything);
    let judged: Vec<&str> = report.findings.iter().map(|finding| finding.variable.as_str()).collect();
    let known: Vec<&str> = inventory::all().map(|variable| variable.name).collect();
    assert_eq!(judged, known);
}
