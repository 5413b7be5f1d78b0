//! `serve-http`: vaults over HTTP until told to stop.

use undercroft_node::http::{AppOptions, AssertionSecret, Bearer};
use undercroft_node::serving::{Bounds, ServingOptions};
use undercroft_node::telemetry::{LogFormat, start_logs};
use undercroft_node::{Listening, Setup};
use undercroft_palace::env::parse::Fusion;
use undercroft_palace::env::{Reading, Severity, resolve};
use undercroft_palace::{Access, CreateKeys, registry};

use crate::args::ServeHttpArgs;
use crate::context::{Context, DEFAULT_VAULT};
use crate::error::Outcome;

pub(super) fn run(args: &ServeHttpArgs, context: &Context) -> Outcome {
    // Every declaration is read before anything is opened.
    let app = app_options(context)?;
    let palace = context.palace(CreateKeys::Never)?;
    let resident = context.vault_name().to_owned();
    if resident != DEFAULT_VAULT {
        registry::existing(&context.home, &resident)?;
    }
    let _lines = start_logs(resolve::log_directives(&context.environment).as_deref(), log_format(context));
    let access = if args.read_only { Access::ReadOnly } else { Access::Write };
    let setup = Setup {
        palace,
        serving: ServingOptions { access, resident: Some(resident), bounds: Bounds::of_this_machine() },
        app,
        host: args.host.clone(),
        port: args.port,
    };
    let posture = if args.read_only { ", read-only" } else { "" };
    let drained = undercroft_node::run(setup, |Listening { address }| {
        crate::print::aside(&format!(
            "Serving {} on http://{address}{posture}",
            context.home.root().display()
        ));
    })?;
    if !drained.answered || drained.vaults_left > 0 {
        crate::print::aside(
            "Note: stopped before everything was finished; the next open heals what was left",
        );
    }
    Ok(())
}

fn app_options(context: &Context) -> Outcome<AppOptions> {
    let settings = context.settings()?;
    let environment = &context.environment;
    Ok(AppOptions {
        bearer: declared(resolve::http_token(environment))?.map(Bearer::new),
        assertions: declared(resolve::assertion_secret(environment))?.map(AssertionSecret::new),
        metrics: declared(resolve::metrics(environment))?.unwrap_or(false),
        audit_ceiling: settings.audit_ceiling,
        fusion: match settings.fusion {
            Fusion::Bm25 => "bm25",
            Fusion::Legacy => "legacy",
        },
        ..AppOptions::default()
    })
}

/// The value; a finding that only warns is printed, one that refuses stops the start.
fn declared<T>(reading: Reading<T>) -> Outcome<Option<T>> {
    if let Some(finding) = reading.finding.as_ref().filter(|finding| finding.severity == Severity::Warn) {
        crate::print::aside(&format!("Warning: {}: {}", finding.variable, finding.message));
    }
    Ok(reading.accept().map_err(undercroft_palace::Error::Declaration)?)
}

fn log_format(context: &Context) -> LogFormat {
    if resolve::logs_are_json(&context.environment) { LogFormat::Json } else { LogFormat::Text }
}
