//! What the answer of a handler adds to its operation.

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use utoipa::ToSchema;

use super::draft::Draft;
use crate::http::errors::Refusal;

/// What a handler answers.
pub(in crate::http) trait Answers {
    /// Adds the statuses and shapes that it can have.
    fn answer(draft: &mut Draft);
}

/// The answer that something new is there.
pub(in crate::http) struct Created<T>(pub(in crate::http) T);

impl<T: Serialize> IntoResponse for Created<T> {
    fn into_response(self) -> Response {
        (StatusCode::CREATED, Json(self.0)).into_response()
    }
}

impl<T: ToSchema> Answers for Json<T> {
    fn answer(draft: &mut Draft) {
        draft.answers::<T>(StatusCode::OK, "What was asked for.");
    }
}

impl<T: ToSchema> Answers for Created<T> {
    fn answer(draft: &mut Draft) {
        draft.answers::<T>(StatusCode::CREATED, "It is there now.");
        // One of the same name may have been there.
        draft.refuses(StatusCode::CONFLICT);
    }
}

impl Answers for &'static str {
    fn answer(draft: &mut Draft) {
        draft.answers_text("text/plain; charset=utf-8", "One word.");
    }
}

/// A handler that may refuse. One that opens a vault may find none, a damaged one, or one that is too busy.
impl<T: Answers> Answers for Result<T, Refusal> {
    fn answer(draft: &mut Draft) {
        T::answer(draft);
        if draft.is_about_a_vault() {
            draft.refuses(StatusCode::NOT_FOUND);
            draft.refuses(StatusCode::CONFLICT);
            draft.refuses(StatusCode::TOO_MANY_REQUESTS);
        }
    }
}

/// A handler that only refuses: its feature is not built.
impl Answers for Refusal {
    fn answer(draft: &mut Draft) {
        draft.is_not_built();
    }
}
