//! Schemas of what many parts of the surface share.

use undercroft_text::names::MAX_NAME_BYTES;
use utoipa::openapi::schema::{Object, ObjectBuilder, Type};

/// What a name may look like: something that is no control character, no `/` and no `\`.
pub(in crate::http) const NAME: &str = r"^[^\x00-\x1f\x7f-\x9f/\\]+$";

/// A name that becomes part of a path.
pub(in crate::http) fn named(pattern: &str) -> Object {
    ObjectBuilder::new()
        .schema_type(Type::String)
        .min_length(Some(1))
        .max_length(Some(MAX_NAME_BYTES))
        .pattern(Some(pattern))
        .build()
}
