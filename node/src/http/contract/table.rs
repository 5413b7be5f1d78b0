//! The table of routes: what is routed and what is documented, from one row.

use std::sync::Arc;

use axum::Router;
use axum::http::Method;
use axum::routing::{MethodFilter, on};
use bytes::Bytes;
use utoipa::openapi::HttpMethod;
use utoipa::openapi::path::Paths;

use super::document::document;
use super::draft::{Draft, Schemas};
use super::handler::Documented;
use crate::http::app::App;

/// A row, as what stands in front of the handlers needs to know it.
pub(in crate::http) struct Row {
    pub(in crate::http) method: Method,
    pub(in crate::http) path: String,
    /// Whether it takes an `Idempotency-Key`.
    pub(in crate::http) takes_key: bool,
    /// The fields of its query.
    pub(in crate::http) query: Vec<String>,
    /// Whether it reads a body.
    pub(in crate::http) takes_body: bool,
    /// Whether what it does not take is refused: of everything but health and what is not built.
    pub(in crate::http) is_strict: bool,
}

/// Every row.
pub(in crate::http) type Rows = Arc<[Row]>;

/// Rows that were declared so far.
#[derive(Default)]
pub(in crate::http) struct Table {
    router: Router<App>,
    paths: Paths,
    schemas: Schemas,
    rows: Vec<Row>,
    under: &'static str,
}

impl Table {
    /// Further rows are under this path.
    pub(in crate::http) fn under(mut self, path: &'static str) -> Self {
        self.under = path;
        self
    }

    /// A row that reads.
    pub(in crate::http) fn get<T: 'static>(
        self,
        path: &str,
        what: &str,
        handler: impl Documented<T>,
    ) -> Self {
        self.row((Method::GET, MethodFilter::GET, HttpMethod::Get), path, what, handler)
    }

    /// A row that asks for something to be done.
    pub(in crate::http) fn post<T: 'static>(
        self,
        path: &str,
        what: &str,
        handler: impl Documented<T>,
    ) -> Self {
        self.row((Method::POST, MethodFilter::POST, HttpMethod::Post), path, what, handler)
    }

    /// A row that replaces.
    pub(in crate::http) fn put<T: 'static>(
        self,
        path: &str,
        what: &str,
        handler: impl Documented<T>,
    ) -> Self {
        self.row((Method::PUT, MethodFilter::PUT, HttpMethod::Put), path, what, handler)
    }

    /// A row that destroys.
    pub(in crate::http) fn delete<T: 'static>(
        self,
        path: &str,
        what: &str,
        handler: impl Documented<T>,
    ) -> Self {
        self.row((Method::DELETE, MethodFilter::DELETE, HttpMethod::Delete), path, what, handler)
    }

    fn row<T: 'static, H: Documented<T>>(
        mut self,
        (method, filter, documented): (Method, MethodFilter, HttpMethod),
        path: &str,
        what: &str,
        handler: H,
    ) -> Self {
        let path = format!("{}{path}", self.under);
        let mut draft = Draft::default();
        H::describe(&mut draft);
        draft.names_every_segment(&path);
        let drafted = draft.finish(id(&method, &path), tag(&path), what);
        self.schemas.extend(drafted.schemas);
        self.paths.add_path_operation(&path, vec![documented], drafted.operation);
        // Two rows of one path and method would be refused here, when the server starts.
        self.router = self.router.route(&path, on(filter, handler));
        self.rows.push(Row {
            method,
            path,
            takes_key: drafted.takes_key,
            query: drafted.query,
            takes_body: drafted.takes_body,
            is_strict: drafted.is_strict,
        });
        self
    }

    /// What is routed, the document of it as JSON, and the rows.
    pub(in crate::http) fn finish(self) -> (Router<App>, Bytes, Rows) {
        let document = document(self.paths, self.schemas);
        let bytes = serde_json::to_vec(&document).expect("its maps have strings for keys, and so it is JSON");
        (self.router, bytes.into(), self.rows.into())
    }
}

/// A name for generated clients: the method and the words of the path.
fn id(method: &Method, path: &str) -> String {
    let words = path.split(['/', '-', '.']).filter(|word| !word.is_empty() && *word != "v1");
    let words = words.map(|word| word.strip_prefix('{').map_or(word.to_owned(), |name| format!("by_{name}")));
    let words: Vec<String> = words.map(|word| word.trim_end_matches('}').to_owned()).collect();
    format!("{}_{}", method.as_str().to_ascii_lowercase(), words.join("_"))
}

/// What a path is about: the part of a vault, or of the server.
fn tag(path: &str) -> &str {
    let of_a_vault = path.strip_prefix("/v1/vaults/{id}/");
    match of_a_vault {
        Some(part) => part.split('/').next().unwrap_or(part),
        None if path.starts_with("/v1/vaults") => "vaults",
        None => "server",
    }
}
