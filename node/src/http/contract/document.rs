//! The document as a whole: who it is, how one shows who one is, what every answer has.

use utoipa::openapi::path::{Parameter, ParameterBuilder, ParameterIn, Paths};
use utoipa::openapi::schema::{ComponentsBuilder, ObjectBuilder, Type};
use utoipa::openapi::security::{ApiKey, ApiKeyValue, HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa::openapi::{InfoBuilder, License, OpenApi, OpenApiBuilder, Required, SecurityRequirement};

use super::draft::Schemas;
use super::refusals;

pub(super) const BEARER: &str = "bearer";
pub(super) const ASSERTION: &str = "assertion";
pub(super) const REQUEST_ID: &str = "X-Request-Id";
pub(super) const POSITION: &str = "X-Undercroft-Position";

const ABOUT: &str = "Vaults of what agents are told, word for word: encrypted, tamper-evident, found again by meaning \
and by word. Sizes of texts and names are in bytes of UTF-8; a `maxLength` counts characters and is the most that can \
fit. Bodies are at most 1048576 bytes, heads 32768 bytes and 64 lines. Unknown fields of bodies and queries are refused \
by name. What is marked `x-not-built` answers 501.";

/// Puts the document together.
pub(super) fn document(paths: Paths, schemas: Schemas) -> OpenApi {
    let info = InfoBuilder::new()
        .title("Undercroft")
        .version(env!("CARGO_PKG_VERSION"))
        .description(Some(ABOUT))
        .license(Some(License::new("MIT OR Apache-2.0")));
    let components = refusals::add_to(ComponentsBuilder::new())
        .schemas_from_iter(schemas)
        .parameter(REQUEST_ID, request_id())
        .header(REQUEST_ID, refusals::text("The request's own id, when it sent one that can stand in a log."))
        .header(
            POSITION,
            refusals::text(
                "`<incarnation>:<height>` of a vault that was opened: every acknowledged write is at or below it.",
            ),
        )
        .security_scheme(BEARER, bearer())
        .security_scheme(ASSERTION, assertion());
    OpenApiBuilder::new().info(info.build()).paths(paths).components(Some(components.build())).build()
}

/// Who may send an operation. An assertion is needed where the installation declares a secret for them.
pub(super) fn security(is_open: bool, is_about_a_vault: bool) -> Vec<SecurityRequirement> {
    let none: [&str; 0] = [];
    let bearer = SecurityRequirement::new(BEARER, none);
    match (is_open, is_about_a_vault) {
        (true, _) => Vec::new(),
        (false, false) => vec![bearer],
        (false, true) => vec![bearer.clone(), bearer.add(ASSERTION, none)],
    }
}

fn request_id() -> Parameter {
    let meaning = "Answered as it was sent when it is 1 to 64 of `A-Z a-z 0-9 - _ .`; otherwise the server numbers the \
                   request itself.";
    ParameterBuilder::new()
        .name(REQUEST_ID)
        .parameter_in(ParameterIn::Header)
        .required(Required::False)
        .description(Some(meaning))
        .schema(Some(ObjectBuilder::new().schema_type(Type::String)))
        .build()
}

fn bearer() -> SecurityScheme {
    let meaning = "The declared token. Without one, the server answers this machine alone and asks for none.";
    SecurityScheme::Http(HttpBuilder::new().scheme(HttpAuthScheme::Bearer).description(Some(meaning)).build())
}

fn assertion() -> SecurityScheme {
    let meaning = "`<unix seconds>:<hex of HMAC-SHA256(secret, \"<unix seconds>|<vault>\")>`, at most 120 seconds old or \
                   early; where a secret is declared.";
    SecurityScheme::ApiKey(ApiKey::Header(ApiKeyValue::with_description("X-Vault-Assertion", meaning)))
}
