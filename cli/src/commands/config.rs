//! `config check`: what the pre-flight found.

use serde_json::json;
use undercroft_palace::ErrorClass;
use undercroft_palace::check::{Report, check as preflight};
use undercroft_palace::env::{Finding, Severity};

use crate::args::ConfigCheckArgs;
use crate::context::Context;
use crate::error::{Failure, Outcome};

pub(super) fn check(args: &ConfigCheckArgs, context: &mut Context) -> Outcome {
    let report = preflight(&context.environment);
    if context.out.is_json() {
        print_object(&report, context)?;
    } else {
        print_lines(&report, args.verbose, context)?;
    }
    if report.starts() {
        return Ok(());
    }
    if context.out.is_json() {
        // The object says so already, and one object is what was asked for.
        return Err(Failure::Told(ErrorClass::Invalid));
    }
    Err(Failure::invalid(format!(
        "this environment does not start: {} declaration(s) refuse",
        report.refusals()
    )))
}

fn print_lines(report: &Report, verbose: bool, context: &mut Context) -> Outcome {
    context.out.line("Checked the environment only: no vault, no database and no connection was opened.")?;
    for finding in &report.findings {
        if finding.severity != Severity::Seen || verbose {
            context.out.stored_line(&line(finding))?;
        }
    }
    context.out.line(&format!(
        "{} declaration(s) validated; {} accepted as declared Opaque, which this check has NOT validated.",
        report.validated, report.accepted
    ))?;
    context.out.line(&format!("{} warning(s), {} refusal(s).", report.warnings(), report.refusals()))?;
    if report.starts() { context.out.line("This environment starts.") } else { Ok(()) }
}

fn line(finding: &Finding) -> String {
    format!("  {:<7} {}: {}", word(finding.severity), finding.variable, finding.message)
}

fn word(severity: Severity) -> &'static str {
    match severity {
        Severity::Ok => "ok",
        Severity::Seen => "seen",
        Severity::Warn => "warn",
        Severity::Refuse => "REFUSES",
    }
}

fn print_object(report: &Report, context: &mut Context) -> Outcome {
    let findings: Vec<_> = report
        .findings
        .iter()
        .map(|f| json!({ "variable": f.variable, "severity": word(f.severity).to_lowercase(), "message": f.message }))
        .collect();
    context.out.object(&json!({
        "starts": report.starts(),
        "validated": report.validated,
        "accepted": report.accepted,
        "warnings": report.warnings(),
        "refusals": report.refusals(),
        "findings": findings,
    }))
}
