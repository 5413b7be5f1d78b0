//! What is read from a request: its body or query, every field known, and the key under which it is done once.

use axum::extract::{FromRequest, FromRequestParts, Query, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};

use super::app::App;
use super::errors::{Answer, Refused};
use crate::{limits, state};

const KEY: &str = "idempotency-key";

/// The body of a request that changes something. No body is the same as an empty object.
pub(super) struct Asked<B> {
    pub(super) body: B,
    /// The caller's request, when it sent an `Idempotency-Key`.
    pub(super) request: Option<state::Request>,
}

/// The body of a request that says nothing but its path.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Nothing {}

impl<B: DeserializeOwned> FromRequest<App> for Asked<B> {
    type Rejection = Refused;

    async fn from_request(request: Request, _: &App) -> Result<Self, Refused> {
        let (parts, body) = request.into_parts();
        let bytes = axum::body::to_bytes(body, limits::ADMIN_BODY).await.map_err(|_| {
            let what = format!("the body is over {} bytes, or was cut off", limits::ADMIN_BODY);
            Refused::surface(StatusCode::PAYLOAD_TOO_LARGE, what)
        })?;
        let text: &[u8] = if bytes.is_empty() { b"{}" } else { &bytes };
        let body = serde_json::from_slice(text)
            .map_err(|error| Refused::invalid(format!("the body cannot be used: {error}")))?;
        Ok(Self { body, request: request_of(&parts, &bytes)? })
    }
}

/// The request under the key that was sent. Its scope is the route, its digest the query and the body: the same key with
/// another one is refused.
fn request_of(parts: &Parts, body: &[u8]) -> Answer<Option<state::Request>> {
    let Some(key) = key(&parts.headers)? else { return Ok(None) };
    let mut id = Sha256::new();
    id.update(b"undercroft/admin/1\x1f");
    for text in [parts.method.as_str(), parts.uri.path(), key] {
        id.update((text.len() as u64).to_le_bytes());
        id.update(text);
    }
    let query = parts.uri.query().unwrap_or_default();
    let mut digest = Sha256::new();
    digest.update((query.len() as u64).to_le_bytes());
    digest.update(query);
    digest.update(body);
    Ok(Some(state::Request { id: id.finalize().into(), digest: digest.finalize().into() }))
}

fn key(headers: &HeaderMap) -> Answer<Option<&str>> {
    let mut all = headers.get_all(KEY).iter();
    let only = match (all.next(), all.next()) {
        (None, _) => return Ok(None),
        (Some(only), None) => only,
        (Some(_), Some(_)) => return Err(Refused::invalid("Idempotency-Key was sent twice; send one")),
    };
    let visible = only.to_str().ok().filter(|key| !key.contains(' '));
    match visible {
        Some(key) if (1..=limits::KEY_BYTES).contains(&key.len()) => Ok(Some(key)),
        _ => {
            let most = limits::KEY_BYTES;
            Err(Refused::invalid(format!("Idempotency-Key must be 1 to {most} visible ASCII characters")))
        }
    }
}

/// The query of a request. A parameter that the route does not have is refused by its name.
pub(super) struct Asking<Q>(pub(super) Q);

impl<Q: DeserializeOwned + Send> FromRequestParts<App> for Asking<Q> {
    type Rejection = Refused;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<Self, Refused> {
        let query = Query::try_from_uri(&parts.uri);
        let Query(query) = query
            .map_err(|error| Refused::invalid(format!("the query cannot be used: {}", error.body_text())))?;
        Ok(Self(query))
    }
}

/// Which part of a long list.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Page {
    /// The last id of the part before.
    pub(super) after: Option<String>,
    limit: Option<usize>,
}

impl Page {
    /// How many entries: 1,000 by default and at most.
    pub(super) fn limit(&self) -> usize {
        self.limit.unwrap_or(limits::PAGE).clamp(1, limits::PAGE)
    }
}

#[cfg(test)]
mod tests {
    use axum::http::Request;

    use super::request_of;

    fn of(method: &str, uri: &str, key: Option<&str>, body: &[u8]) -> Option<crate::state::Request> {
        let mut request = Request::builder().method(method).uri(uri);
        if let Some(key) = key {
            request = request.header("idempotency-key", key);
        }
        request_of(&request.body(()).expect("a request").into_parts().0, body).expect("a key or none")
    }

    #[test]
    fn a_key_stands_for_one_request_at_one_route() {
        let first = of("POST", "/admin/tenants", Some("a"), b"{}").expect("a request");
        assert_eq!(of("POST", "/admin/tenants", Some("a"), b"{}"), Some(first));
        assert_eq!(of("POST", "/admin/tenants", None, b"{}"), None);
        for other in
            [("POST", "/admin/jobs", "a"), ("PUT", "/admin/tenants", "a"), ("POST", "/admin/tenants", "b")]
        {
            assert_ne!(of(other.0, other.1, Some(other.2), b"{}").expect("a request").id, first.id);
        }
        let body = of("POST", "/admin/tenants", Some("a"), b"{ }").expect("a request");
        assert!(body.id == first.id && body.digest != first.digest);
    }

    #[test]
    fn a_key_that_promises_nothing_is_refused() {
        let long = "k".repeat(129);
        for bad in ["", "a b", long.as_str()] {
            let request = Request::builder().header("idempotency-key", bad).body(()).expect("a request");
            assert!(request_of(&request.into_parts().0, b"").is_err(), "{bad}");
        }
    }
}
