//! What is answered in place of what was asked for: `{"error": …, "class": …}`, with one status a class.

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use undercroft_proto::ErrorClass;

use crate::Error;
use crate::state::Refusal;

/// An answer, or why there is none.
pub(super) type Answer<T> = Result<T, Refused>;

/// Why there is no answer. Statuses of the surface (401, 404 of no route, 405, 413, 501) carry no class.
#[derive(Debug)]
pub(super) struct Refused {
    status: StatusCode,
    message: String,
    class: Option<ErrorClass>,
}

impl Refused {
    pub(super) fn of(class: ErrorClass, message: impl Into<String>) -> Self {
        let status = match class {
            ErrorClass::Invalid => StatusCode::BAD_REQUEST,
            ErrorClass::NotFound => StatusCode::NOT_FOUND,
            ErrorClass::Conflict | ErrorClass::Integrity => StatusCode::CONFLICT,
            ErrorClass::Denied => StatusCode::FORBIDDEN,
            ErrorClass::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
            ErrorClass::Internal => StatusCode::INTERNAL_SERVER_ERROR,
        };
        Self { status, message: message.into(), class: Some(class) }
    }

    pub(super) fn invalid(message: impl Into<String>) -> Self {
        Self::of(ErrorClass::Invalid, message)
    }

    pub(super) fn no_such(what: &str, id: impl std::fmt::Display) -> Self {
        Self::of(ErrorClass::NotFound, format!("there is no {what} {id}"))
    }

    pub(super) fn surface(status: StatusCode, message: impl Into<String>) -> Self {
        Self { status, message: message.into(), class: None }
    }

    pub(super) fn unauthorized() -> Self {
        Self::surface(StatusCode::UNAUTHORIZED, "unauthorized")
    }

    /// An outcome that a command cannot have.
    pub(super) fn odd(outcome: &crate::state::Outcome) -> Self {
        Self::of(ErrorClass::Internal, format!("the command ended as {outcome:?}; report this as a defect"))
    }
}

impl From<Error> for Refused {
    fn from(error: Error) -> Self {
        Self::of(error.class(), error.to_string())
    }
}

impl From<Refusal> for Refused {
    fn from(refusal: Refusal) -> Self {
        Self::of(refusal.class(), refusal.to_string())
    }
}

impl From<undercroft_proto::Error> for Refused {
    fn from(error: undercroft_proto::Error) -> Self {
        Self::of(error.class(), error.to_string())
    }
}

#[derive(Serialize)]
struct Body {
    error: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    class: Option<&'static str>,
}

impl IntoResponse for Refused {
    fn into_response(self) -> Response {
        let body = Body { error: self.message, class: self.class.map(ErrorClass::as_str) };
        let mut response = (self.status, Json(body)).into_response();
        match self.status {
            StatusCode::UNAUTHORIZED => {
                response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
            }
            StatusCode::SERVICE_UNAVAILABLE => {
                response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
            }
            _ => {}
        }
        response
    }
}
