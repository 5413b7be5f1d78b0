//! The agent protocol over HTTP: one message a `POST`, for the vault of the path or, at `/mcp`, for the one that the server
//! was started with. What a message means is decided in `crate::mcp`.

use axum::body::Bytes;
use axum::extract::{FromRequest, Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use undercroft_palace::ErrorClass;

use super::app::App;
use super::auth::check_assertion;
use super::body::collect;
use super::errors::{Answer, Refusal};
use super::vault_route::VaultRoute;
use crate::mcp::http::{HttpAnswer, carry_out, refuse_version};
use crate::mcp::{Message, Posture, Server};

const VERSION: &str = "mcp-protocol-version";

/// A body as it came.
pub(super) struct Raw(Bytes);

impl FromRequest<App> for Raw {
    type Rejection = Refusal;

    async fn from_request(request: Request, app: &App) -> Result<Self, Refusal> {
        collect(request, app.options.deadlines.body).await.map(Self)
    }
}

/// `POST /v1/vaults/{id}/mcp`.
pub(super) async fn of_vault(vault: VaultRoute, headers: HeaderMap, Raw(body): Raw) -> Answer {
    answer(&vault, &headers, &body).await
}

/// `POST /mcp`.
pub(super) async fn of_resident(State(app): State<App>, headers: HeaderMap, request: Request) -> Answer {
    let Some(id) = app.serving.resident().map(str::to_owned) else {
        return Err(Refusal::of(
            ErrorClass::NotFound,
            "this server was started for no vault; name one in the path",
        ));
    };
    check_assertion(&app, &headers, &id)?;
    let vault = VaultRoute::resident(&app, id, request.extensions());
    let Raw(body) = Raw::from_request(request, &app).await?;
    answer(&vault, &headers, &body).await
}

async fn answer(vault: &VaultRoute, headers: &HeaderMap, body: &[u8]) -> Answer {
    let version = headers.get(VERSION).map(|value| value.to_str().unwrap_or("\u{fffd}"));
    if let Some(refused) = refuse_version(version) {
        return Ok(shaped(refused));
    }
    let app = &vault.app;
    let posture = if app.serving.is_read_only() { Posture::ReadOnly } else { Posture::Writable };
    let server = Server::new(posture).with_audit_ceiling(app.options.audit_ceiling);
    let handle = vault.open().await?;
    Ok(shaped(carry_out(&handle, server, Message::read(body)).await?))
}

fn shaped(answer: HttpAnswer) -> Response {
    let status = StatusCode::from_u16(answer.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    match answer.body {
        Some(body) => (status, [(header::CONTENT_TYPE, "application/json")], body).into_response(),
        None => status.into_response(),
    }
}
