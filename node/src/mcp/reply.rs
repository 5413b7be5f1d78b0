//! What a tool answers: text that a model reads, and the same as an object that a program reads.

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::failure::Failure;

/// A tool's answer.
#[derive(Debug)]
pub(super) struct Reply {
    text: String,
    structured: Value,
    is_error: bool,
}

impl Reply {
    /// Text of its own, and an object beside it.
    pub(super) fn new(text: impl Into<String>, structured: &impl Serialize) -> Result<Self, Failure> {
        Ok(Self { text: text.into(), structured: serde_json::to_value(structured)?, is_error: false })
    }

    /// An object, which is also the text.
    pub(super) fn object(object: &impl Serialize) -> Result<Self, Failure> {
        Self::new(serde_json::to_string(object)?, object)
    }

    /// An array as the text; the object holds `structured` under `name`, because a structured result is an object.
    pub(super) fn list(
        text: &impl Serialize,
        name: &str,
        structured: &impl Serialize,
    ) -> Result<Self, Failure> {
        let mut object = Map::new();
        object.insert(name.to_owned(), serde_json::to_value(structured)?);
        Self::new(serde_json::to_string(text)?, &object)
    }

    /// The same answer, marked as one that the agent must not take for a success.
    pub(super) fn marked_as_error(mut self, is_error: bool) -> Self {
        self.is_error = is_error;
        self
    }

    /// The result of `tools/call`.
    pub(super) fn into_result(self) -> Value {
        json!({
            "content": [{ "type": "text", "text": self.text }],
            "structuredContent": self.structured,
            "isError": self.is_error,
        })
    }
}

/// The result of a call that failed.
pub(super) fn failed(failure: &Failure) -> Value {
    json!({
        "content": [{ "type": "text", "text": format!("error: {}", failure.for_agent()) }],
        "isError": true,
    })
}
