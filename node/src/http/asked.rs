//! Nothing that a route does not take is overlooked: unknown fields of a query, and a body where none is read, are refused
//! for every route at once, by what its handler says that it asks for. Health is answered whatever it is sent, and what is
//! not built says that first.

use axum::body::{Body, HttpBody as _};
use axum::extract::{MatchedPath, Query, Request, State};
use axum::http::Method;
use axum::middleware::Next;
use http_body_util::BodyExt as _;

use super::app::App;
use super::contract::{Row, Rows};
use super::errors::{Answer, Refusal};
use crate::limits;

/// Most characters of a client's word that are repeated to it.
const ECHOED: usize = 64;

/// Refuses what the route does not take.
pub(super) async fn gate(State((app, rows)): State<(App, Rows)>, request: Request, next: Next) -> Answer {
    let path = request.extensions().get::<MatchedPath>().map(|path| path.as_str().to_owned());
    let Some(row) = path.and_then(|path| row_of(&rows, request.method(), &path)) else {
        return Ok(next.run(request).await);
    };
    if !row.is_strict {
        return Ok(next.run(request).await);
    }
    check_query(row, &request)?;
    if row.takes_body || request.body().is_end_stream() {
        return Ok(next.run(request).await);
    }
    let (parts, body) = request.into_parts();
    // Whose it is, is not known before its assertion is.
    let held = app.arriving.begin(None)?;
    check_empty(row, body).await?;
    drop(held);
    Ok(next.run(Request::from_parts(parts, Body::empty())).await)
}

/// The row of a request. What answers `GET` answers `HEAD`.
pub(super) fn row_of<'a>(rows: &'a Rows, method: &Method, path: &str) -> Option<&'a Row> {
    let method = if method == Method::HEAD { &Method::GET } else { method };
    rows.iter().find(|row| row.method == method && row.path == path)
}

fn check_query(row: &Row, request: &Request) -> Answer<()> {
    // A query that is none is told by whoever reads it, and by nobody where there is nothing to read.
    let Ok(Query(fields)) = Query::<Vec<(String, String)>>::try_from_uri(request.uri()) else {
        return Err(Refusal::invalid("the query string: it must be percent-encoded UTF-8"));
    };
    let Some((unknown, _)) = fields.iter().find(|(name, _)| !row.query.contains(name)) else { return Ok(()) };
    let unknown: String = unknown.chars().take(ECHOED).collect();
    let expected = match row.query.as_slice() {
        [] => String::from("this route takes none"),
        names => format!("expected one of `{}`", names.join("`, `")),
    };
    Err(Refusal::invalid(format!("the query string: unknown field `{unknown}`, {expected}")))
}

/// Waits for the first byte of a body, or for its end.
async fn check_empty(row: &Row, mut body: Body) -> Answer<()> {
    let unwanted = || Refusal::invalid(format!("the body: {} {} takes none", row.method, row.path));
    let empty = async {
        while let Some(frame) = body.frame().await {
            if frame.map_err(|_| unwanted())?.into_data().is_ok_and(|data| !data.is_empty()) {
                return Err(unwanted());
            }
        }
        Ok(())
    };
    tokio::time::timeout(limits::BODY_WAIT, empty).await.unwrap_or_else(|_| Err(unwanted()))
}
