//! The two shapes of a refusal.

use serde::{Serialize, Serializer};
use undercroft_palace::ErrorClass;
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{ObjectBuilder, Schema, Type};
use utoipa::{PartialSchema, ToSchema};

/// A refusal that the engine, or a check of the same kind, decided.
#[derive(Debug, Serialize, ToSchema)]
pub struct Refused {
    /// What is wrong and what to do about it.
    pub error: String,
    /// What clients decide on.
    pub class: Class,
}

/// A refusal that the surface decided: it has no class.
#[derive(Debug, Serialize, ToSchema)]
pub struct RefusedBySurface {
    /// What is wrong and what to do about it.
    pub error: String,
}

/// The class of an error.
#[derive(Debug, Clone, Copy)]
pub struct Class(pub ErrorClass);

impl Serialize for Class {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0.as_str())
    }
}

impl PartialSchema for Class {
    fn schema() -> RefOr<Schema> {
        let words = ErrorClass::ALL.map(|class| class.as_str());
        ObjectBuilder::new()
            .schema_type(Type::String)
            .enum_values(Some(words))
            .description(Some("What clients decide on: 409 is a conflict, or an integrity finding."))
            .into()
    }
}

impl ToSchema for Class {}
