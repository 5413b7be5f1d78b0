//! Bodies and query strings as typed values: bounded, in time, and with every unknown field refused by its name.

use axum::extract::{FromRequest, FromRequestParts, Query, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt as _;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use utoipa::openapi::extensions::ExtensionsBuilder;
use utoipa::openapi::path::ParameterIn;
use utoipa::openapi::schema::{ObjectBuilder, Schema, SchemaType};
use utoipa::openapi::{RefOr, Required};
use utoipa::{IntoParams, PartialSchema, ToSchema};

use super::app::App;
use super::arriving::{Held, Kept, OfVault};
use super::contract::{Asks, Draft, NOT_BUILT};
use super::errors::Refusal;
use crate::limits;

/// A JSON body.
pub(super) struct Body<T>(pub(super) T);

/// A JSON body that may be missing: an empty one is the default.
pub(super) struct OptionalBody<T>(pub(super) T);

/// The fields of a query string.
pub(super) struct Params<T>(pub(super) T);

impl<T: DeserializeOwned> FromRequest<App> for Body<T> {
    type Rejection = Refusal;

    async fn from_request(request: Request, app: &App) -> Result<Self, Refusal> {
        parse(&collect(request, app).await?).map(Self)
    }
}

impl<T: DeserializeOwned + Default> FromRequest<App> for OptionalBody<T> {
    type Rejection = Refusal;

    async fn from_request(request: Request, app: &App) -> Result<Self, Refusal> {
        let bytes = collect(request, app).await?;
        if bytes.is_empty() { Ok(Self(T::default())) } else { parse(&bytes).map(Self) }
    }
}

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Params<T> {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, Refusal> {
        check_text(parts.uri.query().unwrap_or_default())?;
        let Query(fields) = Query::try_from_uri(&parts.uri)
            .map_err(|error| Refusal::invalid(format!("the query string: {}", innermost(&error))))?;
        Ok(Self(fields))
    }
}

impl<T: ToSchema> Asks for Body<T> {
    fn ask(draft: &mut Draft) {
        draft.body::<T>(Required::True);
    }
}

impl<T: ToSchema> Asks for OptionalBody<T> {
    fn ask(draft: &mut Draft) {
        draft.body::<T>(Required::False);
    }
}

impl<T: IntoParams> Asks for Params<T> {
    fn ask(draft: &mut Draft) {
        for parameter in T::into_params(|| Some(ParameterIn::Query)) {
            draft.parameter(parameter);
        }
    }
}

/// Refuses a query string whose bytes, once decoded, are no UTF-8: its parser would put other characters in their place.
fn check_text(query: &str) -> Result<(), Refusal> {
    let (mut bytes, mut rest) = (Vec::with_capacity(query.len()), query.as_bytes());
    while let Some((&first, after)) = rest.split_first() {
        let pair = after.get(..2).filter(|_| first == b'%');
        let value = pair.and_then(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok());
        bytes.push(value.unwrap_or(first));
        rest = if value.is_some() { &after[2..] } else { after };
    }
    match std::str::from_utf8(&bytes) {
        Ok(_) => Ok(()),
        Err(_) => Err(Refusal::invalid("the query string: it must be percent-encoded UTF-8")),
    }
}

/// Reads the body of a request whole.
pub(super) async fn collect(request: Request, app: &App) -> Result<Bytes, Refusal> {
    let (parts, body) = request.into_parts();
    collect_beside(&parts, body, app).await
}

/// Reads a body whole. A length that is announced over the limit is refused before a byte is read. Its bytes are counted
/// until the request is answered.
pub(super) async fn collect_beside(
    parts: &Parts,
    body: axum::body::Body,
    app: &App,
) -> Result<Bytes, Refusal> {
    check_media(&parts.headers)?;
    if announced(&parts.headers).is_some_and(|length| length > limits::BODY_BYTES as u64) {
        return Err(too_large());
    }
    let mut held = app.arriving.begin(parts.extensions.get::<OfVault>())?;
    let reading = tokio::time::timeout(app.options.deadlines.body, read(body, &mut held));
    let bytes = reading.await.unwrap_or_else(|_| {
        Err(Refusal::surface(StatusCode::REQUEST_TIMEOUT, "the body took too long; send it faster"))
    })?;
    held.whole();
    if let Some(kept) = parts.extensions.get::<Kept>() {
        kept.keep(held);
    }
    Ok(bytes)
}

async fn read(mut body: axum::body::Body, held: &mut Held) -> Result<Bytes, Refusal> {
    let mut bytes = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|_| Refusal::invalid("the body ended before it was whole"))?;
        // What is no data is the trailers, and nobody asks for them.
        let Ok(data) = frame.into_data() else { continue };
        if bytes.len() + data.len() > limits::BODY_BYTES {
            return Err(too_large());
        }
        held.more(data.len())?;
        bytes.extend_from_slice(&data);
    }
    Ok(bytes.freeze())
}

