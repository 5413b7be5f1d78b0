//! `/v1/vaults`: make, list, delete.

use axum::Json;
use axum::extract::State;
use axum::http::HeaderMap;
use serde::Deserialize;
use undercroft_palace::Level;
use utoipa::ToSchema;
use utoipa::openapi::extensions::ExtensionsBuilder;
use utoipa::openapi::schema::{Object, ObjectBuilder, OneOfBuilder, Schema, SchemaType, Type};

use super::app::App;
use super::auth::check_assertion;
use super::body::Body;
use super::contract::{Created, NOT_BUILT, named};
use super::errors::{Answer, Refusal};
use super::vault_route::{VAULT_NAME, VaultRoute, check_spelling};
use crate::reply::{VaultCreated, VaultDeleted, VaultList};

/// A vault to be made.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct NewVault {
    /// Its name.
    #[schema(schema_with = vault_name)]
    id: String,
    /// Whether what it holds is sealed, which it is when absent, or readable and tagged.
    #[schema(schema_with = levels, required = false)]
    level: Option<String>,
    /// Who makes its vectors; `hash` when absent.
    #[schema(schema_with = embedders, required = false)]
    embedder: Option<String>,
}

pub(super) async fn create(
    State(app): State<App>,
    headers: HeaderMap,
    Body(new): Body<NewVault>,
) -> Answer<Created<VaultCreated>> {
    check_assertion(&app, &headers, &new.id)?;
    check_spelling(&app, &new.id)?;
    let level = level(new.level.as_deref())?;
    check_embedder(new.embedder.as_deref())?;
    let handle = app.serving.create(&new.id, level).await?;
    Ok(Created(VaultCreated::of(handle.name().to_owned(), level)))
}

pub(super) async fn list(State(app): State<App>) -> Answer<Json<VaultList>> {
    if app.options.assertions.is_some() {
        return Err(Refusal::denied(
            "the list of vaults is not given where each vault has assertions of its own",
        ));
    }
    Ok(Json(VaultList { vaults: app.serving.vaults().await? }))
}

pub(super) async fn delete(vault: VaultRoute) -> Answer<Json<VaultDeleted>> {
    let kept = vault.app.serving.delete(&vault.id).await?;
    Ok(Json(VaultDeleted::of(vault.id).keeping(kept)))
}

fn level(text: Option<&str>) -> Answer<Level> {
    match text {
        None | Some("sealed") => Ok(Level::Sealed),
        Some("hmac-only" | "hmac_only") => Ok(Level::HmacOnly),
        Some(_) => Err(Refusal::invalid("invalid level: use sealed or hmac-only")),
    }
}

fn check_embedder(text: Option<&str>) -> Answer<()> {
    match text {
        None | Some("hash") => Ok(()),
        Some(other) if other.starts_with("external:") => Err(Refusal::not_implemented("embedder external")),
        Some(_) => Err(Refusal::invalid("invalid embedder: use hash")),
    }
}

fn vault_name() -> Object {
    named(VAULT_NAME)
}

fn levels() -> Object {
    let words = [Some("sealed"), Some("hmac-only"), Some("hmac_only"), None].map(serde_json::Value::from);
    let either = SchemaType::Array(vec![Type::String, Type::Null]);
    ObjectBuilder::new().schema_type(either).enum_values(Some(words)).build()
}

fn embedders() -> Schema {
    let words = [Some("hash"), None].map(serde_json::Value::from);
    let either = SchemaType::Array(vec![Type::String, Type::Null]);
    let external = ObjectBuilder::new()
        .schema_type(Type::String)
        .pattern(Some("^external:"))
        .description(Some("`external:<name>@<dimension>`, whose vectors come with each text."))
        .extensions(Some(ExtensionsBuilder::new().add(NOT_BUILT, true).build()));
    OneOfBuilder::new()
        .item(ObjectBuilder::new().schema_type(either).enum_values(Some(words)))
        .item(external)
        .build()
        .into()
}
