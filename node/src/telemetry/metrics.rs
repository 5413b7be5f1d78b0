//! Counters in the Prometheus text format: every series, its name, its labels and its unit, in one table each. Labels are
//! routes, statuses and names of vaults; nothing that somebody said.

use std::time::Duration;

use prometheus::core::Collector;
use prometheus::{
    Histogram, HistogramOpts, HistogramVec, IntCounter, IntCounterVec, IntGaugeVec, Opts, Registry,
    TextEncoder,
};

use super::lines;
use crate::serving::{Counted, Gauge, Surface};

/// Upper bounds of the buckets of durations, in seconds.
const SECONDS: [f64; 12] = [0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5, 1.0, 10.0, 60.0];
/// Upper bounds of the buckets of hits.
const HITS: [f64; 6] = [0.0, 1.0, 5.0, 10.0, 50.0, 500.0];

/// The counters of one server.
pub(crate) struct Metrics {
    requests: IntCounterVec,
    request_seconds: HistogramVec,
    rejections: IntCounterVec,
    connections: IntCounterVec,
    searches: IntCounterVec,
    search_seconds: Histogram,
    search_hits: Histogram,
}

impl Metrics {
    pub(crate) fn new() -> Self {
        let connections = counters(
            "undercroft_http_connections_ended_total",
            "Connections that the server ended or turned away",
            &["reason"],
        );
        for reason in ["idle", "full", "stalled"] {
            // Shown from the start: a counter that appears only with its first event hides that one.
            connections.with_label_values(&[reason]).inc_by(0);
        }
        Self {
            requests: counters("undercroft_http_requests_total", "Requests answered", &["route", "status"]),
            request_seconds: known(HistogramVec::new(
                HistogramOpts::new("undercroft_http_request_duration_seconds", "Time to answer a request")
                    .buckets(SECONDS.to_vec()),
                &["route"],
            )),
            rejections: counters("undercroft_auth_rejections_total", "Requests without right", &["kind"]),
            connections,
            searches: counters("undercroft_search_total", "Searches", &["fusion"]),
            search_seconds: histogram("undercroft_search_duration_seconds", "Time of a search", &SECONDS),
            search_hits: histogram("undercroft_search_hits", "Hits of a search", &HITS),
        }
    }

    /// A request was answered.
    pub(crate) fn request(&self, route: &str, status: u16, took: Duration) {
        self.requests.with_label_values(&[route, &status.to_string()]).inc();
        self.request_seconds.with_label_values(&[route]).observe(took.as_secs_f64());
    }

    /// A request had no right: `bearer` or `assertion`.
    pub(crate) fn rejected(&self, kind: &str) {
        self.rejections.with_label_values(&[kind]).inc();
    }

    /// The server ended connections, or turned them away: `idle`, `full` or `stalled`.
    pub(crate) fn connections_ended(&self, reason: &str, count: usize) {
        self.connections.with_label_values(&[reason]).inc_by(count as u64);
    }

    /// A search was done.
    pub(crate) fn search(&self, fusion: &str, took: Duration, hits: usize) {
        self.searches.with_label_values(&[fusion]).inc();
        self.search_seconds.observe(took.as_secs_f64());
        self.search_hits.observe(hits as f64);
    }

    /// Everything, with what the serving part counted, what the log lost and what open vaults hold.
    pub(crate) fn render(&self, counted: &Counted, gauges: &[Gauge]) -> prometheus::Result<String> {
        let registry = Registry::new();
        let own: [Box<dyn Collector>; 7] = [
            Box::new(self.requests.clone()),
            Box::new(self.request_seconds.clone()),
            Box::new(self.rejections.clone()),
            Box::new(self.connections.clone()),
            Box::new(self.searches.clone()),
            Box::new(self.search_seconds.clone()),
            Box::new(self.search_hits.clone()),
        ];
        for collector in own.into_iter().chain(serving(counted)).chain(vaults(gauges)) {
            registry.register(collector)?;
        }
        TextEncoder::new().encode_to_string(&registry.gather())
    }
}

/// The counters of the serving part.
fn serving(counted: &Counted) -> Vec<Box<dyn Collector>> {
    let writes = counters("undercroft_drawer_writes_total", "Drawers written", &["outcome"]);
    writes.with_label_values(&["created"]).inc_by(counted.created);
    writes.with_label_values(&["deduped"]).inc_by(counted.deduped);
    let failures = counters(
        "undercroft_hmac_verify_failures_total",
        "Integrity verdicts, by what failed its check",
        &["surface"],
    );
    for (surface, failed) in Surface::ALL.iter().zip(counted.failed) {
        failures.with_label_values(&[surface.as_str()]).inc_by(failed);
    }
    vec![
        Box::new(writes),
        Box::new(failures),
        counter("undercroft_drawer_deletes_total", "Drawers destroyed", counted.deleted),
        counter("undercroft_chain_commits_total", "Records that audit chains grew by", counted.chained),
        counter("undercroft_vault_opens_total", "Vaults opened", counted.vault_opens),
        counter("undercroft_write_groups_total", "Transactions of waiting writes", counted.write_groups),
        counter("undercroft_grouped_writes_total", "Writes in those transactions", counted.grouped_writes),
        counter("undercroft_log_lines_dropped_total", "Lines that nobody read in time", lines::dropped()),
    ]
}

/// Name, meaning, and the number that it takes from a vault.
type Series = (&'static str, &'static str, fn(&Gauge) -> u64);

