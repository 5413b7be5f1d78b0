//! One operation while it is put together.

use std::collections::BTreeMap;

use axum::http::StatusCode;
use utoipa::openapi::extensions::ExtensionsBuilder;
use utoipa::openapi::path::{Operation, OperationBuilder, Parameter, ParameterBuilder, ParameterIn};
use utoipa::openapi::request_body::{RequestBody, RequestBodyBuilder};
use utoipa::openapi::schema::Schema;
use utoipa::openapi::{ContentBuilder, Ref, RefOr, Required, Response, ResponseBuilder};
use utoipa::{PartialSchema as _, ToSchema};

use super::document::{POSITION, REQUEST_ID, security};
use super::refusals::reference;

/// Extension that marks what is documented and answers 501: an operation, or a part of a body.
pub(in crate::http) const NOT_BUILT: &str = "x-not-built";

/// Schemas by name, as they were met.
pub(super) type Schemas = Vec<(String, RefOr<Schema>)>;

/// An operation in the making. Each argument and the answer of its handler add their part.
#[derive(Default)]
pub(in crate::http) struct Draft {
    parameters: Vec<Parameter>,
    body: Option<RequestBody>,
    responses: BTreeMap<u16, RefOr<Response>>,
    schemas: Schemas,
    is_open: bool,
    is_about_a_vault: bool,
    takes_key: bool,
    is_not_built: bool,
}

/// A finished operation and what goes with it.
pub(super) struct Drafted {
    pub(super) operation: Operation,
    pub(super) schemas: Schemas,
    /// Whether it takes an `Idempotency-Key`.
    pub(super) takes_key: bool,
    /// The fields of its query.
    pub(super) query: Vec<String>,
    /// Whether it reads a body.
    pub(super) takes_body: bool,
    /// Whether what it does not take is refused.
    pub(super) is_strict: bool,
}

impl Draft {
    /// It is answered to anyone and always.
    pub(in crate::http) fn is_open(&mut self) {
        self.is_open = true;
    }

    /// It is about one vault, and so may need an assertion and carries a position.
    pub(in crate::http) fn of_a_vault(&mut self) {
        self.is_about_a_vault = true;
    }

    pub(super) fn is_about_a_vault(&self) -> bool {
        self.is_about_a_vault
    }

    /// It takes an `Idempotency-Key`.
    pub(in crate::http) fn takes_key(&mut self) {
        self.takes_key = true;
    }

    /// It answers 501.
    pub(super) fn is_not_built(&mut self) {
        self.is_not_built = true;
        self.refuses(StatusCode::NOT_IMPLEMENTED);
    }

    /// A parameter in the path, a header or the query. Whatever can be wrong can be refused.
    pub(in crate::http) fn parameter(&mut self, parameter: Parameter) {
        self.parameters.push(parameter);
        self.refuses(StatusCode::BAD_REQUEST);
    }

    /// A parameter of the path.
    pub(in crate::http) fn segment(&mut self, name: &str, meaning: &str, schema: impl Into<RefOr<Schema>>) {
        let parameter = ParameterBuilder::new().name(name).parameter_in(ParameterIn::Path);
        let parameter = parameter.required(Required::True).description(Some(meaning)).schema(Some(schema));
        self.parameter(parameter.build());
    }

    /// Segments of the path that no argument reads are parameters all the same.
    pub(super) fn names_every_segment(&mut self, path: &str) {
        let names = path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'));
        for name in names {
            if !self.parameters.iter().any(|known| known.name == name) {
                self.segment(name, "A name of the feature that is not built.", String::schema());
            }
        }
    }

    /// A header that may be sent.
    pub(in crate::http) fn header(&mut self, name: &str, meaning: &str, schema: impl Into<RefOr<Schema>>) {
        let parameter = ParameterBuilder::new().name(name).parameter_in(ParameterIn::Header);
        let parameter = parameter.required(Required::False).description(Some(meaning)).schema(Some(schema));
        self.parameter(parameter.build());
    }