/// Bodies are text in UTF-8 as it is: neither compressed nor of another character set.
fn check_media(headers: &HeaderMap) -> Result<(), Refusal> {
    let refused = |what| {
        let message = format!("the body: {what}; send JSON in UTF-8 as it is");
        Err(Refusal::surface(StatusCode::UNSUPPORTED_MEDIA_TYPE, message))
    };
    let chunked = |coding: &HeaderValue| coding.as_bytes().trim_ascii().eq_ignore_ascii_case(b"chunked");
    if !headers.get_all(header::TRANSFER_ENCODING).iter().all(chunked) {
        return refused("its Transfer-Encoding is not taken");
    }
    let plain = |coding: &HeaderValue| coding.as_bytes().trim_ascii().eq_ignore_ascii_case(b"identity");
    if !headers.get_all(header::CONTENT_ENCODING).iter().all(plain) {
        return refused("its Content-Encoding is not taken");
    }
    let types = headers.get_all(header::CONTENT_TYPE).iter();
    let types: Vec<_> =
        types.map(|value| String::from_utf8_lossy(value.as_bytes()).to_ascii_lowercase()).collect();
    if !types.iter().all(|value| is_json(value)) {
        return refused("its Content-Type is not application/json");
    }
    let foreign = types.iter().any(|value| {
        let charset = value.split(';').skip(1).find_map(|part| part.trim().strip_prefix("charset="));
        charset.is_some_and(|charset| !matches!(charset.trim_matches('"'), "utf-8" | "utf8" | "us-ascii"))
    });
    if foreign { refused("its charset is not taken") } else { Ok(()) }
}

/// Whether a media type, in small letters, is that of JSON.
fn is_json(media: &str) -> bool {
    media.split(';').next().is_some_and(|name| name.trim() == "application/json")
}

/// Whether a request says that it carries JSON: what a page in a browser cannot say without asking before.
pub(super) fn says_json(headers: &HeaderMap) -> bool {
    let mut types = headers.get_all(header::CONTENT_TYPE).iter();
    let json = |value: &HeaderValue| value.to_str().is_ok_and(|value| is_json(&value.to_ascii_lowercase()));
    types.next().is_some_and(json) && types.next().is_none()
}

fn announced(headers: &HeaderMap) -> Option<u64> {
    headers.get(header::CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

fn too_large() -> Refusal {
    let message = format!("the body is over the limit of {} bytes; send less at once", limits::BODY_BYTES);
    Refusal::surface(StatusCode::PAYLOAD_TOO_LARGE, message)
}

/// Fields go by their names alone: an array would give them by their order.
fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Refusal> {
    if bytes.trim_ascii_start().first().is_some_and(|first| *first != b'{') {
        return Err(Refusal::invalid("the body: it must be a JSON object"));
    }
    serde_json::from_slice(bytes)
        .map_err(|error| Refusal::invalid(format!("the body: {}", in_plain_words(&error.to_string()))))
}

/// The parser calls numbers by the names that this program's language has for them.
fn in_plain_words(message: &str) -> String {
    ["usize", "u64", "u32"].iter().fold(message.to_owned(), |message, name| {
        message.replace(&format!("expected {name}"), "expected a whole number, not negative")
    })
}

/// The last cause says what is wrong; those around it say only that something is.
fn innermost(error: &dyn std::error::Error) -> String {
    let mut last = error;
    while let Some(next) = last.source() {
        last = next;
    }
    last.to_string()
}

/// A field that is documented and not built: taken as it comes, so that it can be refused by name.
#[derive(Default, Deserialize)]
pub(super) struct Unbuilt(Option<Value>);

impl PartialSchema for Unbuilt {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new()
            .schema_type(SchemaType::AnyValue)
            .description(Some("Documented and not built: anything but null answers 501."))
            .extensions(Some(ExtensionsBuilder::new().add(NOT_BUILT, true).build()))
            .into()
    }
}

impl ToSchema for Unbuilt {}

/// Refuses the first of the named fields that is there.
pub(super) fn refuse_unbuilt(fields: &[(&str, &Unbuilt)]) -> Result<(), Refusal> {
    match fields.iter().find(|(_, value)| value.0.is_some()) {
        Some((name, _)) => Err(Refusal::not_implemented(name)),
        None => Ok(()),
    }
}
