//! One resolver per variable that this version acts on, each over the parser that the pre-flight uses too.
//!
//! A resolver returns a typed value and what to tell the person who declared it. It decides no defaults: `None` is
//! "not declared, or not readable and only tuning", and the default belongs to whoever asked.

use std::ffi::OsString;

use super::environment::Environment;
use super::finding::{Complaint, Finding, Reading, Severity, read};
use super::inventory::{self, Check, Reader, Variable};
use super::parse::{self, Fusion, Limit, TrustFloor};
use super::{pins, transport};

/// Reads a variable of the inventory by name.
fn named<T>(
    environment: &Environment,
    name: &str,
    parse: impl FnOnce(&str) -> Result<T, Complaint>,
) -> Reading<T> {
    // Every name below is a row of the inventory, which a test checks in both directions.
    let variable = inventory::find(name).expect("resolvers name rows of the inventory");
    read(environment, variable, parse)
}

/// `UNDERCROFT_PASSPHRASE`, untrimmed.
pub fn passphrase(environment: &Environment) -> Reading<String> {
    named(environment, "UNDERCROFT_PASSPHRASE", |text| Ok(text.to_owned()))
}

/// `UNDERCROFT_HOME`: any path that is not empty.
#[must_use]
pub fn home(environment: &Environment) -> Option<OsString> {
    environment.non_empty("UNDERCROFT_HOME").map(OsString::from)
}

/// The two-letter language of result lines: `UNDERCROFT_LANG`, else `LANG`, each up to its first `_`, `-` or `.`.
#[must_use]
pub fn language_tag(environment: &Environment) -> Option<String> {
    let declared = |name| match environment.text(name) {
        Some(Ok(text)) if !text.trim().is_empty() => Some(text.trim().to_owned()),
        _ => None,
    };
    let tag = declared("UNDERCROFT_LANG").or_else(|| declared("LANG"))?;
    Some(tag.split(['_', '-', '.']).next().unwrap_or_default().to_ascii_lowercase())
}

/// `UNDERCROFT_EMBEDDER`: `hash` is the only one that is accepted.
pub fn embedder(environment: &Environment) -> Reading<()> {
    named(environment, "UNDERCROFT_EMBEDDER", parse::embedder)
}

/// `UNDERCROFT_FORCE_EMBEDDER`: whether it is exactly `1`.
#[must_use]
pub fn force_embedder(environment: &Environment) -> bool {
    matches!(environment.text("UNDERCROFT_FORCE_EMBEDDER"), Some(Ok(text)) if text.trim() == "1")
}

/// `UNDERCROFT_FUSION`.
pub fn fusion(environment: &Environment) -> Reading<Fusion> {
    named(environment, "UNDERCROFT_FUSION", parse::fusion)
}

/// `UNDERCROFT_FUSION_WEIGHT`, clamped.
pub fn fusion_weight(environment: &Environment) -> Reading<f64> {
    named(environment, "UNDERCROFT_FUSION_WEIGHT", parse::fusion_weight)
}

/// `UNDERCROFT_SEMANTIC_GATE`.
pub fn semantic_gate(environment: &Environment) -> Reading<Limit<f64>> {
    named(environment, "UNDERCROFT_SEMANTIC_GATE", parse::semantic_gate)
}

/// `UNDERCROFT_SEMANTIC_FLOOR`.
pub fn semantic_floor(environment: &Environment) -> Reading<f64> {
    named(environment, "UNDERCROFT_SEMANTIC_FLOOR", parse::semantic_floor)
}

/// `UNDERCROFT_TRUST_FLOOR`; the inner `None` is a declared `off`.
pub fn trust_floor(environment: &Environment) -> Reading<Option<TrustFloor>> {
    named(environment, "UNDERCROFT_TRUST_FLOOR", parse::trust_floor)
}

/// `UNDERCROFT_AUDIT_CEILING`.
pub fn audit_ceiling(environment: &Environment) -> Reading<Limit<u64>> {
    named(environment, "UNDERCROFT_AUDIT_CEILING", parse::off_or_at_least::<0>)
}

/// `UNDERCROFT_SEARCH_TRACE`: whether it is declared at all, whatever its value.
#[must_use]
pub fn search_trace(environment: &Environment) -> bool {
    environment.get("UNDERCROFT_SEARCH_TRACE").is_some()
}

/// `UNDERCROFT_MCP_HTTP_TOKEN`, untrimmed: what a client must show.
pub fn http_token(environment: &Environment) -> Reading<String> {
    named(environment, "UNDERCROFT_MCP_HTTP_TOKEN", |text| parse::token(text).map(|()| text.to_owned()))
}