    /// A JSON body.
    pub(in crate::http) fn body<T: ToSchema>(&mut self, required: Required) {
        let content = ContentBuilder::new().schema(Some(self.schema::<T>())).build();
        let body = RequestBodyBuilder::new().content("application/json", content).required(Some(required));
        self.body = Some(body.build());
        for status in [
            StatusCode::BAD_REQUEST,
            StatusCode::REQUEST_TIMEOUT,
            StatusCode::PAYLOAD_TOO_LARGE,
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
        ] {
            self.refuses(status);
        }
        if self.has_unbuilt_parts() {
            self.refuses(StatusCode::NOT_IMPLEMENTED);
        }
    }

    /// A JSON answer.
    pub(in crate::http) fn answers<T: ToSchema>(&mut self, status: StatusCode, meaning: &str) {
        let content = ContentBuilder::new().schema(Some(self.schema::<T>())).build();
        let response = ResponseBuilder::new().description(meaning).content("application/json", content);
        self.respond(status, response);
    }

    /// An answer that is text of this media type.
    pub(in crate::http) fn answers_text(&mut self, media_type: &str, meaning: &str) {
        let content = ContentBuilder::new().schema(Some(String::schema())).build();
        let response = ResponseBuilder::new().description(meaning).content(media_type, content);
        self.respond(StatusCode::OK, response);
    }

    /// An answer without a body.
    pub(in crate::http) fn answers_nothing(&mut self, status: StatusCode, meaning: &str) {
        self.respond(status, ResponseBuilder::new().description(meaning));
    }

    /// A refusal of the shape that this status always has.
    pub(in crate::http) fn refuses(&mut self, status: StatusCode) {
        self.responses.entry(status.as_u16()).or_insert_with(|| RefOr::Ref(reference(status)));
    }

    fn respond(&mut self, status: StatusCode, response: ResponseBuilder) {
        let mut response =
            response.header_ref(REQUEST_ID, Ref::new(format!("#/components/headers/{REQUEST_ID}")));
        if self.is_about_a_vault {
            response = response.header_ref(POSITION, Ref::new(format!("#/components/headers/{POSITION}")));
        }
        self.responses.insert(status.as_u16(), RefOr::T(response.build()));
    }

    /// A reference to the schema of `T`, which is kept for the document.
    fn schema<T: ToSchema>(&mut self) -> Ref {
        let name = T::name().into_owned();
        T::schemas(&mut self.schemas);
        self.schemas.push((name.clone(), T::schema()));
        Ref::from_schema_name(name)
    }

    fn has_unbuilt_parts(&self) -> bool {
        self.schemas.iter().any(|(_, schema)| {
            // A schema that does not serialise would be no schema.
            serde_json::to_string(schema).is_ok_and(|text| text.contains(NOT_BUILT))
        })
    }

    /// The operation, with what every one has.
    pub(super) fn finish(mut self, id: String, tag: &str, summary: &str) -> Drafted {
        let is_strict = !self.is_open && !self.is_not_built;
        if is_strict {
            // A field of the query or a body that it does not take.
            self.refuses(StatusCode::BAD_REQUEST);
        }
        let of_query = self.parameters.iter().filter(|one| matches!(one.parameter_in, ParameterIn::Query));
        let query = of_query.map(|one| one.name.clone()).collect();
        let takes_body = self.body.is_some();
        if !self.is_open {
            for status in [
                StatusCode::UNAUTHORIZED,
                StatusCode::FORBIDDEN,
                StatusCode::INTERNAL_SERVER_ERROR,
                StatusCode::SERVICE_UNAVAILABLE,
            ] {
                self.refuses(status);
            }
        }
        let mut operation = OperationBuilder::new()
            .operation_id(Some(id))
            .tag(tag)
            .summary(Some(summary))
            .request_body(self.body)
            .securities(Some(security(self.is_open, self.is_about_a_vault)));
        for parameter in self.parameters {
            operation = operation.parameter(parameter);
        }
        operation = operation.parameter_ref(Ref::new(format!("#/components/parameters/{REQUEST_ID}")));
        for (status, response) in self.responses {
            operation = operation.response(status.to_string(), response);
        }
        if self.is_not_built {
            operation = operation.extensions(Some(ExtensionsBuilder::new().add(NOT_BUILT, true).build()));
        }
        Drafted {
            operation: operation.build(),
            schemas: self.schemas,
            takes_key: self.takes_key,
            query,
            takes_body,
            is_strict,
        }
    }
}
