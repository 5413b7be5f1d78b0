//! The refusals: for each status what it means, its one shape and its headers.

use axum::http::StatusCode;
use utoipa::ToSchema;
use utoipa::openapi::schema::ComponentsBuilder;
use utoipa::openapi::{ContentBuilder, Header, HeaderBuilder, Ref, Response, ResponseBuilder};

use super::document::{POSITION, REQUEST_ID};
use crate::reply::{Class, Refused, RefusedBySurface};

/// Status, name, meaning, and whether the engine's classes apply.
const REFUSALS: [(StatusCode, &str, &str, bool); 12] = [
    (
        StatusCode::BAD_REQUEST,
        "Invalid",
        "A field, a name or the body cannot be taken; the message names it.",
        true,
    ),
    (
        StatusCode::UNAUTHORIZED,
        "Unauthorized",
        "The bearer or the assertion is not good; no reason is told.",
        false,
    ),
    (StatusCode::FORBIDDEN, "Denied", "This is not for whoever asks, or the server is read-only.", true),
    (StatusCode::NOT_FOUND, "NotFound", "There is no such thing.", true),
    (StatusCode::REQUEST_TIMEOUT, "TooSlow", "The body took too long.", false),
    (StatusCode::CONFLICT, "Conflict", "What is there stands against it, or is not what was written.", true),
    (StatusCode::PAYLOAD_TOO_LARGE, "TooLarge", "The body is over the limit of 1048576 bytes.", false),
    (
        StatusCode::UNSUPPORTED_MEDIA_TYPE,
        "UnsupportedMediaType",
        "The body is compressed, of another character set than UTF-8, or of another type than JSON.",
        false,
    ),
    (StatusCode::TOO_MANY_REQUESTS, "VaultBusy", "Too many requests wait for this vault.", true),
    (StatusCode::INTERNAL_SERVER_ERROR, "Internal", "A fault of the server.", true),
    (
        StatusCode::NOT_IMPLEMENTED,
        "NotBuilt",
        "Documented, and not built in this version; the message names it.",
        false,
    ),
    (
        StatusCode::SERVICE_UNAVAILABLE,
        "Unavailable",
        "The server has too much to do, or is shutting down.",
        true,
    ),
];

/// A reference to the refusal of this status.
///
/// # Panics
/// For a status that is none: the table is complete for what [`super::Draft`] names, which the tests of the document prove.
pub(super) fn reference(status: StatusCode) -> Ref {
    let known = REFUSALS.iter().find(|(known, ..)| *known == status);
    let (_, name, ..) = known.expect("a refusal has a row in the table");
    Ref::new(format!("#/components/responses/{name}"))
}

/// Adds every refusal and its shapes.
pub(super) fn add_to(mut components: ComponentsBuilder) -> ComponentsBuilder {
    components = components.schema_from::<Refused>().schema_from::<RefusedBySurface>().schema_from::<Class>();
    for (status, name, meaning, has_class) in REFUSALS {
        components = components.response(name, response(status, meaning, has_class));
    }
    components
}

fn response(status: StatusCode, meaning: &str, has_class: bool) -> Response {
    let shape = if has_class { Refused::name() } else { RefusedBySurface::name() };
    let content = ContentBuilder::new().schema(Some(Ref::from_schema_name(shape))).build();
    let mut response = ResponseBuilder::new().description(meaning).content("application/json", content);
    for shared in [REQUEST_ID, POSITION] {
        response = response.header_ref(shared, Ref::new(format!("#/components/headers/{shared}")));
    }
    match status {
        StatusCode::UNAUTHORIZED => response.header("WWW-Authenticate", text("Always `Bearer`.")),
        StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE => {
            response.header("Retry-After", text("Seconds until the same request may succeed."))
        }
        _ => response,
    }
    .build()
}

/// A header that holds text.
pub(super) fn text(meaning: &str) -> Header {
    HeaderBuilder::new().description(Some(meaning)).build()
}
