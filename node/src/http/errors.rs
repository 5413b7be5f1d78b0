//! From an error's class to its status, in one table, and the one shape that every refusal has.
//!
//! `{"error": …, "class": …}`. Statuses that belong to the surface and to no class (401, 405, 413, 429, 501) carry none.

use std::sync::Arc;

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use undercroft_palace::ErrorClass;

use crate::error::Error;
use crate::limits;
use crate::reply::{Class, Refused, RefusedBySurface};
use crate::told;

/// The status of a class.
pub(super) fn status_of(class: ErrorClass) -> StatusCode {
    match class {
        ErrorClass::Invalid => StatusCode::BAD_REQUEST,
        ErrorClass::NotFound => StatusCode::NOT_FOUND,
        ErrorClass::Conflict | ErrorClass::Integrity => StatusCode::CONFLICT,
        ErrorClass::Denied => StatusCode::FORBIDDEN,
        ErrorClass::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
        ErrorClass::Internal => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

/// An answer that is not what was asked for.
#[derive(Debug)]
pub(super) struct Refusal {
    status: StatusCode,
    message: String,
    class: Option<ErrorClass>,
    cause: Option<Cause>,
}

/// Why an answer is the server's fault or its state, for the log. It holds no content.
#[derive(Debug, Clone)]
pub(super) struct Cause(Arc<str>);

impl Cause {
    /// Says it in the log, with the number of the request.
    pub(super) fn log(&self, id: &str, status: StatusCode) {
        let cause = &*self.0;
        if status == StatusCode::INTERNAL_SERVER_ERROR {
            tracing::error!(id, cause, "a request failed");
        } else {
            tracing::warn!(id, cause, "a request could not be carried out now");
        }
    }
}

pub(super) type Answer<T = Response> = Result<T, Refusal>;

impl Refusal {
    /// Of a class.
    pub(super) fn of(class: ErrorClass, message: impl Into<String>) -> Self {
        Self { status: status_of(class), message: message.into(), class: Some(class), cause: None }
    }

    pub(super) fn invalid(message: impl Into<String>) -> Self {
        Self::of(ErrorClass::Invalid, message)
    }

    pub(super) fn denied(message: impl Into<String>) -> Self {
        Self::of(ErrorClass::Denied, message)
    }

    /// Of the surface.
    pub(super) fn surface(status: StatusCode, message: impl Into<String>) -> Self {
        Self { status, message: message.into(), class: None, cause: None }
    }

    /// Neither the reason nor the layer is told.
    pub(super) fn unauthorized() -> Self {
        Self::surface(StatusCode::UNAUTHORIZED, "unauthorized")
    }

    /// A route, field or header that is documented and not built.
    pub(super) fn not_implemented(what: impl std::fmt::Display) -> Self {
        Self::surface(StatusCode::NOT_IMPLEMENTED, format!("not implemented: {what}"))
    }

    /// The server as a whole has enough to do.
    pub(super) fn overloaded() -> Self {
        Error::Busy("as many requests at work as it accepts").into()
    }
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        let status = match &error {
            Error::VaultBusy(_) => StatusCode::TOO_MANY_REQUESTS,
            other => status_of(other.class()),
        };
        let is_ours = status.is_server_error().then(|| Cause(error.to_string().into()));
        Self { status, message: told::to_client(&error), class: Some(error.class()), cause: is_ours }
    }
}

impl From<undercroft_vault::Error> for Refusal {
    fn from(error: undercroft_vault::Error) -> Self {
        Error::from(error).into()
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let (status, error) = (self.status, self.message);
        let mut response = match self.class {
            Some(class) => (status, Json(Refused { error, class: Class(class) })).into_response(),
            None => (status, Json(RefusedBySurface { error })).into_response(),
        };
        if let Some(cause) = self.cause {
            response.extensions_mut().insert(cause);
        }
        let headers = response.headers_mut();
        match status {
            StatusCode::UNAUTHORIZED => {
                headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
            }
            StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE => {
                headers.insert(header::RETRY_AFTER, HeaderValue::from(limits::RETRY_AFTER.as_secs()));
            }
            _ => {}
        }
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_class_has_a_status_of_its_own_kind() {
        let statuses = ErrorClass::ALL.map(|class| status_of(class).as_u16());
        assert_eq!(statuses, [400, 404, 409, 403, 409, 503, 500]);
    }

    #[test]
    fn who_is_turned_away_for_now_is_told_when_to_come_back() {
        for (error, status) in [(Error::VaultBusy("v".into()), 429), (Error::Draining, 503)] {
            let response = Refusal::from(error).into_response();
            assert_eq!(response.status().as_u16(), status);
            assert_eq!(response.headers()[header::RETRY_AFTER], "1");
        }
    }
}
