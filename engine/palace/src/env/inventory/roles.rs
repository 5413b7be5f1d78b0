//! Variables of the processes that serve: the HTTP server, telemetry and the control plane.

use super::{Reader, Variable};
use crate::env::{parse, pins, transport};

const SERVER: &str = "the HTTP server";
const TELEMETRY: &str = "telemetry";
const CONTROL: &str = "the control plane";

pub(super) const TABLE: &[Variable] = &[
    Variable::protects("UNDERCROFT_MCP_HTTP_TOKEN", Reader::Server, parse::token)
        .secret()
        .values("bearer, no white space at its end")
        .default("unset: this machine only")
        .means("Guards the server; required when it listens beyond this machine."),
    Variable::protects("UNDERCROFT_ASSERTION_SECRET", Reader::Server, parse::any)
        .secret()
        .values("any text that is not blank")
        .means("Demands a fresh assertion for each vault."),
    Variable::tunes("UNDERCROFT_METRICS", Reader::Server, |v| parse::switch(v).map(drop))
        .values("1, true, 0, false, off")
        .default("off")
        .means("Serves `/metrics`."),
    Variable::tunes("UNDERCROFT_SAMPLE_INTERVAL_MS", Reader::Server, |v| parse::at_least::<100>(v).map(drop))
        .values("whole number of at least 100")
        .default("2000")
        .means("Milliseconds between two samples of the gauges.")
        .unbuilt(SERVER),
    Variable::opaque("UNDERCROFT_LOG", Reader::Telemetry)
        .values("filter directives")
        .default("`warn,undercroft=info`")
        .means("What is logged."),
    Variable::opaque("UNDERCROFT_LOG_FORMAT", Reader::Telemetry)
        .values("json (to standard output), or anything else for text (to standard error)")
        .default("text")
        .means("How logs are written."),
    Variable::protects("UNDERCROFT_OTLP_ENDPOINT", Reader::Telemetry, transport::outward_url)
        .blank_refused()
        .values("https anywhere, http on this machine")
        .default("unset: nothing is exported")
        .means("Where traces are sent.")
        .unbuilt(TELEMETRY),
    Variable::protects("UNDERCROFT_OTLP_CA", Reader::Telemetry, pins::certificate_file)
        .blank_refused()
        .values("PEM file")
        .means("Pins the collector's authority in place of the public roots.")
        .unbuilt(TELEMETRY),
    Variable::opaque("UNDERCROFT_OTLP_HEADERS", Reader::Telemetry)
        .credential()
        .values("key=value pairs, separated by commas")
        .default("none")
        .means("Headers of each export.")
        .unbuilt(TELEMETRY),
    Variable::opaque("UNDERCROFT_SERVICE_NAME", Reader::Telemetry)
        .values("name")
        .default("undercroft")
        .means("The name that traces carry.")
        .unbuilt(TELEMETRY),
    Variable::opaque("UNDERCROFT_ORCH_DB", Reader::Orchestrator)
        .values("path")
        .default("orchestrator.db")
        .means("The control plane's state.")
        .unbuilt(CONTROL),
    Variable::protects("UNDERCROFT_ORCH_KEY", Reader::Orchestrator, parse::hex_key)
        .secret()
        .values("64 hexadecimal digits (32 bytes)")
        .default("required by the control plane")
        .means("Authenticates tokens; the same for each member."),
    Variable::protects("UNDERCROFT_ORCH_ADMIN_TOKEN", Reader::Orchestrator, parse::admin_token)
        .secret()
        .values("at least 16 characters, no white space at its end")
        .default("required by the control plane")
        .means(
            "Guards the operator's routes; commands show it when `UNDERCROFT_ADMIN_TOKEN` is not declared.",
        ),
    Variable::protects("UNDERCROFT_ADMIN_URL", Reader::Orchestrator, transport::outward_url)
        .values("https anywhere, http on this machine")
        .default("http://127.0.0.1:8900")
        .means("Where the commands of a fleet find its Admin API; `--admin-url` goes before it."),
    Variable::protects("UNDERCROFT_ADMIN_TOKEN", Reader::Orchestrator, parse::admin_token)
        .secret()
        .values("at least 16 characters, no white space at its end")
        .default("`UNDERCROFT_ORCH_ADMIN_TOKEN`")
        .means("What those commands show there; `--admin-token-file` goes before it."),
    Variable::protects("UNDERCROFT_ADMIN_CA", Reader::Orchestrator, pins::certificate_file)
        .blank_refused()
        .values("PEM file")
        .means("Whom they trust when the address is https: the cluster's `ca.crt`; `--ca` goes before it."),
    Variable::protects("UNDERCROFT_RECOVERY_PASSPHRASE", Reader::Orchestrator, parse::any)
        .secret()
        .values("any text that is not blank; at least 12 characters for a new kit")
        .means("Seals and opens recovery kits; `--passphrase-file` goes before it."),
    Variable::tunes("UNDERCROFT_ORCH_ADDR", Reader::Orchestrator, parse::listen_address)
        .values("host:port")
        .default("127.0.0.1:8900")
        .means("Where the control plane listens for operators."),
    Variable::protects("UNDERCROFT_ORCH_ENGINE_CA", Reader::Orchestrator, pins::certificate_file)
        .blank_refused()
        .values("PEM file")
        .means("Pins the authority of the hop to the engines.")
        .unbuilt(CONTROL),
    Variable::protects("UNDERCROFT_ORCH_RATE_LIMIT", Reader::Orchestrator, |v| {
        parse::rate_limit(v).map(drop)
    })
    .values("whole number a minute; 0 or off for none")
    .default("off")
    .means("Requests that one tenant may make a minute.")
    .unbuilt(CONTROL),
    Variable::protects("UNDERCROFT_ORCH_METRICS_ADDR", Reader::Orchestrator, parse::optional_listener)
        .values("host:port, or off")
        .default("off")
        .means("A listener of its own for the control plane's metrics.")
        .unbuilt(CONTROL),
    Variable::protects("UNDERCROFT_ORCH_METRICS_TOKEN", Reader::Orchestrator, parse::token)
        .secret()
        .values("bearer, no white space at its end")
        .default("unset: this machine only")
        .means("Guards those metrics.")
        .unbuilt(CONTROL),
];