/// What each open vault holds.
fn vaults(gauges: &[Gauge]) -> Vec<Box<dyn Collector>> {
    let series: [Series; 3] = [
        ("undercroft_drawers", "Drawers of an open vault", |vault| vault.drawers),
        ("undercroft_audit_chain_height", "Records of the audit chain of an open vault", |vault| {
            vault.height
        }),
        ("undercroft_store_bytes", "Bytes of the database of an open vault", |vault| vault.bytes),
    ];
    let filled = series.map(|(name, help, value)| {
        let series = known(IntGaugeVec::new(Opts::new(name, help), &["vault"]));
        for vault in gauges {
            series.with_label_values(&[&vault.vault]).set(i64::try_from(value(vault)).unwrap_or(i64::MAX));
        }
        Box::new(series) as Box<dyn Collector>
    });
    filled.into()
}

fn counter(name: &str, help: &str, value: u64) -> Box<dyn Collector> {
    let counter = known(IntCounter::new(name, help));
    counter.inc_by(value);
    Box::new(counter)
}

fn counters(name: &str, help: &str, labels: &[&str]) -> IntCounterVec {
    known(IntCounterVec::new(Opts::new(name, help), labels))
}

fn histogram(name: &str, help: &str, buckets: &[f64]) -> Histogram {
    known(Histogram::with_opts(HistogramOpts::new(name, help).buckets(buckets.to_vec())))
}

fn known<T>(made: prometheus::Result<T>) -> T {
    // Fails for a malformed name or for buckets that do not rise; those above are constants, and a test renders them all.
    made.expect("the series of this file are well formed")
}

/// The label of a route, from its template. Few and known, whatever clients ask for.
pub(crate) fn route_label(template: &str, status: u16) -> &'static str {
    if status == 401 {
        return "unauthorized";
    }
    let rest = template.strip_prefix("/v1/vaults/{id}/");
    match rest.map(|rest| rest.split('/').next().unwrap_or_default()) {
        Some("search") => "v1_search",
        Some("stats") if template.ends_with("/history") => "v1_stats_history",
        Some("stats") => "v1_stats",
        Some("stream") => "v1_stream",
        Some("export") => "v1_export",
        Some("import") => "v1_import",
        Some("taxonomy") => "v1_taxonomy",
        Some("kg") => "v1_kg",
        Some("verify") => "v1_verify",
        Some("repair") => "v1_repair",
        Some("anchor") => "v1_anchor",
        Some("rotate") => "v1_rotate",
        Some("drawers") => "v1_drawers",
        Some("dedup") => "v1_dedup",
        Some("history") => "v1_history",
        Some("supersessions") => "v1_supersessions",
        Some("wake-up") => "v1_wake_up",
        Some("backups") => "v1_backups",
        Some("mcp") => "mcp",
        Some(_) => "other",
        None => whole(template),
    }
}

fn whole(template: &str) -> &'static str {
    match template {
        "/healthz" | "/livez" | "/readyz" => "healthz",
        "/metrics" => "metrics",
        "/ui" => "ui",
        "/monitor" => "monitor",
        "/mcp" => "mcp",
        "/v1/vaults" | "/v1/vaults/{id}" => "v1_vaults",
        _ => "other",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_series_is_rendered_with_its_labels() {
        let metrics = Metrics::new();
        metrics.request("v1_search", 200, Duration::from_millis(3));
        metrics.rejected("bearer");
        metrics.connections_ended("idle", 3);
        metrics.search("bm25", Duration::from_millis(2), 5);
        let counted = Counted {
            vault_opens: 1,
            write_groups: 2,
            grouped_writes: 3,
            created: 4,
            deduped: 5,
            deleted: 6,
            chained: 8,
            failed: [9, 0, 1, 0],
        };
        let vault = Gauge { vault: String::from("one"), drawers: 10, height: 7, bytes: 4096 };
        let text = metrics.render(&counted, &[vault]).unwrap();
        for line in [
            "undercroft_http_requests_total{route=\"v1_search\",status=\"200\"} 1",
            "undercroft_http_request_duration_seconds_count{route=\"v1_search\"} 1",
            "undercroft_auth_rejections_total{kind=\"bearer\"} 1",
            "undercroft_http_connections_ended_total{reason=\"idle\"} 3",
            "undercroft_search_total{fusion=\"bm25\"} 1",
            "undercroft_search_duration_seconds_count 1",
            "undercroft_search_hits_sum 5",
            "undercroft_vault_opens_total 1",
            "undercroft_write_groups_total 2",
            "undercroft_grouped_writes_total 3",
            "undercroft_drawer_writes_total{outcome=\"created\"} 4",
            "undercroft_drawer_writes_total{outcome=\"deduped\"} 5",
            "undercroft_drawer_deletes_total 6",
            "undercroft_chain_commits_total 8",
            "undercroft_hmac_verify_failures_total{surface=\"drawer\"} 9",
            "undercroft_hmac_verify_failures_total{surface=\"manifest\"} 0",
            "undercroft_hmac_verify_failures_total{surface=\"chain\"} 1",
            "undercroft_drawers{vault=\"one\"} 10",
            "undercroft_audit_chain_height{vault=\"one\"} 7",
            "undercroft_store_bytes{vault=\"one\"} 4096",
        ] {
            assert!(text.lines().any(|found| found == line), "{line}\n{text}");
        }
    }

    #[test]
    fn routes_have_few_and_known_labels() {
        assert_eq!(route_label("/v1/vaults/{id}/drawers/{drawer_id}", 200), "v1_drawers");
        assert_eq!(route_label("/v1/vaults/{id}/stats/history", 501), "v1_stats_history");
        assert_eq!(route_label("/v1/vaults/{id}/kg/query", 501), "v1_kg");
        assert_eq!(route_label("/v1/vaults/{id}", 404), "v1_vaults");
        assert_eq!(route_label("/v1/vaults/{id}/search", 401), "unauthorized");
        assert_eq!(route_label("none", 404), "other");
    }
}
