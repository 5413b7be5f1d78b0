//! What surrounds every request: a number to find it by, a place among the requests at work, a deadline, the position of
//! its vault, one line in the log, one count. No content passes here, and none is logged.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse as _, Response};
use axum::{Extension, Router};

use super::app::App;
use super::arriving::Kept;
use super::errors::{Answer, Cause, Refusal};
use super::openapi::Document;
use super::vault_route::Opened;
use super::{asked, auth, leaving, once, readonly, routes, status};
use crate::error::Error;
use crate::limits;
use crate::telemetry::route_label;

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
const POSITION: HeaderName = HeaderName::from_static("x-undercroft-position");
/// Incarnation of a vault that is no member of a cluster.
const ALONE: u64 = 0;
/// Longest request id that is taken over from a client.
const MAX_ID: usize = 64;

/// The table with everything around it: the outermost first.
pub(super) fn wrapped(app: App) -> Router {
    let (table, document, rows) = routes::table().finish();
    table
        .fallback(routes::no_route)
        .method_not_allowed_fallback(routes::no_method)
        .layer(Extension(Document(document)))
        .layer(from_fn_with_state((app.clone(), rows.clone()), asked::gate))
        .layer(from_fn_with_state(app.clone(), readonly::gate))
        .layer(from_fn_with_state(rows, once::gate))
        .layer(from_fn_with_state(app.clone(), auth::guard))
        .layer(from_fn_with_state(app.clone(), place))
        .layer(from_fn_with_state(app.clone(), record))
        .with_state(app)
}

/// Numbers, times, counts and logs the request.
async fn record(State(app): State<App>, mut request: Request, next: Next) -> Response {
    let started = Instant::now();
    let id = request_id(request.headers());
    let route = request.extensions().get::<MatchedPath>().cloned();
    let method = known(request.method());
    let opened = Opened::default();
    request.extensions_mut().insert(opened.clone());
    let mut response = next.run(request).await;
    if let Some(height) = opened.position() {
        let position = HeaderValue::from_str(&format!("{ALONE}:{height}"));
        response.headers_mut().extend(position.ok().map(|value| (POSITION, value)));
    }
    if let Some(cause) = response.extensions_mut().remove::<Cause>() {
        cause.log(id.to_str().unwrap_or_default(), response.status());
    }
    let status = response.status().as_u16();
    let template = route.as_ref().map_or("none", MatchedPath::as_str);
    app.metrics.request(route_label(template, status), status, started.elapsed());
    tracing::info!(
        id = id.to_str().unwrap_or_default(),
        method,
        route = template,
        status,
        micros = u64::try_from(started.elapsed().as_micros()).unwrap_or(u64::MAX),
        "request"
    );
    response.headers_mut().insert(REQUEST_ID, id);
    response
}

/// A method by its name. What a client makes up is not repeated.
fn known(method: &Method) -> &'static str {
    const KNOWN: [&str; 9] = ["GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "CONNECT", "TRACE"];
    KNOWN.into_iter().find(|name| *name == method.as_str()).unwrap_or("other")
}

/// Turns away what is too much before memory grows, and what does not end. Health is always answered.
async fn place(State(app): State<App>, mut request: Request, next: Next) -> Answer {
    if status::is_open(request.uri().path()) {
        return Ok(next.run(request).await);
    }
    let Ok(_place) = app.places.try_acquire() else { return Err(Refusal::overloaded()) };
    app.answers.check_room()?;
    // Until the answer is known, the bytes of the body are counted.
    let kept = Kept::default();
    request.extensions_mut().insert(kept.clone());
    let may_give_up = leaving::can_be_repeated(request.method(), request.uri().path());
    match tokio::time::timeout(limits::REQUEST_WAIT, next.run(request)).await {
        Ok(response) => app.answers.hold(response, may_give_up),
        Err(_) => Ok(Refusal::from(Error::Busy("not finished this request in time")).into_response()),
    }
}

/// The client's own id when it can stand in a log, else the next of this process.
fn request_id(headers: &HeaderMap) -> HeaderValue {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    if let Some(given) = headers.get(REQUEST_ID) {
        let bytes = given.as_bytes();
        if (1..=MAX_ID).contains(&bytes.len()) && bytes.iter().copied().all(plain) {
            return given.clone();
        }
    }
    HeaderValue::from(NEXT.fetch_add(1, Ordering::Relaxed))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_method_that_nobody_knows_is_not_repeated() {
        assert_eq!(known(&Method::PATCH), "PATCH");
        for made_up in ["get", "WORDS", &"X".repeat(9_000)] {
            assert_eq!(known(&Method::from_bytes(made_up.as_bytes()).unwrap()), "other");
        }
    }

    #[test]
    fn only_an_id_that_can_stand_in_a_log_is_taken_over() {
        let with = |id: &str| HeaderMap::from_iter([(REQUEST_ID, HeaderValue::from_str(id).unwrap())]);
        assert_eq!(request_id(&with("a-1_B.2")), "a-1_B.2");
        for refused in ["", "a b", "a\"b", &"x".repeat(MAX_ID + 1)] {
            assert_ne!(request_id(&with(refused)), refused);
        }
        assert_ne!(request_id(&HeaderMap::new()), request_id(&HeaderMap::new()));
    }
}
