//! One row of the inventory, and how it is shown to a client.

use serde_json::{Map, Value, json};

use super::call::Run;
use crate::mcp::arguments::{Argument, Otherwise};

/// What a tool does to the vault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// Nothing.
    Read,
    /// Adds; what was there stays.
    Add,
    /// Replaces or removes. Doing it twice comes to the same.
    Destroy,
}

/// One tool.
pub struct Tool {
    /// Its name: at most 64 characters.
    pub name: &'static str,
    /// A few words for a person.
    pub title: &'static str,
    /// What it is for, for the model.
    pub description: &'static str,
    /// What it does to the vault.
    pub class: Class,
    /// What it takes.
    pub arguments: &'static [Argument],
    /// Names of arguments whose feature is not built: refused as such, and not shown.
    pub unbuilt: &'static [&'static str],
    /// Whether it takes as long as reading the whole vault.
    pub is_long: bool,
    pub(in crate::mcp) run: Run,
}

impl Tool {
    /// The entry of `tools/list`.
    #[must_use]
    pub fn entry(&self) -> Value {
        json!({
            "name": self.name,
            "title": self.title,
            "description": self.description,
            "inputSchema": self.schema(),
            "annotations": {
                "title": self.title,
                "readOnlyHint": self.class == Class::Read,
                "destructiveHint": self.class == Class::Destroy,
                "idempotentHint": self.class != Class::Add,
                "openWorldHint": false,
            },
        })
    }

    /// `required` is left out where nothing is: some clients take neither null nor an empty list.
    fn schema(&self) -> Value {
        let properties: Map<String, Value> =
            self.arguments.iter().map(|argument| (argument.name.to_owned(), argument.schema())).collect();
        let required: Vec<&str> = self
            .arguments
            .iter()
            .filter(|argument| argument.otherwise == Otherwise::Required)
            .map(|argument| argument.name)
            .collect();
        let mut schema = json!({ "type": "object", "properties": properties, "additionalProperties": false });
        if !required.is_empty() {
            schema["required"] = json!(required);
        }
        schema
    }
}

impl std::fmt::Debug for Tool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tool").field("name", &self.name).field("class", &self.class).finish_non_exhaustive()
    }
}
