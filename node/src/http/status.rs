//! Health of the process and its counters.

use std::time::{SystemTime, UNIX_EPOCH};

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use serde_json::json;
use undercroft_palace::ErrorClass;

use super::app::App;
use super::auth::shows_bearer;
use super::errors::{Answer, Refusal};

/// Whether a path is answered to anyone and always.
pub(super) fn is_open(path: &str) -> bool {
    matches!(path, "/healthz" | "/livez" | "/readyz")
}

/// Seconds since the Unix epoch, by this machine's clock.
pub(super) fn unix_seconds() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

pub(super) async fn healthz() -> &'static str {
    "ok"
}

/// Whether new requests are taken, with counts for anyone and names behind the bearer. A damaged vault does not make the
/// process unready: the others are served.
pub(super) async fn readyz(State(app): State<App>, headers: HeaderMap) -> Response {
    let damaged = app.serving.damaged();
    let ready = !app.serving.is_draining();
    let mut body = json!({
        "ready": ready,
        "open_vaults": app.serving.open_vaults(),
        "damaged_vaults": damaged.len(),
    });
    if shows_bearer(&app, &headers) {
        let named = damaged.iter().map(|found| json!({ "id": found.vault, "finding": found.finding }));
        body["damaged"] = named.collect();
    }
    let status = if ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    (status, Json(body)).into_response()
}

/// Counters in the Prometheus text format.
pub(super) async fn metrics(State(app): State<App>) -> Answer {
    if !app.options.metrics {
        return Err(Refusal::of(ErrorClass::NotFound, "not found"));
    }
    // Under assertions the names of vaults are nobody's but their owners'.
    let gauges = if app.options.assertions.is_some() { Vec::new() } else { app.serving.gauges().await };
    let text = app.metrics.render(&app.serving.counted(), &gauges).map_err(|error| {
        tracing::error!(%error, "metrics could not be rendered");
        Refusal::of(ErrorClass::Internal, "the counters could not be rendered")
    })?;
    Ok(([(header::CONTENT_TYPE, "text/plain; version=0.0.4")], text).into_response())
}
