//! Health of the process and its counters.

use std::time::{SystemTime, UNIX_EPOCH};

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use undercroft_palace::ErrorClass;

use super::app::App;
use super::auth::shows_bearer;
use super::contract::{Answers, Draft};
use super::errors::{Answer, Refusal};
use crate::reply::{Damaged, Readiness};

/// Media type of the Prometheus text format.
const COUNTERS: &str = "text/plain; version=0.0.4";

/// Whether a path is answered to anyone and always.
pub(super) fn is_open(path: &str) -> bool {
    matches!(path, "/healthz" | "/livez" | "/readyz")
}

/// Seconds since the Unix epoch, by this machine's clock.
pub(super) fn unix_seconds() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

/// An answer that anyone gets, always.
pub(super) struct Open<T>(T);

/// 200 while new requests are taken, 503 when not.
pub(super) struct Ready(Readiness);

/// Counters as text.
pub(super) struct Counters(String);

pub(super) async fn healthz() -> Open<&'static str> {
    Open("ok")
}

/// Whether new requests are taken, with counts for anyone and names behind the bearer. A damaged vault does not make the
/// process unready: the others are served.
pub(super) async fn readyz(State(app): State<App>, headers: HeaderMap) -> Open<Ready> {
    let damaged = app.serving.damaged();
    let ready = !app.serving.is_draining();
    Open(Ready(Readiness {
        ready,
        open_vaults: app.serving.open_vaults(),
        damaged_vaults: damaged.len(),
        damaged: shows_bearer(&app, &headers).then(|| {
            let named = damaged.into_iter().map(|found| Damaged { id: found.vault, finding: found.finding });
            named.collect()
        }),
    }))
}

/// Counters in the Prometheus text format.
pub(super) async fn metrics(State(app): State<App>) -> Answer<Counters> {
    if !app.options.metrics {
        return Err(Refusal::of(ErrorClass::NotFound, "not found"));
    }
    // Under assertions the names of vaults are nobody's but their owners'.
    let gauges = if app.options.assertions.is_some() { Vec::new() } else { app.serving.gauges().await };
    let text = app.metrics.render(&app.serving.counted(), &gauges).map_err(|error| {
        tracing::error!(%error, "metrics could not be rendered");
        Refusal::of(ErrorClass::Internal, "the counters could not be rendered")
    })?;
    Ok(Counters(text))
}

impl<T: IntoResponse> IntoResponse for Open<T> {
    fn into_response(self) -> Response {
        self.0.into_response()
    }
}

impl<T: Answers> Answers for Open<T> {
    fn answer(draft: &mut Draft) {
        draft.is_open();
        T::answer(draft);
    }
}

impl IntoResponse for Ready {
    fn into_response(self) -> Response {
        let status = if self.0.ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
        (status, Json(self.0)).into_response()
    }
}

impl Answers for Ready {
    fn answer(draft: &mut Draft) {
        draft.answers::<Readiness>(StatusCode::OK, "New requests are taken.");
        draft.answers::<Readiness>(StatusCode::SERVICE_UNAVAILABLE, "The server is shutting down.");
    }
}

impl IntoResponse for Counters {
    fn into_response(self) -> Response {
        ([(header::CONTENT_TYPE, COUNTERS)], self.0).into_response()
    }
}

impl Answers for Counters {
    fn answer(draft: &mut Draft) {
        draft.answers_text(COUNTERS, "The counters.");
        // Until they are declared.
        draft.refuses(StatusCode::NOT_FOUND);
    }
}
