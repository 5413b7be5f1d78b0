//! The document of the surface. It says what this version can do and nothing about this installation, and stands behind
//! the bearer as everything does.

use axum::Extension;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use serde_json::Value;

use super::contract::{Answers, Draft};

/// The document as it is sent.
#[derive(Clone)]
pub(super) struct Document(pub(super) Bytes);

pub(super) async fn document(Extension(document): Extension<Document>) -> Document {
    document
}

impl IntoResponse for Document {
    fn into_response(self) -> Response {
        ([(header::CONTENT_TYPE, "application/json")], self.0).into_response()
    }
}

impl Answers for Document {
    fn answer(draft: &mut Draft) {
        draft.answers::<Value>(StatusCode::OK, "An OpenAPI document, version 3.1.");
    }
}
