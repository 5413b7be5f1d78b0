//! The agent protocol over HTTP: one message a `POST`, for the vault of the path or, at `/mcp`, for the one that the server
//! was started with. What a message means is decided in `crate::mcp`.

use axum::body::Bytes;
use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::http::request::Parts;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::Value;
use undercroft_palace::ErrorClass;
use utoipa::openapi::schema::{AdditionalProperties, ObjectBuilder, OneOfBuilder, Schema, SchemaType, Type};
use utoipa::openapi::{RefOr, Required};
use utoipa::{PartialSchema, ToSchema};

use super::app::App;
use super::auth::check_assertion;
use super::body::collect;
use super::contract::{Answers, Asks, Draft};
use super::errors::{Answer, Refusal};
use super::vault_route::VaultRoute;
use crate::mcp::http::{HttpAnswer, carry_out, refuse_version};
use crate::mcp::{Message, Posture, Server, VERSIONS};

const VERSION: &str = "mcp-protocol-version";

/// A message as it came, unless it came in a version that is not spoken.
pub(super) enum Spoken {
    Raw(Bytes),
    Unknown(HttpAnswer),
}

/// The vault that the server was started with.
pub(super) struct Resident(VaultRoute);

/// What the protocol answers.
pub(super) struct Said(HttpAnswer);

/// One message of the agent protocol: JSON-RPC 2.0, no batch. A shape of the document only; `crate::mcp` reads it.
struct AgentMessage;

impl PartialSchema for AgentMessage {
    fn schema() -> RefOr<Schema> {
        let text = || ObjectBuilder::new().schema_type(Type::String);
        let whole =
            ObjectBuilder::new().schema_type(Type::Integer).minimum(Some(i64::MIN)).maximum(Some(u64::MAX));
        ObjectBuilder::new()
            .schema_type(Type::Object)
            .description(Some(
                "One message of JSON-RPC 2.0; without an id it is a notification and is not answered.",
            ))
            .property("jsonrpc", text().enum_values(Some(["2.0"])))
            .property("method", text())
            .property("id", OneOfBuilder::new().item(text()).item(whole))
            .property(
                "params",
                ObjectBuilder::new().schema_type(SchemaType::Array(vec![Type::Object, Type::Null])),
            )
            .required("jsonrpc")
            .required("method")
            .additional_properties(Some(AdditionalProperties::FreeForm(false)))
            .into()
    }
}

impl ToSchema for AgentMessage {}

impl FromRequest<App> for Spoken {
    type Rejection = Refusal;

    async fn from_request(request: Request, app: &App) -> Result<Self, Refusal> {
        let version = request.headers().get(VERSION).map(|value| value.to_str().unwrap_or("\u{fffd}"));
        if let Some(refused) = refuse_version(version) {
            return Ok(Self::Unknown(refused));
        }
        collect(request, app).await.map(Self::Raw)
    }
}

impl FromRequestParts<App> for Resident {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Refusal> {
        let Some(id) = app.serving.resident().map(str::to_owned) else {
            return Err(Refusal::of(
                ErrorClass::NotFound,
                "this server was started for no vault; name one in the path",
            ));
        };
        check_assertion(app, &parts.headers, &id)?;
        VaultRoute::asserted(app, id, parts).map(Self)
    }
}

/// `POST /v1/vaults/{id}/mcp`.
pub(super) async fn of_vault(vault: VaultRoute, message: Spoken) -> Answer<Said> {
    answer(&vault, message).await
}

/// `POST /mcp`.
pub(super) async fn of_resident(Resident(vault): Resident, message: Spoken) -> Answer<Said> {
    answer(&vault, message).await
}

async fn answer(vault: &VaultRoute, message: Spoken) -> Answer<Said> {
    let body = match message {
        Spoken::Raw(body) => body,
        Spoken::Unknown(refused) => return Ok(Said(refused)),
    };
    let app = &vault.app;
    let posture = if app.serving.is_read_only() { Posture::ReadOnly } else { Posture::Writable };
    let server = Server::new(posture).with_audit_ceiling(app.options.audit_ceiling);
    let message = Message::read(&body);
    let (place, handle) = match message.is_long() {
        true => vault.open_for_long().await.map(|(place, handle)| (Some(place), handle))?,
        false => (None, vault.open().await?),
    };
    Ok(Said(carry_out(&handle, place, server, message).await?))
}

impl IntoResponse for Said {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.0.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        match self.0.body {
            Some(body) => (status, [(header::CONTENT_TYPE, "application/json")], body).into_response(),
            None => status.into_response(),
        }
    }
}

impl Asks for Spoken {
    fn ask(draft: &mut Draft) {
        let versions = ObjectBuilder::new().schema_type(Type::String).enum_values(Some(VERSIONS));
        draft.header("MCP-Protocol-Version", "The version that was agreed on.", versions);
        draft.body::<AgentMessage>(Required::True);
    }
}

impl Asks for Resident {
    fn ask(draft: &mut Draft) {
        draft.of_a_vault();
    }
}

impl Answers for Said {
    fn answer(draft: &mut Draft) {
        draft.answers::<Value>(StatusCode::OK, "The reply to a request, an error of the protocol included.");
        draft.answers_nothing(StatusCode::ACCEPTED, "A notification or a reply of the client was taken.");
        draft.answers::<Value>(StatusCode::BAD_REQUEST, "A refusal, or the reply to what is no message.");
    }
}