/// `UNDERCROFT_ASSERTION_SECRET`, untrimmed: with what assertions for one vault are minted.
pub fn assertion_secret(environment: &Environment) -> Reading<String> {
    named(environment, "UNDERCROFT_ASSERTION_SECRET", |text| parse::any(text).map(|()| text.to_owned()))
}

/// `UNDERCROFT_ORCH_KEY`: under what the control plane keeps tokens.
pub fn orchestrator_key(environment: &Environment) -> Reading<[u8; 32]> {
    named(environment, "UNDERCROFT_ORCH_KEY", parse::hex_key_bytes)
}

/// `UNDERCROFT_ORCH_ADMIN_TOKEN`, untrimmed: what an operator must show.
pub fn admin_token(environment: &Environment) -> Reading<String> {
    named(environment, "UNDERCROFT_ORCH_ADMIN_TOKEN", |text| {
        parse::admin_token(text).map(|()| text.to_owned())
    })
}

/// `UNDERCROFT_ADMIN_URL`: where commands find the Admin API.
pub fn admin_url(environment: &Environment) -> Reading<String> {
    named(environment, "UNDERCROFT_ADMIN_URL", |text| transport::outward_url(text).map(|()| text.to_owned()))
}

/// `UNDERCROFT_ADMIN_TOKEN`, untrimmed: what commands show there.
pub fn operator_token(environment: &Environment) -> Reading<String> {
    named(environment, "UNDERCROFT_ADMIN_TOKEN", |text| parse::admin_token(text).map(|()| text.to_owned()))
}

/// `UNDERCROFT_ADMIN_CA`: whom commands trust there.
pub fn admin_authority(environment: &Environment) -> Reading<String> {
    named(environment, "UNDERCROFT_ADMIN_CA", |text| pins::certificate_file(text).map(|()| text.to_owned()))
}

/// `UNDERCROFT_RECOVERY_PASSPHRASE`, untrimmed: under what recovery kits are sealed.
pub fn recovery_passphrase(environment: &Environment) -> Reading<String> {
    named(environment, "UNDERCROFT_RECOVERY_PASSPHRASE", |text| parse::any(text).map(|()| text.to_owned()))
}

/// `UNDERCROFT_ORCH_ADDR`: where the control plane listens for operators.
pub fn orchestrator_address(environment: &Environment) -> Reading<String> {
    named(environment, "UNDERCROFT_ORCH_ADDR", |text| parse::listen_address(text).map(|()| text.to_owned()))
}

/// `UNDERCROFT_METRICS`.
pub fn metrics(environment: &Environment) -> Reading<bool> {
    named(environment, "UNDERCROFT_METRICS", parse::switch)
}

/// `UNDERCROFT_LOG`: filter directives, for the logger to judge.
#[must_use]
pub fn log_directives(environment: &Environment) -> Option<String> {
    match environment.text("UNDERCROFT_LOG") {
        Some(Ok(text)) if !text.trim().is_empty() => Some(text.trim().to_owned()),
        _ => None,
    }
}

/// `UNDERCROFT_LOG_FORMAT`: whether it is `json`.
#[must_use]
pub fn logs_are_json(environment: &Environment) -> bool {
    matches!(environment.text("UNDERCROFT_LOG_FORMAT"), Some(Ok(text)) if text.trim().eq_ignore_ascii_case("json"))
}

/// Judges one variable as the pre-flight does: the finding, or `None` when it is not declared.
#[must_use]
pub fn judge(environment: &Environment, variable: &Variable) -> Option<Finding> {
    match variable.check {
        Check::Parsed(parse) => read(environment, variable, parse).finding,
        // A path need not be text.
        Check::Opaque if environment.text(variable.name) == Some(Err(())) => Some(Finding {
            variable: variable.name.to_owned(),
            severity: Severity::Seen,
            message: "accepted as declared Opaque; it is not UTF-8, which only a path may be".to_owned(),
        }),
        Check::Opaque => read(environment, variable, parse::any).finding,
    }
}

/// What opening a vault has to say about the environment: warnings to print.
///
/// # Errors
/// The first finding that refuses, over every variable that [`Reader::Engine`] or [`Reader::Cli`] reads.
pub fn before_opening(environment: &Environment) -> Result<Vec<Finding>, Finding> {
    let mut warnings = Vec::new();
    for variable in inventory::all().filter(|v| matches!(v.reader, Reader::Engine | Reader::Cli)) {
        match judge(environment, variable) {
            Some(finding) if finding.severity == Severity::Refuse => return Err(finding),
            Some(finding) if finding.severity == Severity::Warn => warnings.push(finding),
            _ => {}
        }
    }
    Ok(warnings)
}
