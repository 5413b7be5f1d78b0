//! `Idempotency-Key`: how a request and its key are told from others. Those take one whose handler reads [`Keyed`]:
//! every change to drawers.
//!
//! The scope of a key is the vault, the method and the path; the request is its query and its raw body. What is done
//! under a key, and what is remembered of it, is the vault's.

use axum::extract::{FromRequest, MatchedPath, Request, State};
use axum::http::{HeaderMap, Method};
use axum::middleware::Next;
use sha2::{Digest as _, Sha256};
use undercroft_vault::Idempotency;
use undercroft_vault::limits::MAX_IDEMPOTENCY_KEY_BYTES;
use utoipa::openapi::schema::{ObjectBuilder, Type};

use super::app::App;
use super::asked::row_of;
use super::body::collect_beside;
use super::contract::{Asks, Draft, Row, Rows};
use super::errors::{Answer, Refusal};
use super::path;

const HEADER: &str = "idempotency-key";

/// A key as it was sent, and the place it was sent to.
#[derive(Clone)]
struct Sent {
    scope: String,
    key: String,
    query: String,
}

/// What a handler reads from a request, and the key that the request came under.
pub(super) struct Keyed<B> {
    pub(super) body: B,
    pub(super) key: Option<Idempotency>,
}

/// Of a request whose body says nothing.
pub(super) struct NoBody;

/// Judges the key and keeps it for the handler. A key that would promise nothing is refused, not overlooked. What has no
/// route, or not with this method, says so whatever it carries.
pub(super) async fn gate(State(rows): State<Rows>, mut request: Request, next: Next) -> Answer {
    let template = request.extensions().get::<MatchedPath>().map(|path| path.as_str().to_owned());
    let row = template.and_then(|template| row_of(&rows, request.method(), &template));
    if let Some(row) = row
        && let Some(key) = sent(request.method(), request.headers())?
    {
        check_takes_one(row)?;
        let uri = request.uri();
        let sent = Sent {
            scope: format!("{} {}", request.method(), path::plain(uri.path())),
            key,
            query: uri.query().unwrap_or_default().to_owned(),
        };
        sent.of(&[])?;
        request.extensions_mut().insert(sent);
    }
    Ok(next.run(request).await)
}

/// The key of a request that may change something.
fn sent(method: &Method, headers: &HeaderMap) -> Answer<Option<String>> {
    if method.is_safe() {
        return Ok(None);
    }
    let mut all = headers.get_all(HEADER).iter();
    match (all.next(), all.next()) {
        (None, _) => Ok(None),
        (Some(only), None) => match only.to_str() {
            Ok(key) => Ok(Some(key.to_owned())),
            Err(_) => Err(Refusal::invalid("invalid Idempotency-Key: it must be visible ASCII characters")),
        },
        (Some(_), Some(_)) => Err(Refusal::invalid("invalid Idempotency-Key: it was sent twice; send one")),
    }
}

fn check_takes_one(row: &Row) -> Answer<()> {
    if row.takes_key {
        return Ok(());
    }
    Err(Refusal::invalid(format!(
        "invalid Idempotency-Key: {} {} does not take one; send it without",
        row.method, row.path
    )))
}

impl Sent {
    /// With the digest of the request: SHA-256 of the query's length as u64, the query, the body.
    fn of(&self, body: &[u8]) -> Answer<Idempotency> {
        let mut hasher = Sha256::new();
        hasher.update((self.query.len() as u64).to_le_bytes());
        hasher.update(self.query.as_bytes());
        hasher.update(body);
        Ok(Idempotency::new(&self.scope, &self.key, hasher.finalize().into())?)
    }
}

impl<B: FromRequest<App, Rejection = Refusal>> FromRequest<App> for Keyed<B> {
    type Rejection = Refusal;

    async fn from_request(request: Request, app: &App) -> Result<Self, Refusal> {
        let Some(sent) = request.extensions().get::<Sent>().cloned() else {
            return Ok(Self { body: B::from_request(request, app).await?, key: None });
        };
        let (parts, body) = request.into_parts();
        let bytes = collect_beside(&parts, body, app).await?;
        let key = sent.of(&bytes)?;
        let again = Request::from_parts(parts, axum::body::Body::from(bytes));
        Ok(Self { body: B::from_request(again, app).await?, key: Some(key) })
    }
}

impl FromRequest<App> for NoBody {
    type Rejection = Refusal;

    async fn from_request(_request: Request, _app: &App) -> Result<Self, Refusal> {
        Ok(Self)
    }
}

impl<B: Asks> Asks for Keyed<B> {
    fn ask(draft: &mut Draft) {
        let key = ObjectBuilder::new()
            .schema_type(Type::String)
            .min_length(Some(1))
            .max_length(Some(MAX_IDEMPOTENCY_KEY_BYTES))
            .pattern(Some("^[!-~]+$"));
        draft.takes_key();
        draft.header(
            "Idempotency-Key",
            "For 24 hours this key stands for this request: sent again, it is answered as the first time and not carried \
             out again.",
            key,
        );
        B::ask(draft);
    }
}

impl Asks for NoBody {
    fn ask(_draft: &mut Draft) {}
}
